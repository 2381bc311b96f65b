"""Labels of a graph: how they are split, how many are used for what, and who may see which.

Resplits deal train and validation nodes out again, so that no choice hangs on one split: the 500
validation nodes of the public splits tell two settings apart when they differ by two points; a mean
over many draws of the same labels does at a fraction of that. No test node is drawn.
"""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from dgb.arrays import Array
from dgb.data.graph import Graph, Split, are_numbers
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError

Some = TypeVar("Some", bound=AnyGraph)
PARTS = ("train", "validation", "test")
MOST = 100_000  # train nodes and validation nodes: an accuracy on so many is exact to 0.2 points
DRAWS, PER_CLASS = 20, 20  # resplits, and train nodes of each


def choose_split(graph: Graph, seed: int) -> Split:
    """Return the graph's own split (the seed picks one of several), else a random 10/10/80.

    Nodes without a label are in no part of it.
    """
    assert graph.labels is not None
    labels = graph.labels
    if graph.splits:
        own = graph.splits[seed % len(graph.splits)]
        parts = (own.train, own.validation, own.test)
        return Split(*(part[labels[part] >= 0] for part in parts))
    known = np.flatnonzero(labels >= 0)
    order = np.random.default_rng(seed).permutation(known)
    tenth = len(order) // 10
    if tenth < 1:
        raise DGBError(f"{graph.name}: a probe needs at least 10 labelled nodes, not {len(order)}")
    return Split(order[:tenth], order[tenth : 2 * tenth], order[2 * tenth :])


def splits_by_name(graph: AnyGraph, seed: int) -> dict[str, Split]:
    """Return the splits that a run with this seed is scored by; each has labelled nodes alone.

    Of a graph of one node type it is one without a name; of several types, all that it has.
    """
    nodes, count = graph.target_graph(), len(graph.splits)
    if isinstance(graph, Graph) or not count:
        return {"" if isinstance(graph, Graph) else "random split": choose_split(nodes, seed)}
    # A name given twice, or to some splits alone, would hide the scores of others.
    is_named = len(set(graph.split_names)) == len(graph.split_names) == count
    names = graph.split_names if is_named else [f"split {i + 1}" for i in range(count)]
    return {name: choose_split(nodes, number) for number, name in enumerate(names)}


def describe_labels(graph: AnyGraph, seed: int) -> str:
    """Return how many nodes have labels, and how many of these are used for what, in a line."""
    nodes = graph.target_graph()
    known = 0 if nodes.labels is None else int((nodes.labels >= 0).sum())
    kind = "" if isinstance(graph, Graph) else f"{graph.target} "
    counted = f"labels: {known:,} of {nodes.num_nodes:,} {kind}nodes"
    if not known or are_numbers(nodes):
        return counted + (", which are numbers" if known else "")
    try:
        name, split = next(iter(splits_by_name(graph, seed).items()))
    except DGBError:
        return f"{counted}, too few for a split"
    sizes = {part: len(getattr(split, part)) for part in PARTS}
    if outside := known - sum(sizes.values()):
        sizes["unused"] = outside
    used = ", ".join(f"{size:,} {part}" for part, size in sizes.items())
    return f"{counted}: {used} ({_name(graph, name, seed)})"


def _name(graph: AnyGraph, name: str, seed: int) -> str:
    count = len(graph.splits)
    if count == 0:
        return "random split"
    if count == 1:
        return "its own split"
    return f"{name}, the first of {count}" if name else f"split {seed % count + 1} of {count}"


def learnable_nodes(graph: AnyGraph, seed: int) -> Array:
    """Return the nodes whose labels a prediction may use: all, or of a split all but its test."""
    nodes = graph.target_graph()
    if nodes.labels is None or not (nodes.labels >= 0).any():
        raise DGBError(
            f"{nodes.name} has no labels to learn from; name their column with --label, or a file "
            "of ids and labels with --labels"
        )
    if not graph.splits:
        return np.flatnonzero(nodes.labels >= 0)
    split = next(iter(splits_by_name(graph, seed).values()))
    found = np.sort(np.concatenate([split.train, split.validation]))
    if not len(found):
        raise DGBError(f"{nodes.name}: its split has no labelled train or validation nodes")
    return found


def sample_split(split: Split, labels: Array) -> Split:
    """Return the split with at most 100,000 train and as many validation nodes, always the same.

    A class that would be lost keeps one node.
    """
    train, validation = (sample_nodes(nodes, labels) for nodes in (split.train, split.validation))
    return replace(split, train=train, validation=validation)


def sample_nodes(nodes: Array, labels: Array, most: int | None = None) -> Array:
    """Return at most 100,000 of the nodes, or `most`, and one of each class that would be lost."""
    most = MOST if most is None else most
    if len(nodes) <= most:
        return nodes
    order = np.random.default_rng(0).permutation(nodes)
    _, first = np.unique(labels[order], return_index=True)
    return np.concatenate([order[:most], order[first[first >= most]]])


def draw_resplits(labels: Array, split: Split, count: int = DRAWS) -> list[Split]:
    """Return splits of the train and validation nodes, always the same for the same nodes.

    Each has 20 train nodes a class, of a class with fewer than 40 half of its nodes, and all others
    for validation.
    """
    nodes = np.sort(np.concatenate([split.train, split.validation]))
    nodes = nodes[labels[nodes] >= 0]
    rng = np.random.default_rng(0)
    return [_draw(nodes, labels[nodes], rng) for _ in range(count)]


def _draw(nodes: Array, classes: Array, rng: np.random.Generator) -> Split:
    train = np.concatenate(
        [
            rng.permutation(own)[: min(PER_CLASS, len(own) // 2)]
            for own in (nodes[classes == c] for c in np.unique(classes))
        ]
    )
    return Split(train, np.setdiff1d(nodes, train), nodes[:0])


def can_be_probed(labels: Array, split: Split) -> bool:
    """Tell whether the train nodes have two classes, and the validation nodes one of them."""
    seen = np.unique(labels[split.train])
    return len(seen) > 1 and bool(np.isin(labels[split.validation], seen).any())


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
