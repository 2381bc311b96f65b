"""A table as Markdown and as a page: ours, the paper's, the difference, and whether it agrees."""

from html import escape
from pathlib import Path

from dgb.files.atomic import write_text
from dgb.report.html import html_page
from dgb.reproduce.published import Cell
from dgb.reproduce.summary import Measured, SummaryRow

TITLES = {
    "table2": "Table 2: accuracy on test nodes, in percent",
    "table3": "Table 3: pairs of augmented views, accuracy in percent",
    "table4": "Table 4: ablation, accuracy in percent",
    "plus": "DGB+: what each addition to the paper's method brings, accuracy in percent",
}
NOTE = (
    "mean ± standard deviation over (n) independent trainings, test nodes of the public split; "
    "every choice was made on validation. Then the published figure (the paper's, else the one of "
    "docs/results.md), the difference, and = where it lies inside the 95 % t interval of our mean, "
    "≠ where it does not; ▼ where we fall short of it by more than two published deviations, or "
    "1.5 points where none is published. In parentheses: published, not measured by us."
)


def write_table(table: str, rows: list[SummaryRow], results: Path) -> str:
    """Write results/TABLE.md and results/TABLE.html; return the Markdown."""
    datasets = list(dict.fromkeys(d for row in rows for d in (*row.paper, *row.measured)))
    text = markdown(table, rows, datasets)
    write_text(results / f"{table}.md", text)
    write_text(results / f"{table}.html", page(table, rows, datasets))
    return text


def markdown(table: str, rows: list[SummaryRow], datasets: list[str]) -> str:
    """Return a table in Markdown."""
    head = f"| |{'|'.join(f' {d.capitalize()} ' for d in datasets)}|\n|---|{'---|' * len(datasets)}"
    body = [
        f"| {row.title} | {' | '.join(_text(row, dataset) for dataset in datasets)} |"
        for row in rows
    ]
    return f"# {TITLES[table]}\n\n{NOTE}\n\n{head}\n" + "\n".join(body) + "\n"


def page(table: str, rows: list[SummaryRow], datasets: list[str]) -> str:
    """Return a table as a self-contained page."""
    head = "".join(f"<th>{escape(d.capitalize())}</th>" for d in datasets)
    body = "\n".join(
        f"<tr><td>{escape(row.title)}</td>"
        + "".join(f"<td>{_html(row, dataset)}</td>" for dataset in datasets)
        + "</tr>"
        for row in rows
    )
    return html_page(
        TITLES[table],
        f'<p class="note">{escape(NOTE)}</p>\n<div class="scroll"><table>'
        f"<thead><tr><th></th>{head}</tr></thead>"
        f"<tbody>\n{body}\n</tbody></table></div>",
    )


def _text(row: SummaryRow, dataset: str) -> str:
    cell, paper = row.measured.get(dataset), row.paper.get(dataset)
    if cell is None:
        return f"({_figure(paper)})" if paper else "–"
    return _ours(cell) + (f"; {_against(cell)}" if paper else "")


def _html(row: SummaryRow, dataset: str) -> str:
    cell, paper = row.measured.get(dataset), row.paper.get(dataset)
    if cell is None:
        return f'<span class="paper">({_figure(paper)})</span>' if paper else "–"
    mean = f"validation {sum(cell.validation) / len(cell.validation):.1f}"
    ours = f'<span title="{mean}">{_ours(cell)}</span>'
    if not paper:
        return ours
    kind = {True: "same", False: "other", None: ""}[cell.is_inside]
    return f'{ours}<br><span class="paper {kind}">{_against(cell)}</span>'


def _ours(cell: Measured) -> str:
    if len(cell.values) == 1:
        return f"{cell.mean:.1f} (1)"
    return f"{cell.mean:.1f} ± {cell.std:.1f} ({len(cell.values)})"


def _against(cell: Measured) -> str:
    sign = {True: " =", False: " ≠", None: ""}[cell.is_inside]
    short = " ▼" if cell.is_short else ""
    return f"published {_figure(cell.paper)}, {cell.difference:+.1f}{sign}{short}"


def _figure(cell: Cell | None) -> str:
    assert cell is not None
    return f"{cell.mean:.1f}" + (f" ± {cell.std:.1f}" if cell.std is not None else "")
