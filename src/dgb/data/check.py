"""What a graph counts, for looking at data before training on it."""

from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.graph import Array, Features, Graph


def check_graph(graph: Graph) -> dict[str, Any]:
    """Count what matters before training: sizes, gaps, components, classes, splits, homophily."""
    from scipy.sparse.csgraph import connected_components

    filled = _filled_per_row(graph.x)
    return {
        "name": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "feature_density": float(filled.sum() / (graph.num_nodes * graph.num_features)),
        "isolated_nodes": int((np.diff(graph.adjacency.indptr) == 0).sum()),
        "rows_without_features": int((filled == 0).sum()),
        "components": int(connected_components(graph.adjacency, directed=False)[0]),
        "classes": graph.num_classes,
        "label_balance": _label_balance(graph),
        "unlabelled": 0 if graph.labels is None else int((graph.labels < 0).sum()),
        "splits": [
            {
                "train": len(split.train),
                "validation": len(split.validation),
                "test": len(split.test),
            }
            for split in graph.splits
        ],
        "edge_homophily": edge_homophily(graph),
    }


def edge_homophily(graph: Graph) -> float | None:
    """Give the share of edges that join equal labels, of those whose two ends are labelled."""
    if graph.labels is None:
        return None
    edges = sparse.coo_array(graph.adjacency)
    ends = graph.labels[edges.coords[0]], graph.labels[edges.coords[1]]
    is_known = (ends[0] >= 0) & (ends[1] >= 0)
    return float((ends[0] == ends[1])[is_known].mean()) if is_known.any() else None


def _filled_per_row(x: Features) -> Array:
    return np.asarray((x != 0).sum(axis=1)).ravel()


def _label_balance(graph: Graph) -> dict[str, int]:
    if graph.labels is None:
        return {}
    counts = np.bincount(graph.labels[graph.labels >= 0], minlength=graph.num_classes)
    names = graph.label_names or tuple(str(label) for label in range(len(counts)))
    return {name: int(count) for name, count in zip(names, counts, strict=False)}
