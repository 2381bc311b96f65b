"""The heterogeneous table as Markdown and as a page: our figures, then the published ones."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from dgb.measure.job import Line
from dgb.pages import (
    Part,
    html_row,
    html_table,
    make_list,
    make_note,
    markdown_table,
    percent,
)
from dgb.reproduce.render import write_page
from dgb.reproduce.results import Pairs
from dgb.reproduce.typed_plan import DATASETS, ROWS
from dgb.reproduce.typed_plan import TABLE as HETERO

TITLE = "Heterogeneous graphs: classes of the target nodes, in percent"
NOTE = (
    "Mean ± standard deviation over independent trainings, each scored by the mean of 50 linear "
    "probes, as HeCo defines them, on the data set's own splits (20, 40 and 60 labels a class in "
    "HeCo's); every choice was made on validation nodes. HeCo's three splits overlap: "
    "docs/heterogeneous.md says what follows. NMI and ARI are of k-means on all target nodes. In "
    "parentheses: published, not measured by us."
)
MEASURES = {"macro_f1": "Macro-F1", "micro_f1": "Micro-F1", "auc": "AUC"}
CLUSTERED = {"nmi": "NMI", "ari": "ARI"}
NOTHING = "–"
Figures = dict[str, dict[str, float]]  # percent by measure, such as macro_f1, then by split
ABOUT = ("title", "note", "source", "url")


@dataclass(frozen=True)
class Published:
    """A method's published figures by data set, and where they come from."""

    key: str
    title: str
    note: str
    source: str
    url: str
    figures: dict[str, Figures]


def write_hetero_table(pairs: Pairs, results: Path) -> str:
    """Write results/hetero.md and results/hetero.html; return the Markdown."""
    cells: dict[str, dict[str, list[Line]]] = {}
    for job, line in pairs:
        cells.setdefault(job.dataset, {}).setdefault(job.method, []).append(line)
    known = [d for d in DATASETS if d in cells or published_on(d)]
    names = [*known, *(d for d in cells if d not in known)]
    grids = [part for name in names for part in _grid(name, cells.get(name, {}))]
    sources = (f"{_published_title(row)}: {row.source}, {row.url}" for row in published_rows())
    return write_page(results / HETERO, TITLE, [make_note(NOTE), *grids, make_list(sources)])


def _grid(dataset: str, cells: dict[str, list[Line]]) -> list[Part]:
    """Return our rows of a data set, then the published ones; columns are by measure and split."""
    published = published_on(dataset)
    splits = _splits(cells, published)
    measures = [f"{title}, {split}" for title in MEASURES.values() for split in splits]
    head = ("", *measures, *CLUSTERED.values(), "trainings")
    rows = [(ROWS[row], *_our_cells(cells[row], splits)) for row in ROWS if row in cells]
    rows += [(_published_title(row), *_published_cells(row, dataset, splits)) for row in published]
    title = dataset.upper() if len(dataset) < 5 else dataset.capitalize()
    title = title if cells else f"{title} (not measured)"
    page = html_table(head, [html_row(map(escape, row)) for row in rows])
    heading = f"## {title}", f"<h2>{escape(title)}</h2>"
    return [heading, (markdown_table(head, rows), page)]


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


@cache
def published_rows() -> tuple[Published, ...]:
    """Return all published methods in the order of the file."""
    text = resources.files("dgb.reproduce").joinpath("published_hetero.toml").read_text("utf-8")
    return tuple(_published_row(key, values) for key, values in tomllib.loads(text).items())


def published_on(dataset: str) -> list[Published]:
    """Return the methods that have figures on a data set."""
    return [row for row in published_rows() if dataset in row.figures]


def _published_row(key: str, values: Mapping[str, Any]) -> Published:
    figures = {name: value for name, value in values.items() if name not in ABOUT}
    return Published(key, figures=figures, **{name: values[name] for name in ABOUT})
