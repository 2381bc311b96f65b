"""All scores of one set of embeddings: probe and clustering against the labels."""

from dataclasses import asdict, replace
from typing import Any, TypeVar

import numpy as np

from dgb.arrays import Array
from dgb.data.graph import Graph, Split, are_numbers
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.evaluate.block_weights import Blocks, weigh_blocks
from dgb.evaluate.cluster import cluster, score_clusters
from dgb.evaluate.labels import choose_split, splits_by_name
from dgb.evaluate.probe import linear_probe
from dgb.recipe import Probe

Some = TypeVar("Some", bound=AnyGraph)
CONFUSED = 100  # classes at most that a table of which were confused is made of


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


def can_be_probed(labels: Array, split: Split) -> bool:
    """Tell whether the train nodes have two classes, and the validation nodes one of them."""
    seen = np.unique(labels[split.train])
    return len(seen) > 1 and bool(np.isin(labels[split.validation], seen).any())


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


def without_labels(graph: Some) -> Some:
    """Return the graph as a method without supervision may see it."""
    return _with_labels(graph, None, (), label_names=())


def _with_labels(
    graph: Some, labels: Array | None, splits: tuple[Split, ...], **other: Any
) -> Some:
    if not isinstance(graph, Graph):
        other["split_names"] = ()
    changed: Some = replace(graph, labels=labels, splits=splits, **other)
    return changed


def without_test_labels(graph: Some, seed: int) -> Some:
    """Return the graph with labels on the train and validation nodes of one split alone.

    The split is the one by which a run with this seed is scored; its test nodes are not kept
    either. A graph whose labels do not allow a validation accuracy comes back without any.
    """
    bare = without_labels(graph)
    try:
        split = None if graph.labels is None else choose_split(graph.target_graph(), seed)
    except DGBError:  # fewer labels than a split needs
        return bare
    if graph.labels is None or split is None or not can_be_probed(graph.labels, split):
        return bare
    labels = np.full_like(graph.labels, -1)
    for part in (split.train, split.validation):
        labels[part] = graph.labels[part]
    return _with_labels(graph, labels, (replace(split, test=split.test[:0]),))


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
