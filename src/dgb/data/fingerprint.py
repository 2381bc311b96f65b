"""A hash of what a graph holds, so that a result is never taken for that of another graph."""

import hashlib
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from dgb.arrays import Array, row_parts
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph, HeteroGraph

# A run asks for it several times, and a large graph takes seconds.
_known: WeakKeyDictionary[AnyGraph, str] = WeakKeyDictionary()


def fingerprint(graph: AnyGraph) -> str:
    """Return a short hash of features, edges, labels and splits, computed once a graph."""
    if graph not in _known:
        _known[graph] = _hash(graph)
    return _known[graph]


def _hash(graph: AnyGraph) -> str:
    digest = hashlib.sha256()
    matrices = [graph.x, graph.adjacency] if isinstance(graph, Graph) else _typed(graph, digest)
    for matrix in matrices:
        for part in _parts(matrix):
            digest.update(f"{part.dtype}{part.shape}".encode())
            width = part.size // max(len(part), 1)
            for rows in row_parts(len(part), width):
                digest.update(np.ascontiguousarray(part[rows]).data)
    for split in graph.splits:
        for part in (split.train, split.validation, split.test):
            digest.update(np.asarray(part, dtype=np.int64).data)
    if graph.labels is not None:
        digest.update(graph.labels.data)
    return digest.hexdigest()[:12]


def identity(graph: AnyGraph) -> str:
    """Return the hash with that of the ids, under which vectors are written."""
    nodes = [graph] if isinstance(graph, Graph) else list(graph.nodes.values())
    digest = hashlib.sha256(fingerprint(graph).encode())
    for ids in (part.node_ids for part in nodes):
        for rows in row_parts(len(ids), 32):  # a million ids at a time
            digest.update(repr(ids[rows].tolist()).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:12]


def _typed(graph: HeteroGraph, digest: Any) -> list[Any]:
    """Return features and relations, after their names have gone into the hash."""
    names = [[name, nodes.num_nodes] for name, nodes in graph.nodes.items()]
    relations = [[r.source, r.name, r.target] for r in graph.relations]
    digest.update(repr((graph.target, names, relations)).encode())
    features = [nodes.x for nodes in graph.nodes.values() if nodes.x is not None]
    return [*features, *(relation.matrix for relation in graph.relations)]


def _parts(matrix: object) -> tuple[Array, ...]:
    if sparse.issparse(matrix):
        return matrix.data, matrix.indices, matrix.indptr  # type: ignore[attr-defined]
    return (np.asarray(matrix),)
