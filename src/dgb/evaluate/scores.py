"""All scores of one set of embeddings: probe and clustering against the labels.

Blocks of vectors may be weighed by validation first. That is a figure of its own, not the main one:
other systems have no blocks to weigh, so that it is not to be compared with theirs.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.data.graph import Graph, Split, are_numbers
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.evaluate.cluster import cluster, score_clusters
from dgb.evaluate.labels import can_be_probed, splits_by_name
from dgb.evaluate.probe import Nodes, ProbeScores, accuracy, choose_classifier, linear_probe
from dgb.recipe import Probe

GRID = (0.0, 0.3, 1.0)  # tried next to a block's own weight
CONFUSED = 100  # classes at most that a table of which were confused is made of


@dataclass(frozen=True)
class Blocks:
    """The blocks of vectors, in the order of their columns, and the weights that they come with."""

    widths: dict[str, int]
    weights: dict[str, float]

    def choices(self) -> Iterator[dict[str, float]]:
        """Yield weights to try, their own first; the first block keeps its own."""
        yield self.weights
        first, *others = self.weights.items()
        # Columns that came with weight 0 are zeros: no other weight brings them back.
        grids = [sorted({*GRID, own}) if own else [0.0] for _, own in others]
        for values in product(*grids):
            found = dict([first, *zip(dict(others), values, strict=True)])
            if found != self.weights:
                yield found

    def factors(self, weights: dict[str, float]) -> Array:
        """Return what each column is multiplied by to have other weights than its own."""
        ratios = [weights[name] / own if own else 1.0 for name, own in self.weights.items()]
        return np.repeat(np.array(ratios, np.float32), list(self.widths.values()))


@dataclass(frozen=True, eq=False)
class WeighedRows:
    """Rows whose columns are multiplied when they are taken: z may be larger than the memory."""

    z: Any
    factors: Array  # [width]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.z.shape[0], self.z.shape[1]

    def __getitem__(self, nodes: Nodes) -> Array:
        """Return some rows."""
        return np.asarray(self.z[nodes] * self.factors)


def weigh_blocks(
    z: Array, labels: Array, split: Split, recipe: Probe, blocks: Blocks
) -> ProbeScores:
    """Score embeddings with the weights that validation chose; test labels are read once for them.

    Their own weights are among those tried: validation is never below that of `linear_probe`.
    """
    found = []
    for weights in blocks.choices():
        rows = WeighedRows(z, blocks.factors(weights))
        found.append((choose_classifier(rows, labels, split, recipe), rows, weights))
    chosen, rows, weights = max(found, key=lambda f: (f[0].validation, -f[0].validation_loss))
    right = accuracy(chosen.predict(rows, split.test), labels[split.test])
    return ProbeScores(chosen.validation, right, chosen.settings | {"weights": weights})


def why_not_scored(graph: AnyGraph, seed: int) -> str | None:
    """Return why a probe cannot score this graph, or None where it can; asked before training."""
    nodes = graph.target_graph()
    if nodes.labels is None:
        return f"{nodes.name} has no labels"
    if are_numbers(nodes):
        return f"{nodes.name} has labels that are numbers, not classes; `dgb predict` tells them"
    if nodes.num_classes < 2:
        return f"{nodes.name} has labels of {nodes.num_classes} class, a probe needs two"
    try:
        splits = splits_by_name(graph, seed)
    except DGBError as error:
        return str(error)
    for name, split in splits.items():
        which = f" ({name})" if name else ""
        for part in ("train", "validation", "test"):
            if len(getattr(split, part)) == 0:
                return f"{nodes.name}: the split has no labelled {part} nodes{which}"
        if not can_be_probed(nodes.labels, split):
            needed = "the train nodes need two classes, and validation one of them"
            return f"{nodes.name}: {needed}{which}"
    return None


def class_names(graph: Graph, classes: Array) -> Array:
    """Return the names [n] of classes given as numbers, None where unknown."""
    known = dict(enumerate(graph.label_names)) | {-1: None}
    numbers, place = np.unique(classes, return_inverse=True)
    names = [known.get(number, str(number)) for number in numbers.tolist()]
    return np.array(names, dtype=object)[place]


def confusion(predicted: Array, graph: Graph, split: Split) -> dict[str, Any] | None:
    """Return how often test nodes of a class (rows) were given each class (columns).

    None for more than 100 classes: nobody reads such a table, and it grows with their square.
    """
    assert graph.labels is not None
    truth, guessed = graph.labels[split.test], predicted[split.test]
    classes = np.unique(graph.labels[graph.labels >= 0])
    if len(classes) > CONFUSED:
        return None
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(counts, (np.searchsorted(classes, truth), np.searchsorted(classes, guessed)), 1)
    return {"labels": class_names(graph, classes).tolist(), "counts": counts.tolist()}


def score_embeddings(
    z: Any, graph: AnyGraph, recipe: Probe, seed: int, blocks: Blocks | None = None
) -> dict[str, Any]:
    """Return the probe's and the clustering's scores of one row per node, dense or sparse.

    Of a graph of several node types the rows are those of the target type. `probe` holds the
    scores of its first split, and `splits` those of all. Where blocks are given, `blocks` holds the
    scores with the weights that validation chose for them.
    """
    return score_and_predict(z, graph, recipe, seed, blocks)[0]


def score_and_predict(
    z: Any, graph: AnyGraph, recipe: Probe, seed: int, blocks: Blocks | None = None
) -> tuple[dict[str, Any], Array | None]:
    """Return the scores, and the class of every node by the probe, where there is one."""
    if reason := why_not_scored(graph, seed):
        raise DGBError(f"nothing to evaluate against: {reason}")
    nodes = graph.target_graph()
    if z.shape[0] != nodes.num_nodes:
        kind = "" if isinstance(graph, Graph) else f" of type {graph.target}"
        raise DGBError(
            f"{z.shape[0]} rows of embeddings, but {graph.name} has {nodes.num_nodes} nodes{kind}; "
            "give one row for each of these, in their order"
        )
    labels: Any = nodes.labels
    splits = splits_by_name(graph, seed)
    probes = {name: linear_probe(z, labels, s, recipe, seed) for name, s in splits.items()}
    clusters = asdict(score_clusters(cluster(z, nodes.num_classes, seed), labels))
    name, probe = next(iter(probes.items()))
    scores = {"probe": probe.values(), "cluster": clusters}
    if blocks is not None:
        scores["blocks"] = weigh_blocks(z, labels, splits[name], recipe, blocks).values()
    if isinstance(graph, Graph):
        return scores, probe.predicted
    # What has room for one split shows the first, and says which that is.
    scores["probe"] |= {"split": name}
    return scores | {"splits": {name: probe.values() for name, probe in probes.items()}}, None
