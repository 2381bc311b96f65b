"""The growth of time and memory as a drawing, docs/growth.png, from results/bench-growth.json."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import growth
import records
from dgb.drawing import PALETTE, plotting, save
from fresh import Figures

STEM = records.ROOT / "docs" / "growth"
GREY = "#c8c8c8"


class Curve(NamedTuple):
    """A figure of the points, what it is called and how it is drawn."""

    key: str
    name: str
    colour: str
    marker: str


TIME = (
    Curve("load_s", "load", PALETTE[2], "s"),
    Curve("epoch_s", "one epoch", PALETTE[0], "o"),
    Curve("embed_s", "embed", PALETTE[1], "^"),
)
MEMORY = (
    Curve("above_mb", "peak, above imports", PALETTE[0], "o"),
    Curve("anonymous_above_mb", "anonymous, above imports", PALETTE[1], "^"),
)


def draw_growth(stem: Path = STEM) -> list[Path]:
    """Draw both panels and return the files written."""
    rows = [row for row in records.read("growth")["rows"] if "failed" not in row]
    with plotting() as figure_class:
        figure = figure_class(figsize=(8, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw(left, rows, TIME, "seconds")
        _draw(right, rows, MEMORY, "memory, MB")
        return save(figure, stem)


def _draw(axes: Any, rows: list[Figures], curves: tuple[Curve, ...], unit: str) -> None:
    for curve in curves:
        points = [row for row in rows if row.get(curve.key)]
        if not points:  # memory that this system does not tell
            continue
        sizes, figures = ([row[key] for row in points] for key in ("nodes", curve.key))
        style = {"color": curve.colour, "marker": curve.marker, "linestyle": ""}
        axes.plot(sizes, figures, **style, label=_label(curve, points))
        _draw_fit(axes, points, curve)
    axes.set(xscale="log", yscale="log", xlabel="nodes (ten edges each)")
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.set_title(unit, loc="left", fontsize=10, fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set_color(GREY)
    axes.grid(color="#ececec", linewidth=0.8)
    axes.legend(frameon=False, loc="upper left")


def _large(points: list[Figures]) -> list[Figures]:
    return [row for row in points if row["nodes"] >= growth.LARGE]


def _label(curve: Curve, points: list[Figures]) -> str:
    large = _large(points)
    if len(large) < 2:
        return curve.name
    return f"{curve.name}: n$^{{{growth.fit(large, curve.key)[0]:.2f}}}$"


def _draw_fit(axes: Any, points: list[Figures], curve: Curve) -> None:
    """Draw the power law of the large points as a line, dotted where it only goes on from them."""
    large = _large(points)
    if len(large) < 2:
        return
    slope, start = growth.fit(large, curve.key)
    for part, style in ((large, "-"), ([points[0], large[0]], ":")):
        sizes = np.array([part[0]["nodes"], part[-1]["nodes"]], float)
        axes.plot(sizes, np.exp(start) * sizes**slope, style, color=curve.colour, linewidth=1.2)


if __name__ == "__main__":
    print(*draw_growth(), sep="\n")
