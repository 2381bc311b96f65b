"""Figure 2: the representations of Cora in the plane, by the full method and its ablations."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dgb.arrays import Array
from dgb.cookbook import with_seed
from dgb.drawing import PALETTE, UNLABELLED, plotting, save
from dgb.errors import DGBError
from dgb.files.atomic import write_json
from dgb.measure.job import Place, load
from dgb.measure.measure import log_test_read
from dgb.measure.runner import in_parallel
from dgb.recipe import Recipe
from dgb.reproduce.published import table4_recipe
from dgb.reproduce.results import refuse_uncommitted
from dgb.run.machine import set_threads
from dgb.run.score import describe
from dgb.run.train import train
from dgb.terminal import progress_bar

BLOCK, SIDE, TITLE, LEGEND = (4.4, 5.1), 4.2, 0.4, 0.7  # of a panel with its words, in inches


class Silhouette(NamedTuple):
    """How well classes are apart, −1 to 1: in the embedding (cosine) and in the drawn plane."""

    embedding: float
    plane: float


@dataclass(frozen=True, eq=False)
class Panel:
    """One embedding in the plane, with what is written above and below it."""

    title: str
    points: Array  # [num_nodes, 2]
    labels: Array  # [num_nodes], -1 where unknown
    label_names: tuple[str, ...]
    silhouette: Silhouette


def tsne(z: Any, seed: int = 0, perplexity: float = 30) -> Array:
    """Return t-SNE's place in the plane for every row of z."""
    from sklearn.manifold import TSNE
    from sklearn.preprocessing import normalize
    from threadpoolctl import threadpool_limits

    if len(z) <= perplexity:
        raise DGBError(f"t-SNE with perplexity {perplexity:g} needs more than {len(z)} nodes")
    # Rows of length one, so that near means a small angle: what the loss compares (Eq. 8, 9), what
    # the silhouette measures, and the same for ablations whose rows differ in length.
    places = TSNE(perplexity=perplexity, init="pca", random_state=seed % 2**32)
    with threadpool_limits(1):  # sums in another order lead to another picture
        return np.asarray(places.fit_transform(normalize(z)))


def silhouette(z: Any, points: Array, labels: Array) -> Silhouette:
    """Return the mean silhouette of the labels in z and in the plane, over nodes with a label."""
    from sklearn.metrics import silhouette_score

    known = labels >= 0
    if len(np.unique(labels[known])) < 2:
        raise DGBError("a silhouette needs nodes of at least two classes")
    return Silhouette(
        float(silhouette_score(z[known], labels[known], metric="cosine")),
        float(silhouette_score(points[known], labels[known])),
    )


def draw_panels(panels: list[Panel], path_stem: Path) -> list[Path]:
    """Draw the panels side by side with one legend; return the PNG and the SVG written."""
    if not panels:
        raise DGBError("there is no panel to draw")
    columns = math.ceil(math.sqrt(len(panels)))
    rows = math.ceil(len(panels) / columns)
    width, height = BLOCK[0] * columns, BLOCK[1] * rows + LEGEND
    with plotting() as figure_class:
        figure = figure_class(figsize=(width, height))
        for i, panel in enumerate(panels):
            left = BLOCK[0] * (i % columns) + (BLOCK[0] - SIDE) / 2
            bottom = height - BLOCK[1] * (i // columns) - TITLE - SIDE
            box = (left / width, bottom / height, SIDE / width, SIDE / height)
            _draw_panel(figure.add_axes(box), panel)
        _draw_legend(figure, panels[0].label_names)
        return save(figure, path_stem)


def _draw_panel(axes: Any, panel: Panel) -> None:
    colours = np.array([*_colours(len(panel.label_names)), UNLABELLED])
    # Points become an image within the SVG: ten thousand shapes would be slow to show.
    style = {"s": 7, "linewidths": 0, "rasterized": True}
    axes.scatter(*panel.points.T, c=colours[panel.labels], **style)
    axes.set_title(panel.title, fontsize=12, fontweight="bold")
    scores = panel.silhouette
    caption = f"{scores.embedding:.2f} in the embedding, {scores.plane:.2f} in the plane"
    axes.set_xlabel(f"silhouette {caption}", color="#404040")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_color("#c8c8c8")
    axes.margins(0.04)


def _draw_legend(figure: Any, label_names: tuple[str, ...]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker="o", color=colour, label=name.replace("_", " "))
        for name, colour in zip(label_names, _colours(len(label_names)), strict=True)
    ]
    figure.legend(handles=handles, loc="lower center", ncols=4, frameon=False)


def _colours(count: int) -> list[str]:
    if count > len(PALETTE):
        raise DGBError(f"{count} classes; a drawing tells at most {len(PALETTE)} colours apart")
    return list(PALETTE[:count])


# (a)–(d) of the figure; its caption names no other variant.
PANELS = {"dgb": "DGB", "without-projection": "without projection", "p=0": "p = 0", "p=1": "p = 1"}
SEED, PERPLEXITY = 0, 30.0


def draw_figure2(place: Place) -> str:
    """Train the four variants, lay them out, draw them; write their silhouettes."""
    refuse_uncommitted()  # colours and silhouettes show the labels of all nodes
    with plotting():  # before the trainings: it says so where matplotlib is missing
        pass
    tasks = list(PANELS)
    with progress_bar(None, "figure2", unit="panel", total=len(tasks)) as bar:
        panels = {}
        for variant, panel in in_parallel(make_panel, tasks, place):
            panels[variant] = panel
            bar.update()
    ordered = [panels[variant] for variant in PANELS]
    paths = draw_panels(ordered, place.results / "figure2")
    graph = load("cora", place)
    facts = {
        variant: describe(graph, variant_recipe(variant)) | panels[variant].silhouette._asdict()
        for variant in PANELS
    }
    write_json(place.results / "figure2.json", {"perplexity": PERPLEXITY} | facts)
    return "\n".join(map(str, paths))


def make_panel(variant: str, place: Place) -> Panel:
    """Train one variant on Cora and lay its representations out in the plane."""
    set_threads(place.threads)
    graph = load("cora", place)
    z = train(graph, variant_recipe(variant)).embeddings()
    points = tsne(z, SEED, PERPLEXITY)
    labels = graph.labels
    assert labels is not None
    head = {"table": "figure2", "method": variant, "dataset": "cora"}
    log_test_read(place.results, head | describe(graph, variant_recipe(variant)))
    return Panel(PANELS[variant], points, labels, graph.label_names, silhouette(z, points, labels))


def variant_recipe(variant: str) -> Recipe:
    """Return the recipe of a panel: Table 4's, with the figure's seed."""
    return with_seed(table4_recipe("cora", variant), SEED)
