"""What about a graph is likely to spoil its embeddings, and what to do about it."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from dgb.data.graph import Graph, are_numbers
from dgb.data.look.alike import ALIKE, COMMUNITIES, OPPOSITE, Alike, judge_edges
from dgb.data.look.counts import constant_columns, count_graph
from dgb.data.look.scales import column_names, scale_trouble
from dgb.data.spelling import group_values, id_trouble, spelling_trouble
from dgb.data.typed.graph import AnyGraph, HeteroGraph
from dgb.terminal import some

MANY = 0.01  # share of nodes from which a gap is worth a word
_WHOLE = 0.8  # share of nodes that the largest component should have
_LOUD = 0.9  # share of the size of all features that one column should not exceed
_FEW = 10  # nodes that a class should have
_CHANCE = 0.1  # adjusted homophily below which edges say next to nothing of the labels
_FAR = 10  # times 1 that the median of weights may be, or times the median that a weight may be
_SHOWN = 5


def trouble(
    graph: AnyGraph, counts: dict[str, Any] | None = None, *, are_divided: bool = True
) -> list[str]:
    """Return a sentence on each likely trouble; `counts` are those of `count_graph`, if at hand.

    `are_divided` says whether rows of features are divided by their sum before they are used.
    """
    counts = counts or count_graph(graph)
    # Numbers are no classes, of which most have one node: `dgb predict` tells them.
    of_labels = [] if are_numbers(graph.target_graph()) else label_trouble(counts)
    if isinstance(graph, HeteroGraph):
        return [*_type_trouble(counts), *of_labels]
    of_edges = [*_edge_trouble(counts), *id_trouble(graph)]
    return [*of_edges, *_feature_trouble(graph, counts, are_divided), *of_labels]


def _edge_trouble(counts: dict[str, Any]) -> Iterator[str]:
    nodes, alone = counts["nodes"], counts["isolated_nodes"]
    if alone >= MANY * nodes:
        yield (
            f"{alone:,} nodes ({alone / nodes:.0%}) have no edge: only their own features speak "
            "for them; add their edges, or leave these nodes out"
        )
    if counts["largest_component"] < _WHOLE and counts["components"] - alone > 1:
        yield (
            f"The graph falls into {counts['components']:,} components, the largest with "
            f"{counts['largest_component']:.0%} of the nodes: nothing passes between them; check "
            "that ids are spelt alike in edges and nodes"
        )
    yield from _weight_trouble(counts["weights"])


def _weight_trouble(weights: dict[str, float] | None) -> Iterator[str]:
    if weights is None:
        return
    median, high = weights["median"], weights["99 %"]
    is_far = not 1 / _FAR <= median <= _FAR
    if is_far or high > _FAR * median:
        what = "far from 1" if is_far else "very uneven"
        yield (
            f"Weights of edges are {what} (median {median:.3g}, one in a hundred above {high:.3g}) "
            "and count against the loop of weight 1 that every node gets: under large ones its own "
            "features hardly count; use --set data.weights=log, or mean-1"
        )


def _feature_trouble(graph: Graph, counts: dict[str, Any], are_divided: bool) -> Iterator[str]:
    if graph.encoding is not None and graph.encoding.structure:
        yield (
            "There are no features: what was made of the edges tells only where a node is; "
            "add node rows (data.nodes) if there is anything to know of the nodes"
        )
        return
    empty, nodes = counts["rows_without_features"], counts["nodes"]
    if empty >= MANY * nodes:
        yield (
            f"{empty:,} nodes ({empty / nodes:.0%}) have features that are all zero: only their "
            "neighbors speak for them; fill in what is known of them"
        )
    yield from _column_trouble(graph, are_divided)
    if not are_divided:
        yield from scale_trouble(graph)
    yield from spelling_trouble(graph)
    yield from _neighbor_trouble(graph, counts["neighbors_alike"])


def _neighbor_trouble(graph: Graph, alike: Alike | None) -> Iterator[str]:
    """Say where features and edges have nothing to do with each other, if enough edges show it."""
    if alike is None:  # features that cannot differ are told as such
        return
    kind, places = judge_edges(graph, alike)
    if kind == ALIKE:
        return
    compare = "see what serves: dgb compare GRAPH --methods dgb,raw,deepwalk"
    if kind != COMMUNITIES:
        below = "less" if kind == OPPOSITE else "not more"
        yield (
            f"Neighbors are {below} alike than chance (features: {alike}): mixing features over "
            "the edges blurs them, so dgb train keeps them as they are next to what it learns; "
            f"{compare}"
        )
        return
    yield (
        "Features say nothing about the graph: neighbors are not more alike than chance (features: "
        f"{alike}), though edges form communities (places: {places}); dgb train lets the "
        f"place in the graph weigh more than features; {compare}"
    )


def _column_trouble(graph: Graph, are_divided: bool) -> Iterator[str]:
    sizes = np.asarray(abs(graph.x).sum(axis=0, dtype=np.float64)).ravel()
    loudest = int(np.argmax(sizes))
    share = sizes[loudest] / (sizes.sum() or 1.0)
    if graph.num_features == 1:
        if are_divided:
            yield (
                f"There is one column, {column_names(graph, [0])}, and dividing rows by their sum "
                "leaves only its sign; use --set data.normalise=none"
            )
    elif share > _LOUD:
        what = "dividing rows by their sum would hide the others"
        fix = ", or use --set data.normalise=none" if are_divided else ""
        yield (
            f"Column {column_names(graph, [loudest])} makes up {share:.0%} of the size of all "
            f"features, and {what if are_divided else 'the others hardly count next to it'}; "
            f"bring columns to a like scale{fix}"
        )
    constant = constant_columns(graph)
    if len(constant):
        yield (
            f"Columns that hold one number throughout say nothing ({len(constant):,} of "
            f"{graph.num_features:,}: {column_names(graph, constant)}); leave them out"
        )


def label_trouble(counts: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence on each likely trouble with the labels that `count_graph` has counted."""
    if counts["classes"] == 1:
        yield "All labels are of one class, so nothing can be scored; give labels that differ"
    balance = counts["label_balance"]
    are_digits = all(re.fullmatch(r"-?[\d.]+", str(name)) for name in balance)
    alike = [] if are_digits else group_values(balance)
    if alike:
        shown = some([" = ".join(map(repr, group)) for group in alike])
        yield f"Labels that may be the same, and are different classes: {shown}; spell them alike"
    small = {name: size for name, size in balance.items() if 0 < size < _FEW}
    if counts["classes"] > 1 and small:
        listed = ", ".join(f"{name} ({size})" for name, size in list(small.items())[:_SHOWN])
        yield (
            f"{len(small)} of {counts['classes']} classes have fewer than {_FEW} nodes, too few to "
            f"learn from and to be scored on: {listed}; join them with others, or label more nodes"
        )
    adjusted = counts["adjusted_homophily"]
    edges = counts["edges_with_labels"]
    # Beyond two standard errors: of three edges between labelled nodes, two may well differ.
    if adjusted is not None and adjusted + 2 * edges**-0.5 < _CHANCE:
        yield (
            f"Edges hardly join equal labels (adjusted homophily {adjusted:.2f}, 0 is chance, by "
            f"{edges:,} edges): a graph convolution, and so DGB, is probably the wrong tool here; "
            "see whether it beats the features alone: dgb compare GRAPH --methods dgb,raw"
        )


def _type_trouble(counts: dict[str, Any]) -> Iterator[str]:
    for kind, counted in counts["types"].items():
        nodes, alone = counted["nodes"], counted["isolated"]
        if alone and alone >= MANY * nodes:
            yield (
                f"{alone:,} nodes of type {kind} ({alone / nodes:.0%}) have no edge; add their "
                "edges, or check that ids are spelt alike in edges and nodes"
            )
