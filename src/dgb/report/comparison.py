"""A comparison on the page: a row a system, with a bar from 0 to the best."""

from html import escape

from dgb.measure.table import Row, Table


def comparison(table: Table) -> str:
    """Return a comparison's note, table and remarks as HTML."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.head)
    body = "\n".join(_row(row) for row in table.rows)
    remarks = "".join(f"<li>{escape(line)}</li>" for line in table.remarks)
    return (
        f'<p class="note">{escape(table.note)}</p>\n<div class="scroll"><table>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n"
        + (f"<ul>{remarks}</ul>\n" if remarks else "")
    )


def _row(row: Row) -> str:
    title, first, *others = (escape(cell) for cell in row.cells)
    bar = f'<div class="bar" style="width:{100 * row.share:.1f}%"></div>'
    cells = "".join(f"<td>{cell}</td>" for cell in others)
    kind = ' class="ours"' if row.key == "dgb" else ""
    return f'<tr{kind}><td>{title}</td><td class="with-bar">{first}{bar}</td>{cells}</tr>'
