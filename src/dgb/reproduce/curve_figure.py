"""The curves as small multiples: a panel a row, a line a data set and probe, and as a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dgb.drawing import PALETTE, plotting, save
from dgb.files.atomic import write_text
from dgb.measure.job import Line
from dgb.pages import markdown_table, spread
from dgb.reproduce.curves import STEPS, curve_recipes
from dgb.reproduce.published import BEST, DATASETS, find_published, rows
from dgb.reproduce.render import OWN_TITLES

COLUMNS, PANEL = 6, (2.3, 2.1)  # panels a line, inches
PROBES = {"dgi": "DGI's probe", "solved": "solved probe"}
FIRST = 4  # where step 0 is drawn on an axis of logarithms
Curve = dict[int, list[float]]  # percent of every training, by steps


def curves_of(lines: Sequence[Line], measure: str) -> dict[tuple[str, str], Curve]:
    """Return what was measured, by row and data set."""
    curves: dict[tuple[str, str], Curve] = {}
    for line in lines:
        curve = curves.setdefault((line["method"], line["dataset"]), {})
        for steps, scores in line["scores"].items():
            curve.setdefault(int(steps), []).append(100 * scores[measure])
    return curves


def title_of(row: str) -> str:
    """Return a row's title in Table 3 or 4, or our own."""
    titles = {each.key: each.title for table in ("table3", "table4") for each in rows(table)}
    return titles.get(row) or OWN_TITLES.get(row, row)


def draw_curves(lines: Sequence[Line], path_stem: Path) -> list[Path]:
    """Draw all rows; return the PNG and the SVG written."""
    by_probe = {probe: curves_of(lines, probe) for probe in PROBES}
    keys = [row for row in curve_recipes("cora") if any(row == k for k, _ in by_probe["dgi"])]
    height = -(-len(keys) // COLUMNS)
    with plotting() as figure_class:
        figure = figure_class(figsize=(PANEL[0] * COLUMNS, PANEL[1] * height + 0.5))
        panels = figure.subplots(height, COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, row in zip(panels, keys, strict=False):
            _draw_row(axes, row, by_probe)
        for axes in panels[len(keys) :]:
            axes.set_visible(False)
        _draw_legend(figure)
        figure.tight_layout(rect=(0, 0.5 / (PANEL[1] * height + 0.5), 1, 1))
        return save(figure, path_stem)


def _draw_row(axes: Any, row: str, by_probe: dict[str, dict[tuple[str, str], Curve]]) -> None:
    for dataset, colour in zip(DATASETS, PALETTE, strict=False):
        for probe, style in zip(PROBES, ("-", ":"), strict=True):
            if curve := by_probe[probe].get((row, dataset)):
                steps = sorted(curve)
                means = [np.mean(curve[step]) for step in steps]
                axes.plot([max(s, FIRST) for s in steps], means, style, color=colour, linewidth=1.4)
        if published := _find_mean(row, dataset):
            axes.plot([1350], [published], "<", color=colour, markersize=4, clip_on=False)
    axes.set_xscale("log")
    axes.set(xlim=(FIRST, 1350), ylim=(25, 87))
    named = ["" if s == 600 else str(s) for s in STEPS]  # 600 and 1000 would touch
    axes.set_xticks([FIRST, *STEPS[1:]], named, fontsize=6)
    axes.set_xticks([], minor=True)
    axes.tick_params(axis="y", labelsize=7)
    axes.set_title(title_of(row).removeprefix(f"{title_of(BEST)}, "), fontsize=8)
    axes.grid(color="#e4e4e4", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _find_mean(row: str, dataset: str) -> float | None:
    for table in ("table3", "table4"):
        if row in {each.key for each in rows(table)}:
            cell = find_published(table, row, dataset)
            return None if cell is None else cell.mean
    return None


def _draw_legend(figure: Any) -> None:
    from matplotlib.lines import Line2D

    colours = [
        Line2D([], [], color=colour, label=dataset.capitalize())
        for dataset, colour in zip(DATASETS, PALETTE, strict=False)
    ]
    styles = [
        Line2D([], [], color="#404040", linestyle=style, label=f"{name}, validation")
        for name, style in zip(PROBES.values(), ("-", ":"), strict=True)
    ]
    paper = Line2D([], [], color="#404040", linestyle="", marker="<", label="the paper, test")
    handles = [*colours, *styles, paper]
    figure.legend(handles=handles, loc="lower center", ncols=6, frameon=False, fontsize=8)


def write_curves(lines: Sequence[Line], results: Path) -> str:
    """Write the table and the picture of all rows; return the table."""
    text = "\n\n".join(
        f"{dataset.capitalize()}, validation accuracy by {name}\n\n" + _table(lines, dataset, probe)
        for dataset in DATASETS
        if any(line["dataset"] == dataset for line in lines)
        for probe, name in {**PROBES, "resplit": "DGI's probe over resplits"}.items()
    )
    write_text(results / "curves.md", text + "\n")
    draw_curves(lines, results / "curves")
    return text


def _table(lines: Sequence[Line], dataset: str, measure: str) -> str:
    own = [line for line in lines if line["dataset"] == dataset]
    curves = {row: curve for (row, _), curve in curves_of(own, measure).items()}
    body = [
        [title_of(row), *(spread(curve[s]) for s in STEPS), str(len(curve[0]))]
        for row in curve_recipes(dataset)
        if (curve := curves.get(row))
    ]
    return markdown_table(["steps", *map(str, STEPS), "trainings"], body)
