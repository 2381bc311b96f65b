"""The paper's tables as Markdown and as pages: our figures next to the published ones."""

from html import escape
from pathlib import Path

from dgb.files.atomic import write_text
from dgb.measure.table import html_row, html_table, markdown_table
from dgb.report.html import html_page
from dgb.reproduce.published import Cell
from dgb.reproduce.results import Pairs, of_probe
from dgb.reproduce.summary import Measured, SummaryRow, summarise

TITLES = {
    "table2": "Table 2: accuracy on test nodes, in percent",
    "table3": "Table 3: pairs of augmented views, accuracy in percent",
    "table4": "Table 4: ablation, accuracy in percent",
    "parts": "The default recipe: what each of its parts brings, accuracy in percent",
}
NOTE = (
    "mean ± standard deviation over (n) independent trainings, test nodes of the public split; "
    "every choice was made on validation. Then the published figure (the paper's, else the one of "
    "docs/results.md), the difference, and = where it lies inside the 95 % t interval of our mean, "
    "≠ where it does not; ▼ where we fall short of it by more than two published deviations, or "
    "1.5 points where none is published. In parentheses: published, not measured by us."
)


BY_DGI = (
    "The same trainings by DGI's probe: the mean of 50 linear heads, 100 steps of Adam, rows as "
    "they are"
)


def write_table(table: str, pairs: Pairs, results: Path) -> str:
    """Write results/TABLE.md and results/TABLE.html from lines; return the Markdown."""
    rows = summarise(table, of_probe(pairs, is_dgi=False))
    dgi = of_probe(pairs, is_dgi=True)
    again = [row for row in summarise(table, dgi) if row.measured] if dgi else []
    text = f"# {TITLES[table]}\n\n{NOTE}\n\n{_markdown(rows)}\n"
    body = f'<p class="note">{escape(NOTE)}</p>\n{_html_table(rows)}'
    if again:
        text += f"\n{BY_DGI}:\n\n{_markdown(again)}\n"
        body += f"\n<h2>{escape(BY_DGI)}</h2>\n{_html_table(again)}"
    write_text(results / f"{table}.md", text)
    write_text(results / f"{table}.html", html_page(TITLES[table], body))
    return text


def _datasets(rows: list[SummaryRow]) -> list[str]:
    return list(dict.fromkeys(d for row in rows for d in (*row.paper, *row.measured)))


def _markdown(rows: list[SummaryRow]) -> str:
    datasets = _datasets(rows)
    cells = [(row.title, *(_text(row, dataset) for dataset in datasets)) for row in rows]
    return markdown_table(_head(datasets), cells, is_narrow=True)


def _html_table(rows: list[SummaryRow]) -> str:
    datasets = _datasets(rows)
    made = [html_row((escape(row.title), *(_html(row, d) for d in datasets))) for row in rows]
    return html_table(_head(datasets), made)


def _head(datasets: list[str]) -> tuple[str, ...]:
    return "", *(dataset.replace("_", " ").capitalize() for dataset in datasets)


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
