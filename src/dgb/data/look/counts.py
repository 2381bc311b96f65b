"""What a graph counts, for looking at data before training on it."""

from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.graph import Features, Graph
from dgb.data.look.alike import features_alike
from dgb.data.rules import has_weights
from dgb.data.structure import mix
from dgb.data.typed.graph import AnyGraph, HeteroGraph


def homophily(graph: Graph) -> tuple[float | None, float | None, int]:
    """Return the share of edges that join equal labels, of those whose two ends are labelled.

    The second is this share beyond chance: 1 at most, 0 where labels do not matter to edges;
    (h − Σ p²) / (1 − Σ p²) of Platonov et al. (2023), p the classes' shares of all ends of edges.
    The third is how many edges both are measured by.
    """
    if graph.labels is None:
        return None, None, 0
    one, other = (graph.labels[end] for end in sparse.coo_array(graph.adjacency).coords)
    is_known = (one >= 0) & (other >= 0)
    if not is_known.any():
        return None, None, 0
    one, other = one[is_known], other[is_known]
    equal = float((one == other).mean())
    chance = float(((np.bincount(one) / len(one)) ** 2).sum())  # each edge is there both ways
    return equal, None if chance == 1 else (equal - chance) / (1 - chance), len(one) // 2


_CHUNK = 1 << 20  # numbers hashed at a time


def filled_per_row(x: Features) -> Array:
    """Count the numbers of each row that are not zero."""
    return np.asarray((x != 0).sum(axis=1)).ravel()


def constant_columns(graph: Graph) -> Array:
    """Return the positions of the columns that hold one number throughout.

    A column that words are hashed to may well be empty, and is not counted.
    """
    low, high = graph.x.min(axis=0), graph.x.max(axis=0)
    if sparse.issparse(graph.x):
        low, high = low.toarray(), high.toarray()
    is_constant = np.ravel(low) == np.ravel(high)
    columns = graph.encoding.columns if graph.encoding is not None else ()
    kinds = [column.kind for column in columns for _ in column.names()]
    return np.flatnonzero(is_constant & (np.array(kinds or [""]) != "words"))


def count_repeated_rows(x: Features) -> int:
    """Count the rows that equal an earlier one; rows without features are left out."""
    hashes = _row_hashes(x)[filled_per_row(x) > 0]
    return len(hashes) - len(np.unique(hashes))


def _row_hashes(x: Features) -> Array:
    # Whole numbers, not a product with a random vector: its last digits may differ by the place
    # of a row, so that equal rows would not be found.
    keys = mix(np.arange(1, x.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    if sparse.issparse(x):
        terms = _bits(x.data) * keys[x.indices]
        rows = sparse.csr_array((terms, x.indices, x.indptr), shape=x.shape)
        return np.asarray(rows @ np.ones(x.shape[1], np.uint64))
    step = max(1, _CHUNK // x.shape[1])
    chunks = [x[i : i + step] for i in range(0, len(x), step)]
    return np.concatenate([(_bits(chunk) * keys).sum(axis=1) for chunk in chunks])


def _bits(values: Array) -> Array:
    # Adding zero turns −0 into 0, which is equal but has other bits.
    plain = np.ascontiguousarray(values, np.float32) + np.float32(0)
    return mix(plain.view(np.uint32).astype(np.uint64))


# Times that the largest class is as large as the smallest, at most.
_BALANCE = {"even": 2.0, "uneven": 10.0, "very uneven": np.inf}


def count_graph(graph: AnyGraph) -> dict[str, Any]:
    """Count what matters before training: sizes, gaps, components, classes, splits, homophily.

    Of a graph of several types: its types, its relations, and the labels of the target.
    """
    labels = _label_counts(graph.target_graph())
    if isinstance(graph, Graph):
        return _edge_counts(graph) | _feature_counts(graph) | labels
    relations = {
        relation.label: {
            "edges": relation.num_edges,
            "per_source": relation.matrix.nnz / max(relation.matrix.shape[0], 1),
            "per_target": relation.matrix.nnz / max(relation.matrix.shape[1], 1),
        }
        for relation in graph.relations
    }
    return {
        "name": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "target": graph.target,
        "types": {kind: _type_counts(graph, kind) for kind in graph.nodes},
        "relations": relations,
        "split_names": ", ".join(graph.split_names) or None,
    } | labels


def _edge_counts(graph: Graph) -> dict[str, Any]:
    from scipy.sparse.csgraph import connected_components

    degree, n = np.diff(graph.adjacency.indptr), graph.num_nodes
    components, members = connected_components(graph.adjacency, directed=False)
    median = float(np.median(degree))
    return {
        "name": graph.name,
        "nodes": n,
        "edges": graph.num_edges,
        "density": 2 * graph.num_edges / (n * (n - 1)),
        "degree": {"min": int(degree.min()), "median": median, "max": int(degree.max())},
        "isolated_nodes": int((degree == 0).sum()),
        "components": int(components),
        "largest_component": float(np.bincount(members).max() / n),
        "weights": _weight_counts(graph),
    }


def _weight_counts(graph: Graph) -> dict[str, float] | None:
    if not has_weights(graph.adjacency):
        return None
    shares = {"min": 0, "median": 50, "99 %": 99, "max": 100}
    values = np.percentile(graph.adjacency.data, list(shares.values()))
    return dict(zip(shares, values.tolist(), strict=True))


def _feature_counts(graph: Graph) -> dict[str, Any]:
    filled = filled_per_row(graph.x)
    is_made = graph.encoding is not None and bool(graph.encoding.structure)  # of the edges
    return {
        "features": graph.num_features,
        "feature_density": float(filled.sum() / (graph.num_nodes * graph.num_features)),
        "rows_without_features": int((filled == 0).sum()),
        "repeated_feature_rows": count_repeated_rows(graph.x),
        "constant_columns": len(constant_columns(graph)),
        "neighbors_alike": None if is_made else features_alike(graph),
    }


def _label_counts(graph: Graph) -> dict[str, Any]:
    labels = np.zeros(0, np.int64) if graph.labels is None else graph.labels
    counts = np.bincount(labels[labels >= 0], minlength=graph.num_classes)
    names = graph.label_names or tuple(str(label) for label in range(len(counts)))
    sizes = counts[counts > 0]
    ratio = sizes.max() / sizes.min() if len(sizes) > 1 else None
    balance = ratio and next(word for word, most in _BALANCE.items() if ratio <= most)
    parts = ("train", "validation", "test")
    equal, adjusted, edges = homophily(graph)
    return {
        "classes": graph.num_classes,
        "label_balance": dict(zip(names, counts.tolist(), strict=False)),
        "balance": balance,
        "unlabelled": int((labels < 0).sum()),
        "splits": [{part: len(getattr(split, part)) for part in parts} for split in graph.splits],
        "edge_homophily": equal,
        "adjusted_homophily": adjusted,
        "edges_with_labels": edges or None,
    }


def _type_counts(graph: HeteroGraph, kind: str) -> dict[str, Any]:
    nodes = graph.nodes[kind]
    width = 0 if nodes.x is None else int(nodes.x.shape[1])
    filled = None if nodes.x is None else float(filled_per_row(nodes.x).mean() / width)
    return {
        "nodes": nodes.num_nodes,
        "features": width,
        "non_zero": filled,
        "isolated": int((graph.degrees(kind) == 0).sum()),
    }
