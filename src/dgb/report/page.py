"""The page of a run or of a comparison: files read once, and a section for each of them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from dgb.errors import DGBError
from dgb.files.atomic import write_text
from dgb.measure.compare import COMPARISON
from dgb.measure.comparison import Comparison, read_comparison
from dgb.pages import html_page, html_row, html_table, read_part, section
from dgb.recipe import Recipe
from dgb.report.curves import curves
from dgb.report.lists import lists_section
from dgb.report.map import pack_map
from dgb.report.numbers import confusion_section, numbers, paths_section, splits_section
from dgb.report.recipe import ABOUT, origin, recipe_section
from dgb.run.folder import EMBEDDINGS, RECIPE, SCORES, read_recipe
from dgb.run.map import MAP
from dgb.terminal import progress_bar
from dgb.train.monitor import METRICS, read_metrics


def comparison(table: Comparison) -> str:
    """Return a comparison's note, table and remarks as HTML."""
    # What rows are ordered by comes first: bars of another column would go up and down.
    first, rows = table.ordered_by, []
    places = [0, first, *(i for i in range(1, len(table.head)) if i != first)]
    for row in table.rows:
        title, ordering, *others = (escape(row.cells[i]) for i in places)
        bar = f'<div class="bar" style="width:{100 * row.share:.1f}%"></div>'
        barred = f'<td class="with-bar">{ordering}{bar}</td>'
        rows.append(html_row([title, barred, *others], is_ours=row.key == "dgb"))
    head = [table.head[i] + (" (rows in this order)" if i == first else "") for i in places]
    made = html_table(head, rows, scope="col")
    remarks = "".join(f"<li>{escape(line)}</li>" for line in table.remarks)
    note = f'<p class="note">{escape(table.note)}</p>\n'
    return f"{note}{made}\n" + (f"<ul>{remarks}</ul>\n" if remarks else "")


REPORT = "report.html"
SCRIPTS = ["data", "colours", "grid", "draw", "panel", "listen", "map", "start"]


@dataclass(frozen=True)
class Run:
    """What the files of a run folder hold; an unfinished run has neither scores nor a map."""

    folder: Path
    recipe: Recipe
    metrics: list[dict[str, Any]]
    scores: dict[str, Any]
    map: dict[str, Any] | None

    @property
    def has_lists(self) -> bool:
        """Whether `dgb links` and `dgb outliers` can write what they find into the folder."""
        return bool(self.scores) and (self.folder / EMBEDDINGS).exists()

    @property
    def graph(self) -> str:
        """The name of the graph."""
        return str(self.scores.get("graph") or Path(self.recipe.data.graph).stem or "graph")


def _read_scores(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        scores = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DGBError(f"{path} is damaged: {error}; train again") from error
    if not isinstance(scores, dict):
        raise DGBError(f"{path} is damaged: it holds no scores; train again")
    return scores


def run_page(run: Run, table: Comparison | None) -> str:
    """Return the page of a run, next to the systems of a comparison where there is one."""
    return html_page(
        f"DGB on {run.graph}",
        "".join(_sections(run, table)),
        facts=_facts(run),
        style=read_part("report.css"),
        script="".join(read_part(f"{name}.js") for name in SCRIPTS),
        data={"map": run.map},
    )


def _sections(run: Run, table: Comparison | None) -> Iterator[str]:
    missing = "It was made by a version of DGB that drew none: train again with the command below."
    if not run.scores:
        missing = "It is drawn when the run is finished."
        yield (
            f'<p class="card missing">This run is not finished: {len(run.metrics):,} of '
            f"{run.recipe.train.epochs:,} epochs are done. Resume it with <code>dgb train "
            "--resume</code> and its folder, then make this page again.</p>\n"
        )
    no_map = f'<p class="card missing">This run has no map (map.parquet). {missing}</p>'
    yield read_part("map.html") if run.map else section("map-title", "Map", no_map)
    with _reading(run.folder / SCORES):
        if run.scores:
            yield numbers(run.scores, len(run.metrics))
        yield paths_section(run.scores)
        yield splits_section(run.scores)
    with _reading(run.folder / METRICS):
        yield curves(run.metrics, run.recipe)
    with _reading(run.folder / SCORES):
        yield confusion_section(run.scores)
    if run.has_lists:
        yield lists_section(run.folder)
    if table:
        yield f"<section><h2>{escape(table.title)}</h2>{comparison(table)}</section>\n"
    yield recipe_section(run.recipe)
    yield origin(run.scores, run.recipe, run.graph)
    yield ABOUT


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Name the file that values come from which are not as they should be."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise DGBError(f"{path} is not as `dgb` writes it ({error!r}); train again") from error


def _facts(run: Run) -> str:
    nodes = [f"{run.map['nodes']:,} nodes"] if run.map else []
    views = f"views {run.recipe.view1.augment} and {run.recipe.view2.augment}"
    hashed = [f"recipe {run.scores['recipe']}"] if "recipe" in run.scores else []
    epochs = [f"{len(run.metrics):,} epochs"] if run.metrics else []  # of Python none are kept
    return " · ".join([*nodes, *epochs, views, *hashed, f"seed {run.recipe.train.seed}"])


def write_report(folder: Path, comparison: Path | None = None) -> Path:
    """Write report.html into a run folder or a comparison's; return its path.

    With `comparison`, the page of a run shows it next to the other systems measured there.
    """
    if not folder.is_dir():
        raise DGBError(f"{folder} is not a folder; give one that `dgb train` or `dgb compare` made")
    if (folder / RECIPE).exists():
        recipe, metrics = read_recipe(folder), read_metrics(folder)
        with progress_bar(None, "report", unit="map", total=1):
            shown = pack_map(folder / MAP)
        run = Run(folder, recipe, metrics, _read_scores(folder / SCORES), shown)
        table = read_comparison(comparison) if comparison else None
        if table and run.scores and table.graph_hash != run.scores.get("graph_hash"):
            raise DGBError(f"{comparison} compares systems on another graph than that of {folder}")
        write_text(folder / REPORT, run_page(run, table))
        return folder / REPORT
    if not (folder / COMPARISON).exists():
        raise DGBError(f"{folder} holds neither a run ({RECIPE}) nor a comparison ({COMPARISON})")
    if comparison:
        raise DGBError(f"{folder} is a comparison itself; give a run folder to set next to another")
    return write_comparison(folder, read_comparison(folder))


def write_comparison(folder: Path, table: Comparison) -> Path:
    """Write the page of a comparison whose table is known; return its path."""
    write_text(folder / REPORT, html_page(table.title, comparison(table)))
    return folder / REPORT
