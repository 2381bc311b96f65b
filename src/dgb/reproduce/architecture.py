"""Figure 1: how DGB learns, drawn on a small graph whose diffusion is computed, not invented."""

from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.reproduce.figures import plotting, save

WIDTH, HEIGHT = 1000, 520
INK, GREY, LINE, WHITE = "#1f2933", "#5f6b7a", "#9aa5b1", "#ffffff"
BLUE, ORANGE, GREEN = "#0072b2", "#b85400", "#00795a"
PALE_BLUE, PALE_ORANGE = "#eaf3fa", "#fcf1e7"
Point = tuple[float, float]
Style = dict[str, Any]

# Seven nodes with three features each, and what the two views keep of them.
PLACES = np.array([(4, 96), (48, 128), (96, 112), (54, 66), (112, 50), (6, 18), (74, 4)])
BARS = np.array([(-29, -6), (-9, 10), (10, -6), (-29, -6), (10, -6), (-29, -6), (10, -6)])
EDGES = ((0, 1), (0, 3), (1, 3), (1, 2), (2, 4), (3, 5), (3, 6), (4, 6))
FEATURES = np.array([[5, 2, 3, 5, 2, 5, 3], [2, 5, 4, 4, 3, 4, 5], [3, 3, 5, 2, 4, 2, 4]]).T
KEEP_ALL = np.ones((7, 3), bool)
NFD = np.array([[1, 0, 1, 1, 0, 1, 0], [1, 1, 0, 0, 1, 1, 1], [0, 1, 1, 1, 0, 1, 1]], bool).T
ND = np.repeat(np.arange(7) != 3, 3).reshape(7, 3)
ALPHA, FAINT = 0.2, 0.42


def draw_architecture(path_stem: Path) -> list[Path]:
    """Draw views, online and target network, loss and moving average; return PNG and SVG."""
    with plotting() as figure_class:
        figure = figure_class(figsize=(WIDTH / 100, HEIGHT / 100))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
        axes.set_axis_off()
        for draw in (_draw_views, _draw_online, _draw_target, _draw_loss, _draw_updates):
            draw(axes)
        return save(figure, path_stem)


def _draw_views(axes: Any) -> None:
    _text(axes, (92, 368), "graph", fontweight="bold")
    _graph(axes, (34, 194), KEEP_ALL, _adjacency())
    _text(axes, (92, 163), "features $X$, adjacency $A$", GREY, fontsize=8.5)
    _view(axes, 290, ("view 1", "nfd + adj", "some features dropped"), NFD, _adjacency())
    _view(axes, 14, ("view 2", "nd + diff", "node dropped, edges diffused"), ND, _diffusion())
    _arrow(axes, (170, 314), (193, 346))
    _arrow(axes, (170, 204), (193, 172))
    _arrow(axes, (258, 226), (258, 288), GREY, arrowstyle="<|-|>")
    _text(axes, (268, 257), r"swapped for $\tilde{L}$", GREY, fontsize=9, ha="left")


def _view(axes: Any, y: float, words: tuple[str, str, str], keep: Array, edges: Array) -> None:
    _box(axes, (195, y, 200, 210), WHITE, LINE)
    _text(axes, (207, y + 194), words[0], ha="left", fontweight="bold")
    _text(axes, (383, y + 194), words[1], GREY, fontsize=9, ha="right")
    _graph(axes, (232, y + 37), keep, edges)
    _text(axes, (295, y + 15), words[2], GREY, fontsize=8.5)


def _draw_online(axes: Any) -> None:
    _box(axes, (425, 316, 400, 150), PALE_BLUE, PALE_BLUE)
    _text(axes, (811, 449), r"online network $\theta$", BLUE, ha="right", fontweight="bold")
    _box(axes, (441, 345, 100, 70), GREEN, GREEN)
    _part(axes, (491, 380), "encoder", r"GCN$_\theta$", WHITE)
    for x, name in ((575, "projector"), (709, "predictor")):
        _box(axes, (x, 345, 100, 70), WHITE, BLUE)
        _part(axes, (x + 50, 380), name, r"MLP$_\theta$", BLUE)
    _arrow(axes, (397, 380), (439, 380))
    _flow(axes, (543, 380), (573, 380), "$h$")
    _flow(axes, (677, 380), (707, 380), "$z$")
    _arrow(axes, (491, 417), (491, 484), GREEN)
    kept = r"kept after training:  $H = \mathrm{GCN}_\theta(X, A)$"
    _text(axes, (441, 498), kept, GREEN, ha="left", fontweight="bold")
    _text(axes, (985, 498), "the rest only serves to train it", GREY, 8.5, ha="right")


def _draw_target(axes: Any) -> None:
    _box(axes, (425, 54, 400, 150), PALE_ORANGE, PALE_ORANGE)
    _text(axes, (811, 71), r"target network $\xi$", ORANGE, ha="right", fontweight="bold")
    for x, name, part in ((441, "encoder", "GCN"), (575, "projector", "MLP")):
        _box(axes, (x, 105, 100, 70), WHITE, ORANGE)
        _part(axes, (x + 50, 140), name, rf"{part}$_\xi$", ORANGE)
    _arrow(axes, (397, 140), (439, 140))
    _flow(axes, (543, 140), (573, 140), "$h'$")


def _draw_loss(axes: Any) -> None:
    _box(axes, (849, 218, 136, 84), WHITE, INK)
    _text(axes, (917, 285), "loss $L$", fontweight="bold")
    _text(axes, (917, 261), r"$\|\,\bar{q}(z) - \bar{z}'\,\|^2$", fontsize=12)
    _text(axes, (917, 234), r"minimised: $L + \tilde{L}$", GREY, fontsize=9)
    _arrow(axes, (811, 380), (917, 304), bend=True)
    _text(axes, (868, 392), "$q(z)$", fontsize=11)
    _arrow(axes, (677, 140), (917, 216), bend=True)
    _text(axes, (691, 152), "$z'$", fontsize=11)
    for x in (755, 762):
        axes.plot([x - 4, x + 4], [130, 150], color=INK, linewidth=1.6)
    _text(axes, (759, 164), "stop-gradient", GREY, fontsize=8.5)


def _draw_updates(axes: Any) -> None:
    _arrow(axes, (491, 314), (491, 206), ORANGE, linestyle=(0, (4, 2)), linewidth=2)
    _text(axes, (505, 270), r"$\xi \leftarrow p\,\xi + (1 - p)\,\theta$", ORANGE, 12, ha="left")
    _text(axes, (505, 248), "moving average, each epoch", GREY, fontsize=8.5, ha="left")
    _arrow(axes, (847, 260), (759, 314), BLUE, bend=True, linestyle=(0, (4, 2)), linewidth=2)
    _text(axes, (803, 248), "gradient", BLUE, fontsize=8.5)


def _adjacency() -> Array:
    dense = np.zeros((7, 7))
    for i, j in EDGES:
        dense[i, j] = dense[j, i] = 1
    return dense


def _diffusion() -> Array:
    """Return Eq. 6 of the drawn graph, its strongest edge weighing 1, its faint ones left out."""
    dense = _adjacency()
    scale = dense.sum(1) ** -0.5
    s = np.linalg.inv(np.eye(7) - (1 - ALPHA) * scale[:, None] * dense * scale)
    s /= np.triu(s, 1).max()
    return np.where(s > FAINT, s, 0)


def _graph(axes: Any, corner: Point, keep: Array, edges: Array) -> None:
    places = PLACES + corner
    for i, j in zip(*np.nonzero(np.triu(edges, 1)), strict=True):
        is_new = (i, j) not in EDGES
        style = {"color": ORANGE if is_new else LINE, "linewidth": 0.3 + 2 * edges[i, j]}
        axes.plot(*places[[i, j]].T, zorder=1, alpha=0.75, solid_capstyle="round", **style)
    for i, place in enumerate(places):
        _node(axes, place, keep[i].any())
        _bars(axes, place + BARS[i], FEATURES[i], keep[i])


def _node(axes: Any, place: Array, is_kept: bool) -> None:
    from matplotlib.patches import Circle

    style: Style = {"facecolor": "#c9d3de", "edgecolor": INK, "linewidth": 0.8, "zorder": 3}
    if not is_kept:
        style |= {"facecolor": WHITE, "linestyle": (0, (2, 1.5))}
    axes.add_patch(Circle((place[0], place[1]), 7, **style))


def _bars(axes: Any, corner: Array, features: Array, kept: Array) -> None:
    from matplotlib.patches import Rectangle

    for k in range(len(features)):
        fill, edge = (BLUE, WHITE) if kept[k] else (WHITE, LINE)
        style: Style = {"facecolor": fill, "edgecolor": edge, "linewidth": 0.6, "zorder": 2}
        axes.add_patch(Rectangle((corner[0] + 6.5 * k, corner[1]), 5.5, 3.4 * features[k], **style))


def _part(axes: Any, centre: Point, name: str, symbol: str, colour: str) -> None:
    _text(axes, (centre[0], centre[1] + 12), name, colour, fontweight="bold")
    _text(axes, (centre[0], centre[1] - 12), symbol, colour, fontsize=11)


def _flow(axes: Any, start: Point, end: Point, symbol: str) -> None:
    _arrow(axes, start, end)
    _text(axes, ((start[0] + end[0]) / 2 - 2, start[1] + 13), symbol, fontsize=11)


def _text(
    axes: Any, place: Point, words: str, colour: str = INK, fontsize: float = 10, **style: Any
) -> None:
    style = {"ha": "center", "va": "center", "zorder": 5} | style
    axes.text(*place, words, color=colour, fontsize=fontsize, **style)


def _box(axes: Any, bounds: tuple[float, float, float, float], fill: str, edge: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    x, y, width, height = bounds
    style: Style = {"boxstyle": "round,pad=0,rounding_size=9", "linewidth": 1.2, "zorder": 0}
    style |= {"facecolor": fill, "edgecolor": edge}
    axes.add_patch(FancyBboxPatch((x, y), width, height, **style))


def _arrow(
    axes: Any, start: Point, end: Point, colour: str = INK, *, bend: bool = False, **style: Any
) -> None:
    from matplotlib.patches import FancyArrowPatch

    # A bent arrow leaves level and arrives upright.
    path = "angle,angleA=0,angleB=90,rad=8" if bend else "arc3"
    line: Style = {"color": colour, "linewidth": 1.4, "zorder": 4, "shrinkA": 0, "shrinkB": 0}
    line |= {"connectionstyle": path, "arrowstyle": "-|>", "mutation_scale": 11}
    axes.add_patch(FancyArrowPatch(start, end, **(line | style)))
