"""Features made of the edges alone, for graphs and for types of nodes that come without any."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.encoding import Encoding
from dgb.data.graph import Features, Graph, make_graph, undirected
from dgb.data.positions import WIDTH, position_features, random_walk
from dgb.data.rules import scale_weights
from dgb.data.typed.graph import HeteroGraph, NodeType
from dgb.files.limits import refuse_beyond_room
from dgb.recipe import LEARNT, STRUCTURES
from dgb.settings import check_names

_BINS = 24  # of degrees, each twice as wide as the one before: the last begins at 8 million


def structural_features(adjacency: Any, node_ids: Array, kind: str) -> Array:
    """Return features made of the edges, float32 [n, width], one row per node.

    `walk` and `ppr` say where a node is: a random vector of every id, spread over the edges, so
    that near nodes are alike, also in another graph with the same ids. `degree` says how the edges
    around a node look, which means the same in every graph.
    """
    check_names("kind of structural features", [kind], STRUCTURES)
    refuse_featureless(adjacency.shape[0])
    if kind == "degree":
        return _degrees(adjacency)
    return position_features(adjacency, node_ids, kind)


def refuse_featureless(count: int) -> None:
    """Refuse more nodes than features can be made for; spreading keeps two of them at a time."""
    advice = "give node rows (data.nodes), or correct the number of nodes that the file declares"
    refuse_beyond_room(f"features for {count:,} nodes take", 8 * WIDTH * count, advice)


def with_structure(graph: Graph, kind: str) -> Graph:
    """Return the graph with features made of its edges, and a note that says so."""
    x = structural_features(graph.adjacency, graph.node_ids, kind)
    note = (
        f"no features: {x.shape[1]} columns were made of the edges (data.structure={kind}); "
        "give node rows (data.nodes) if there are any"
    )
    return replace(graph, x=x, encoding=Encoding(structure=kind), notes=(*graph.notes, note))


def with_weights(graph: Graph, form: str) -> Graph:
    """Return the graph with weights in the form of data.weights, and a note that says so."""
    adjacency = scale_weights(graph.adjacency, form)
    if adjacency is graph.adjacency:
        return graph
    before, after = (np.median(weights.data) for weights in (graph.adjacency, adjacency))
    medians = f"median {before:.3g}, now {after:.3g}"
    note = f"weights of edges were scaled (data.weights={form}): {medians}"
    graph = replace(graph, adjacency=adjacency, notes=(*graph.notes, note))
    kind = graph.encoding.structure if graph.encoding is not None else ""
    x = structural_features(adjacency, graph.node_ids, kind) if kind else graph.x
    return replace(graph, x=x)


def make_featured_graph(
    name: str, x: Features | None, edges: Any, structure: str, **parts: Any
) -> Graph:
    """Make a graph as `make_graph` does, where x is None with features made of the edges."""
    if x is not None:
        graph = make_graph(name, x, edges, **parts)
        lone = ("there is no edge: every node is embedded by its own features alone",)
        return graph if graph.num_edges else replace(graph, notes=graph.notes + lone)
    refuse_featureless(edges.shape[0])
    nothing = np.zeros((edges.shape[0], 1), np.float32)
    return with_structure(make_graph(name, nothing, edges, **parts), structure)


def _degrees(adjacency: Any) -> Array:
    step = random_walk(adjacency)
    size = np.log2(1 + np.diff(adjacency.indptr))
    bins = np.minimum(size.astype(np.int64), _BINS - 1)
    own = np.zeros((len(bins), _BINS + 1), np.float32)
    own[np.arange(len(bins)), bins] = 1
    own[:, -1] = size / _BINS  # next to ones and shares, so as not to outweigh them
    near = step @ own
    extremes = np.zeros((len(bins), 2), np.float32)  # of the neighbors' sizes, if there are any
    has_any = np.diff(adjacency.indptr) > 0
    if has_any.any():
        # The starts of empty rows are left out: reduceat would read the next row for them.
        starts, sizes = adjacency.indptr[:-1][has_any], own[adjacency.indices, -1]
        extremes[has_any, 0] = np.minimum.reduceat(sizes, starts)
        extremes[has_any, 1] = np.maximum.reduceat(sizes, starts)
    return np.hstack([own, near, step @ near, extremes])


def with_features(graph: HeteroGraph, types: Iterable[str], structure: str) -> HeteroGraph:
    """Return the graph with features for those of the types that have none.

    `learnt` is a column for every node: its row of the encoder's first weight matrix is then a
    vector that is learnt for this node alone.
    """
    missing = [name for name in types if graph.nodes[name].x is None]
    if not missing:
        return graph
    nodes = dict(graph.nodes)
    if structure == LEARNT:
        made = {name: sparse.eye_array(nodes[name].num_nodes, format="csr") for name in missing}
    else:
        x = structural_features(union_graph(graph), union_ids(graph), structure)
        ends = np.cumsum([found.num_nodes for found in nodes.values()])
        made = dict(zip(nodes, np.split(x, ends[:-1]), strict=True))
    for name in missing:
        rows = made[name].astype(np.float32, copy=False)
        nodes[name] = NodeType(nodes[name].node_ids, rows, Encoding(structure=structure))
    note = f"no features of {', '.join(missing)}: made by data.structure={structure}"
    return replace(graph, nodes=nodes, notes=(*graph.notes, note))


def union_graph(graph: HeteroGraph) -> Any:
    """Return the adjacency of all nodes, the types one after the other, by any relation."""
    sizes = [nodes.num_nodes for nodes in graph.nodes.values()]
    starts = dict(zip(graph.nodes, accumulate(sizes, initial=0), strict=False))
    rows, cols, weights = [], [], []
    for relation in graph.relations:
        edges = sparse.coo_array(relation.matrix)
        rows.append(edges.coords[0] + np.int64(starts[relation.source]))
        cols.append(edges.coords[1] + np.int64(starts[relation.target]))
        weights.append(edges.data)
    ends = tuple(np.concatenate(part) if part else np.zeros(0, int) for part in (rows, cols))
    weight = np.concatenate(weights) if weights else np.zeros(0, np.float32)
    return undirected(sparse.coo_array((weight, ends), shape=(sum(sizes),) * 2))


def union_ids(graph: HeteroGraph) -> Array:
    """Return the ids of all nodes as text, each with its type before it: ids are per type."""
    parts = [
        np.char.add(f"{name}:", nodes.node_ids.astype(np.str_))
        for name, nodes in graph.nodes.items()
    ]
    return np.concatenate(parts).astype(object)
