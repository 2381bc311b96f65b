"""The heterogeneous table as Markdown and as a page: our figures, then the published ones."""

from html import escape
from pathlib import Path
from typing import NamedTuple

from dgb.files.atomic import write_text
from dgb.measure.job import Line
from dgb.measure.table import html_row, html_table, markdown_table, percent
from dgb.report.html import html_page
from dgb.reproduce.published import Published, published_on, published_rows
from dgb.reproduce.results import Pairs
from dgb.reproduce.typed_plan import DATASETS, ROWS
from dgb.reproduce.typed_plan import TABLE as HETERO

TITLE = "Heterogeneous graphs: classes of the target nodes, in percent"
NOTE = (
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
    text = _markdown(grids)
    write_text(results / f"{HETERO}.md", text)
    write_text(results / f"{HETERO}.html", _page(grids))
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


def _markdown(grids: list[Grid]) -> str:
    parts = [f"# {TITLE}", NOTE]
    for grid in grids:
        parts += [f"## {grid.title}", markdown_table(grid.head, grid.rows)]
    return "\n\n".join([*parts, "\n".join(f"- {line}" for line in _sources())]) + "\n"


def _page(grids: list[Grid]) -> str:
    sources = "".join(f"<li>{escape(line)}</li>" for line in _sources())
    tables = [
        f"<h2>{escape(grid.title)}</h2>\n"
        + html_table(grid.head, [html_row(map(escape, row)) for row in grid.rows])
        for grid in grids
    ]
    note = f'<p class="note">{escape(NOTE)}</p>\n'
    return html_page(TITLE, f"{note}{chr(10).join(tables)}\n<ul>{sources}</ul>")
