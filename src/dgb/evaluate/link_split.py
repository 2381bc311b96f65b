"""Edges taken out of a graph before training, to be asked for, and pairs that never were edges."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.graph import Graph, undirected
from dgb.data.structure import structural_features
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.evaluate.links import LinkSplit, Pairs, edge_pairs

TRAIN_PAIRS = 20_000  # at most so many edges a logistic regression is fitted on


@dataclass(frozen=True, eq=False)
class _Links:
    """The edges of one relation between rows that are embedded; pairs are of such rows."""

    matrix: Any
    is_within: bool  # one type: symmetric, each edge once
    starts: tuple[int, int] = (0, 0)  # the first rows of both types
    place: int = 0  # among the relations of the graph

    def edges(self) -> tuple[Array, Array]:
        pairs, weight = edge_pairs(self.matrix, is_within=self.is_within)
        return pairs + np.array(self.starts), weight

    def sample_non_edges(self, count: int, generator: np.random.Generator) -> Array:
        pairs = sample_non_edges(self.matrix, count, generator, is_within=self.is_within)
        return np.asarray(pairs + np.array(self.starts))

    def with_edges(self, pairs: Array, weight: Array) -> Any:
        """Return the matrix with these edges alone."""
        places = (pairs - np.array(self.starts)).T
        edges = sparse.coo_array((weight, places), shape=self.matrix.shape)
        return undirected(edges) if self.is_within else sparse.csr_array(edges)


def sample_non_edges(
    matrix: Any, count: int, generator: np.random.Generator, *, is_within: bool = True
) -> Array:
    """Draw `count` different pairs [count, 2] of two nodes without an edge, all equally likely.

    The pairs, within a type those of i < j, are numbered row by row. A number drawn among those
    that are no edge is moved past the edges before it, which finds its pair without listing or
    trying any other.
    """
    rows, columns = matrix.shape
    first = np.arange(rows, dtype=np.int64)
    # Where a row begins among the numbers, and which column it begins with.
    starts = first * columns - (first * (first + 1) // 2 if is_within else 0)
    begin = first + 1 if is_within else 0 * first
    edges, _ = edge_pairs(matrix, is_within=is_within)
    taken = np.sort(starts[edges[:, 0]] + edges[:, 1] - begin[edges[:, 0]])
    free = (rows * (rows - 1) // 2 if is_within else rows * columns) - len(taken)
    if count > free:
        raise DGBError(
            f"link prediction needs {count:,} pairs of nodes that are no edges, but the graph has "
            f"{free:,}; it is too dense for such a test"
        )
    drawn = generator.choice(free, count, replace=False)
    number = drawn + np.searchsorted(taken - np.arange(len(taken)), drawn, side="right")
    last = rows - 1 if is_within else rows  # a row without pairs begins with the end
    row = np.searchsorted(starts[:last], number, side="right") - 1
    return np.stack([row, number - starts[row] + begin[row]], axis=1)


def split_edges(
    graph: AnyGraph,
    seed: int,
    validation: float = 0.05,
    test: float = 0.10,
    *,
    is_whole: bool = False,
) -> LinkSplit:
    """Take shares of the edges out of a graph, and draw as many pairs that are not edges of it.

    Edges of several relations are taken out alike, and the pairs drawn with those of a relation
    are of its two types and not of its edges. With `is_whole`, nodes of all types are embedded,
    otherwise those of the target type. No pair is in two parts of a relation. Features that were
    made of the edges are made again of those left.
    """
    generator = np.random.default_rng(seed)
    links = _find_links(graph, is_whole=is_whole)
    found = [link.edges() for link in links]
    edges, weight = (np.concatenate(part) for part in zip(*found, strict=True))
    relation = np.repeat(np.arange(len(links)), [len(pairs) for pairs, _ in found])
    counts = _counts(graph.name, len(edges), validation, test)
    order = generator.permutation(len(edges))
    kept = order[sum(counts) :]
    parts = [*np.split(order[: sum(counts)], counts[:1]), kept[:TRAIN_PAIRS]]
    drawn, left = [], {}
    for number, link in enumerate(links):
        sizes = [int((relation[part] == number).sum()) for part in parts]
        others = link.sample_non_edges(sum(sizes), generator)
        drawn.append(np.split(others, np.cumsum(sizes)[:-1]))
        own = kept[relation[kept] == number]
        left[link.place] = link.with_edges(edges[own], weight[own])
    validated, tested, trained = (
        Pairs(edges[part], np.concatenate(own)) for part, *own in zip(parts, *drawn, strict=True)
    )
    num_rows = graph.num_nodes if is_whole else graph.target_graph().num_nodes
    rows = sparse.coo_array((weight[kept], edges[kept].T), shape=(num_rows, num_rows))
    adjacency = undirected(rows)
    return LinkSplit(_with_links(graph, left, adjacency), adjacency, trained, validated, tested)


def hold_out(graph: Graph, share: float, seed: int) -> tuple[Graph, Array]:
    """Take a share of the edges out of a graph, and features that are made of them.

    Returns the graph that is left, and [3, number]: the ends of these edges and of as many pairs
    that are not edges, and 1 or 0.
    """
    generator, link = np.random.default_rng(seed), _Links(graph.adjacency, is_within=True)
    edges, weight = link.edges()
    count = round(share * len(edges))
    if not 0 < count < len(edges):
        raise DGBError(
            f"{graph.name}: links.held_out={share:g} of {len(edges)} edges leaves none to learn "
            "from or none to ask for; set links.held_out=0"
        )
    held, kept = np.split(generator.permutation(len(edges)), [count])
    adjacency = link.with_edges(edges[kept], weight[kept])
    pairs = np.concatenate([edges[held], link.sample_non_edges(count, generator)])
    left = _with_links(graph, {}, adjacency)
    assert isinstance(left, Graph)
    return left, np.column_stack([pairs, np.arange(len(pairs)) < count]).T


def _find_links(graph: AnyGraph, *, is_whole: bool) -> list[_Links]:
    """Return the relations whose both ends are embedded."""
    if isinstance(graph, Graph):
        return [_Links(graph.adjacency, is_within=True)]
    sizes = [nodes.num_nodes for nodes in graph.nodes.values()]
    starts = dict(zip(graph.nodes, accumulate(sizes, initial=0), strict=False))
    links = [
        _Links(
            relation.matrix,
            relation.source == relation.target,
            (starts[relation.source], starts[relation.target]) if is_whole else (0, 0),
            place,
        )
        for place, relation in enumerate(graph.relations)
        if is_whole or relation.source == relation.target == graph.target
    ]
    if not links:
        raise DGBError(
            f"links are asked for between nodes that are embedded, and no relation joins two of "
            f"type {graph.target}; embed all types with --recipe relations --set data.target=all"
        )
    return links


def _with_links(graph: AnyGraph, left: Mapping[int, Any], adjacency: Any) -> AnyGraph:
    """Return the graph with these edges alone; features made of others would tell of them."""
    if isinstance(graph, Graph):
        structure = graph.encoding.structure if graph.encoding else ""
        x = structural_features(adjacency, graph.node_ids, structure) if structure else graph.x
        return replace(graph, adjacency=adjacency, x=x)
    relations = tuple(
        replace(relation, matrix=left.get(place, relation.matrix))
        for place, relation in enumerate(graph.relations)
    )
    nodes = {
        name: replace(own, x=None, encoding=None)  # to be made again
        if own.encoding and own.encoding.structure
        else own
        for name, own in graph.nodes.items()
    }
    return replace(graph, nodes=nodes, relations=relations)


def _counts(name: str, num_edges: int, validation: float, test: float) -> tuple[int, int]:
    if min(validation, test) <= 0 or validation + test >= 1:
        raise DGBError(
            f"the shares of edges for validation ({validation:g}) and test ({test:g}) must be "
            "above 0 and leave edges to train on"
        )
    counts = [max(round(share * num_edges), 1) for share in (validation, test)]
    if sum(counts) >= num_edges:
        raise DGBError(
            f"{name}: link prediction needs an edge each to train on, for validation and for test; "
            f"the graph has {num_edges}"
        )
    return counts[0], counts[1]
