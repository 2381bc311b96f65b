"""A comparison on the page: a row a system, with a bar from 0 to the best."""

from html import escape

from dgb.measure.comparison import Row, Table
from dgb.measure.table import html_row, html_table


def comparison(table: Table) -> str:
    """Return a comparison's note, table and remarks as HTML."""
    made = html_table(table.head, [_row(row) for row in table.rows], scope="col")
    remarks = "".join(f"<li>{escape(line)}</li>" for line in table.remarks)
    note = f'<p class="note">{escape(table.note)}</p>\n'
    return f"{note}{made}\n" + (f"<ul>{remarks}</ul>\n" if remarks else "")


def _row(row: Row) -> str:
    title, first, *others = (escape(cell) for cell in row.cells)
    bar = f'<div class="bar" style="width:{100 * row.share:.1f}%"></div>'
    barred = f'<td class="with-bar">{first}{bar}</td>'
    return html_row([title, barred, *others], is_ours=row.key == "dgb")
