"""The tables as Markdown and as pages: our figures next to the published ones."""

from html import escape
from pathlib import Path
from typing import NamedTuple

from dgb.files.atomic import write_text
from dgb.measure.job import Line
from dgb.measure.table import html_row, html_table, markdown_table, percent
from dgb.report.html import html_page
from dgb.reproduce.published import Cell, Published, published_on, published_rows
from dgb.reproduce.results import Pairs, of_probe
from dgb.reproduce.summary import Measured, SummaryRow, summarise
from dgb.reproduce.typed_plan import DATASETS, ROWS
from dgb.reproduce.typed_plan import TABLE as HETERO

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
    return "", *(dataset.capitalize() for dataset in datasets)


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


HETERO_TITLE = "Heterogeneous graphs: classes of the target nodes, in percent"
HETERO_NOTE = (
    "Mean ± standard deviation over independent trainings, each scored by the mean of 50 linear "
    "probes, as HeCo defines them, on the data set's own splits (20, 40 and 60 labels a class in "
    "HeCo's); every choice was made on validation nodes. HeCo's three splits overlap: "
    "docs/results.md says what follows. NMI and ARI are of k-means on all target nodes. In "
    "parentheses: published, not measured by us."
)
MEASURES = {"macro_f1": "Macro-F1", "micro_f1": "Micro-F1", "auc": "AUC"}
CLUSTERED = {"nmi": "NMI", "ari": "ARI"}
NOTHING = "–"


class Grid(NamedTuple):
    """The table of one data set, as text."""

    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]


def write_hetero_table(pairs: Pairs, results: Path) -> str:
    """Write results/hetero.md and results/hetero.html; return the Markdown."""
    cells: dict[str, dict[str, list[Line]]] = {}
    for job, line in pairs:
        cells.setdefault(job.dataset, {}).setdefault(job.method, []).append(line)
    known = [d for d in DATASETS if d in cells or published_on(d)]
    names = [*known, *(d for d in cells if d not in known)]
    grids = [make_grid(name, cells.get(name, {})) for name in names]
    text = _grids_markdown(grids)
    write_text(results / f"{HETERO}.md", text)
    write_text(results / f"{HETERO}.html", _grids_page(grids))
    return text


def make_grid(dataset: str, cells: dict[str, list[Line]]) -> Grid:
    """Return our rows of a data set, then the published ones; columns are by measure and split."""
    published = published_on(dataset)
    splits = _splits(cells, published)
    head = [f"{title}, {split}" for title in MEASURES.values() for split in splits]
    rows = [(ROWS[row], *_our_cells(cells[row], splits)) for row in ROWS if row in cells]
    rows += [(_published_title(row), *_published_cells(row, dataset, splits)) for row in published]
    title = dataset.upper() if len(dataset) < 5 else dataset.capitalize()
    return Grid(
        title if cells else f"{title} (not measured)",
        ("", *head, *CLUSTERED.values(), "trainings"),
        rows,
    )


def _splits(cells: dict[str, list[Line]], published: list[Published]) -> list[str]:
    """Return the names of the splits: those that were measured, else those published."""
    measured = [line["splits"] for lines in cells.values() for line in lines]
    figures = [figure for row in published for f in row.figures.values() for figure in f.values()]
    return list(dict.fromkeys(split for named in measured or figures for split in named))


def _our_cells(lines: list[Line], splits: list[str]) -> list[str]:
    scored = [
        _spread([line["splits"].get(split, {}).get(measure) for line in lines])
        for measure in MEASURES
        for split in splits
    ]
    clustered = [_spread([line[name] for line in lines]) for name in CLUSTERED]
    return [*scored, *clustered, str(len(lines))]


def _spread(values: list[float | None]) -> str:
    """Return mean ± std over trainings; the spread of a training's probes does not enter."""
    known = [value for value in values if value is not None]
    return percent(known, digits=2) if known and len(known) == len(values) else NOTHING


def _published_cells(row: Published, dataset: str, splits: list[str]) -> list[str]:
    figures = [row.figures[dataset].get(measure, {}).get(s) for measure in MEASURES for s in splits]
    cells = [NOTHING if figure is None else f"({figure:.2f})" for figure in figures]
    return [*cells, *(NOTHING for _ in CLUSTERED), NOTHING]


def _published_title(row: Published) -> str:
    return f"{row.title} ({row.note})" if row.note else row.title


def _sources() -> list[str]:
    return [f"{_published_title(row)}: {row.source}, {row.url}" for row in published_rows()]


def _grids_markdown(grids: list[Grid]) -> str:
    parts = [f"# {HETERO_TITLE}", HETERO_NOTE]
    for grid in grids:
        parts += [f"## {grid.title}", markdown_table(grid.head, grid.rows)]
    return "\n\n".join([*parts, "\n".join(f"- {line}" for line in _sources())]) + "\n"


def _grids_page(grids: list[Grid]) -> str:
    sources = "".join(f"<li>{escape(line)}</li>" for line in _sources())
    tables = [
        f"<h2>{escape(grid.title)}</h2>\n"
        + html_table(grid.head, [html_row(map(escape, row)) for row in grid.rows])
        for grid in grids
    ]
    note = f'<p class="note">{escape(HETERO_NOTE)}</p>\n'
    return html_page(HETERO_TITLE, f"{note}{chr(10).join(tables)}\n<ul>{sources}</ul>")
