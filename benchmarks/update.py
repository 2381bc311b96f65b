"""Tomorrow's graph: embed with the old model, update it, or train again?

A tenth of Cora's nodes arrives in five steps. DGB trains on the rest, then `dgb update` follows
step by step. At the end it stands next to the first model, which embeds the whole graph, and a
training from the beginning on it: accuracy, cosines with the first vectors, seconds of this
process.

Test labels are not read. The probe learns from the public train nodes, chooses on the validation
nodes and is scored on all nodes that are in no part of the public split.

    python benchmarks/update.py --recipe paper-cora --set train.epochs=50 --name "paper, 50 epochs"
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import records
from dgb import Graph, load_graph
from dgb.arrays import Array
from dgb.cookbook import load_recipe
from dgb.data.graph import Split
from dgb.data.ids import find_common
from dgb.evaluate.drift import SHARE, align_vectors, cosines, measure_angles, measure_noise
from dgb.evaluate.probe import linear_probe
from dgb.recipe import Recipe
from dgb.run.model import embed_graph
from dgb.run.setup import Trained
from dgb.run.train import train
from dgb.run.update import shorten
from fresh import Figures
from subgraph import subgraph

ARRIVING, STEPS = 0.1, 5


def main() -> None:
    """Measure one draw of nodes, and write it next to those measured before."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--recipe", default="paper-cora")
    parser.add_argument("--name", help="of the recipe, in the results")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    recipe = load_recipe(options.recipe, [*options.set, f"train.seed={options.seed}"])
    row = measure(recipe)
    name = options.name or options.recipe
    row |= {"name": f"{name}, seed {options.seed}", "recipe": name}
    records.write("update", [round_all(row)])
    print(*summarise(), sep="\n")


def measure(recipe: Recipe) -> Figures:
    """Return what embedding, updating and training again yield at the end of the steps."""
    graphs = grow(load_graph("cora"), recipe.train.seed)
    first, seconds = clock(lambda: train(graphs[0], recipe))
    print(f"trained on {graphs[0].num_nodes} nodes: {seconds:.1f} s", flush=True)
    z, last = first.embeddings(), graphs[-1]
    judge = Judge(graphs, z)
    embedded, embed_seconds = clock(lambda: embed_graph(first.encoder, last, recipe))
    before, start, steps = (first, z, graphs[0]), first, []
    for graph in graphs[1:]:
        start = before[0]
        before, figures = take_step(recipe, graph, before)
        steps.append(figures)
        print(figures, flush=True)
    noise = compare_seeds(recipe, last, start, before[1])
    again, again_seconds = clock(lambda: train(last, reseed(recipe, 1000)))
    mean_seconds = float(np.mean([step["seconds"] for step in steps]))
    turned = again.embeddings()
    here, there = find_common(last.node_ids, graphs[0].node_ids)
    turned = turned @ align_vectors(turned[here], z[there]).rotation
    return {
        "embed": judge(embedded, embed_seconds),
        "update": judge(before[1], mean_seconds),
        "retrain": judge(turned, again_seconds),
        "steps": steps,
        "noise": noise,
    }


def grow(whole: Graph, seed: int) -> list[Graph]:
    """Return six versions of a graph; the nodes that arrive are in neither train nor validation."""
    split = whole.splits[0]
    known = np.concatenate([split.train, split.validation])
    free = np.setdiff1d(np.arange(whole.num_nodes), known)
    arriving = np.random.default_rng(seed).permutation(free)[: round(ARRIVING * whole.num_nodes)]
    parts = np.array_split(arriving, STEPS)
    missing = [np.concatenate(parts[step:]) for step in range(STEPS)]
    versions = [np.setdiff1d(np.arange(whole.num_nodes), nodes) for nodes in missing]
    return [*(subgraph(whole, nodes) for nodes in versions), whole]


Before = tuple[Trained, Array, Graph]


def take_step(recipe: Recipe, graph: Graph, before: Before) -> tuple[Before, Figures]:
    """Update to the next version; return the run, and its cosines with the one before."""
    start, old, smaller = before
    found, seconds = clock(lambda: update(recipe, graph, start))
    z = found.embeddings()
    here, there = unchanged(graph, smaller)
    cosine = float(np.median(cosines(z[here], old[there])))
    figures = {"nodes": graph.num_nodes, "median_cosine": cosine, "seconds": seconds}
    return (found, z, graph), figures


def update(recipe: Recipe, graph: Graph, start: Trained, seed: int = 0) -> Trained:
    """Train as `dgb update` does."""
    return train(graph, reseed(shorten(recipe), seed), start=start.encoder)


def reseed(recipe: Recipe, more: int) -> Recipe:
    """Return the recipe with another seed."""
    return replace(recipe, train=replace(recipe.train, seed=recipe.train.seed + more))


def compare_seeds(recipe: Recipe, graph: Graph, start: Trained, z: Array) -> Figures:
    """Return the noise that the drift states, and how far updates of two seeds lie apart."""
    other = update(recipe, graph, start, seed=2000)
    stated = measure_noise(z, embed_graph(start.encoder, graph, recipe))
    between = measure_angles(other.embeddings(), z)
    names = ("stated", "two_seeds")
    return {k: float(np.quantile(v, SHARE)) for k, v in zip(names, (stated, between), strict=True)}


def unchanged(graph: Graph, before: Graph) -> tuple[Array, Array]:
    """Return the rows of nodes in both versions that have as many neighbors as before."""
    here, there = find_common(graph.node_ids, before.node_ids)
    degrees = [np.diff(version.adjacency.indptr) for version in (graph, before)]
    same = degrees[0][here] == degrees[1][there]
    return here[same], there[same]


class Judge:
    """Scores vectors of the last version: by a probe, and next to the first vectors."""

    def __init__(self, graphs: list[Graph], first: Array) -> None:
        """Keep what is compared with."""
        self.graph, self.first = graphs[-1], first
        self.rows = unchanged(graphs[-1], graphs[0])
        split = self.graph.splits[0]
        parts = np.concatenate([split.train, split.validation, split.test])
        free = np.setdiff1d(np.arange(self.graph.num_nodes), parts)
        old, _ = find_common(self.graph.node_ids, graphs[0].node_ids)
        self.splits = {
            "accuracy": Split(split.train, split.validation, free),
            "new_nodes": Split(split.train, split.validation, np.setdiff1d(free, old)),
        }

    def __call__(self, z: Array, seconds: float) -> Figures:
        """Return accuracies, the median cosine of unchanged nodes, and the seconds."""
        here, there = self.rows
        labels: Any = self.graph.labels
        probes = {k: linear_probe(z, labels, split) for k, split in self.splits.items()}
        figures = {name: 100 * probe.test for name, probe in probes.items()}
        figures["validation"] = 100 * probes["accuracy"].validation
        cosine = float(np.median(cosines(z[here], self.first[there])))
        return figures | {"median_cosine": cosine, "seconds": seconds}


def clock(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what work returns, and the seconds that the processor spent on it."""
    start = time.process_time()
    return work(), round(time.process_time() - start, 2)


def round_all(figures: Any) -> Any:
    """Return figures with four decimals, however deep they lie."""
    if isinstance(figures, dict):
        return {name: round_all(figure) for name, figure in figures.items()}
    if isinstance(figures, list):
        return [round_all(figure) for figure in figures]
    return round(figures, 4) if isinstance(figures, float) else figures


def summarise() -> list[str]:
    """Return a table of the mean of all draws of each recipe."""
    rows = records.read("update")["rows"]
    keys = ("accuracy", "new_nodes", "validation", "median_cosine", "seconds")
    lines = [f"{'':34}" + "".join(f"{key:>15}" for key in keys)]
    for recipe in dict.fromkeys(row["recipe"] for row in rows):
        own = [row for row in rows if row["recipe"] == recipe]
        for way in ("embed", "update", "retrain"):
            means = (np.mean([row[way][key] for row in own]) for key in keys)
            title = f"{recipe}, {way} ({len(own)} draws)"
            lines.append(f"{title:34}" + "".join(f"{mean:15.3f}" for mean in means))
    return lines


if __name__ == "__main__":
    main()
