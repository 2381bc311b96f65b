"""A hash of what a graph holds, so that a result is never taken for that of another graph."""

import hashlib
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from dgb.arrays import row_parts
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph

# A run asks for it several times, and a large graph takes seconds.
_known: WeakKeyDictionary[AnyGraph, str] = WeakKeyDictionary()


def fingerprint(graph: AnyGraph) -> str:
    """Return a short hash of features, edges, labels and splits, computed once a graph."""
    if graph not in _known:
        _known[graph] = _hash(graph)
    return _known[graph]


def _hash(graph: AnyGraph) -> str:
    digest = hashlib.sha256()
    if isinstance(graph, Graph):
        matrices = [graph.x, graph.adjacency]
    else:
        names = [[name, nodes.num_nodes] for name, nodes in graph.nodes.items()]
        relations = [[r.source, r.name, r.target] for r in graph.relations]
        digest.update(repr((graph.target, names, relations)).encode())
        matrices = [nodes.x for nodes in graph.nodes.values() if nodes.x is not None]
        matrices += [relation.matrix for relation in graph.relations]
    for matrix in matrices:
        is_sparse = sparse.issparse(matrix)
        for part in (matrix.data, matrix.indices, matrix.indptr) if is_sparse else (matrix,):
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
