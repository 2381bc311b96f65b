"""Features for node types that come without any: made of the edges, or learnt."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.encoding import Encoding
from dgb.data.graph import undirected
from dgb.data.structure import structural_features
from dgb.data.typed.graph import HeteroGraph, NodeType
from dgb.recipe import LEARNT


def with_features(graph: HeteroGraph, types: Iterable[str], structure: str) -> HeteroGraph:
    """Return the graph with features for those of the types that have none.

    `learnt` is a column for every node: its row of the encoder's first weight matrix is then a
    vector that is learnt for this node alone.
    """
    missing = [name for name in types if graph.nodes[name].x is None]
    if not missing:
        return graph
    made = _learnt(graph, missing) if structure == LEARNT else _structural(graph, structure)
    nodes = dict(graph.nodes)
    for name in missing:
        nodes[name] = NodeType(nodes[name].node_ids, made[name], Encoding(structure=structure))
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


def _learnt(graph: HeteroGraph, types: list[str]) -> dict[str, Any]:
    return {
        name: sparse.eye_array(graph.nodes[name].num_nodes, dtype=np.float32, format="csr")
        for name in types
    }


def _structural(graph: HeteroGraph, structure: str) -> dict[str, Any]:
    x = structural_features(union_graph(graph), union_ids(graph), structure)
    cuts = pairwise(accumulate((n.num_nodes for n in graph.nodes.values()), initial=0))
    return {name: x[i:j] for name, (i, j) in zip(graph.nodes, cuts, strict=True)}
