"""Figures by matplotlib in the project's own style, and maps of nodes among them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.errors import DGBError
from dgb.files.atomic import whole_file

# Okabe and Ito's colours, which people with any colour vision tell apart; yellow comes last because
# it is faint on white.
PALETTE = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7"),
    *("#56b4e9", "#e69f00", "#3c3c3c", "#f0e442"),
)
UNLABELLED = "#d8d8d8"
# Nothing of the user's own settings, the date or the version: the same drawing is the same file.
STYLE = {"svg.hashsalt": "dgb", "font.size": 10, "mathtext.fontset": "dejavusans"}
METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
}
CATEGORIES = 20  # different numbers up to which they stand for classes


@contextmanager
def plotting() -> Iterator[Any]:
    """Give matplotlib's Figure under our own style, without a window or global figures."""
    try:
        from matplotlib import style
        from matplotlib.figure import Figure
    except ImportError:
        raise DGBError("drawing needs pip install 'deep-graph-bootstrapping[plot]'") from None
    with style.context(["default", STYLE]):
        yield Figure


def save(figure: Any, path_stem: Path) -> list[Path]:
    """Write a figure as <stem>.png and <stem>.svg, byte for byte the same each time."""
    path_stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [path_stem.with_name(f"{path_stem.name}.{form}") for form in METADATA]
    for path, (form, metadata) in zip(paths, METADATA.items(), strict=True):
        with whole_file(path) as part:
            figure.savefig(part, format=form, dpi=200, metadata=metadata)
    return paths


def draw_map(axes: Any, places: Array, values: Array | None) -> None:
    """Draw a point for every node, in colors by its number or its category."""
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_color("#c8c8c8")
    # Points become an image within an SVG: ten thousand shapes would be slow to show.
    style = {"s": 7, "linewidths": 0, "rasterized": True}
    if values is None:
        axes.scatter(*places.T, color=PALETTE[0], **style)
    elif values.dtype.kind == "f" or (
        values.dtype.kind in "iu" and len(np.unique(values)) > CATEGORIES
    ):
        points = axes.scatter(*places.T, c=values, cmap="viridis", plotnonfinite=False, **style)
        axes.figure.colorbar(points, ax=axes, shrink=0.6)
    else:
        _draw_categories(axes, places, values, style)


def _draw_categories(axes: Any, places: Array, values: Array, style: dict[str, Any]) -> None:
    """Draw the most frequent categories in colors, and under them the others in gray."""
    texts = np.array(["" if value is None else str(value) for value in values.tolist()])
    names, counts = np.unique(texts[texts != ""], return_counts=True)
    shown = names[np.argsort(-counts, kind="stable")][: len(PALETTE)]
    is_other = ~np.isin(texts, shown)
    if is_other.any():
        rest = "other" if len(names) > len(shown) else "unknown"
        axes.scatter(*places[is_other].T, color=UNLABELLED, label=rest, **style)
    for name, color in zip(sorted(shown.tolist()), PALETTE, strict=False):
        axes.scatter(*places[texts == name].T, color=color, label=name, **style)
    axes.legend(markerscale=2.5, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
