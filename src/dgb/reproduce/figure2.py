"""Figure 2: the representations of Cora in the plane, by the full method and its ablations."""

import numpy as np

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.progress import progress_bar
from dgb.recipe import Recipe
from dgb.reproduce.figures import Panel, draw_panels, plotting, silhouette, tsne
from dgb.reproduce.measure import load, log_test_read
from dgb.reproduce.place import Place, in_parallel
from dgb.reproduce.plan import ABLATIONS
from dgb.reproduce.runner import refuse_uncommitted
from dgb.run.folder import write_json
from dgb.run.machine import set_threads
from dgb.run.trained import train_encoder
from dgb.run.training import describe

# (a)–(d) of the figure; its caption names no other variant.
PANELS = {"dgb": "DGB", "without-projection": "without projection", "p=0": "p = 0", "p=1": "p = 1"}
SEED, PERPLEXITY = 0, 30.0


def make_figure2(place: Place) -> str:
    """Train the four variants, lay them out, draw them; write the silhouettes beside them."""
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
    z = train_encoder(graph, variant_recipe(variant)).embeddings()
    points = tsne(z, SEED, PERPLEXITY)
    labels = _labels(graph)
    head = {"table": "figure2", "method": variant, "dataset": "cora"}
    log_test_read(place.results, head | describe(graph, variant_recipe(variant)))
    return Panel(PANELS[variant], points, labels, graph.label_names, silhouette(z, points, labels))


def variant_recipe(variant: str) -> Recipe:
    """Return the recipe of a panel: Table 4's, with the figure's seed."""
    return load_recipe("cora", [*ABLATIONS[variant], f"train.seed={SEED}"])


def _labels(graph: Graph) -> np.ndarray:
    assert graph.labels is not None
    return graph.labels
