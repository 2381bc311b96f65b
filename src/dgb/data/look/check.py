"""What a graph counts, for looking at data before training on it."""

from typing import Any

import numpy as np

from dgb.data.graph import Array, Graph
from dgb.data.look.feature_check import constant_columns, count_repeated_rows, filled_per_row
from dgb.data.look.homophily import adjusted_homophily, edge_homophily

_EVEN, _UNEVEN = 2, 10  # times that the largest class is as large as the smallest


def check_graph(graph: Graph) -> dict[str, Any]:
    """Count what matters before training: sizes, gaps, components, classes, splits, homophily."""
    return _edge_counts(graph) | _feature_counts(graph) | label_counts(graph)


def _edge_counts(graph: Graph) -> dict[str, Any]:
    from scipy.sparse.csgraph import connected_components

    degree = np.diff(graph.adjacency.indptr)
    components, members = connected_components(graph.adjacency, directed=False)
    n = graph.num_nodes
    return {
        "name": graph.name,
        "nodes": n,
        "edges": graph.num_edges,
        "density": 2 * graph.num_edges / (n * (n - 1)),
        "degree": {
            "min": int(degree.min()),
            "median": float(np.median(degree)),
            "max": int(degree.max()),
        },
        "isolated_nodes": int((degree == 0).sum()),
        "components": int(components),
        "largest_component": float(np.bincount(members).max() / n),
    }


def _feature_counts(graph: Graph) -> dict[str, Any]:
    filled = filled_per_row(graph.x)
    return {
        "features": graph.num_features,
        "feature_density": float(filled.sum() / (graph.num_nodes * graph.num_features)),
        "rows_without_features": int((filled == 0).sum()),
        "repeated_feature_rows": count_repeated_rows(graph.x),
        "constant_columns": len(constant_columns(graph)),
    }


def label_counts(graph: Graph) -> dict[str, Any]:
    """Count classes, nodes without a label, and splits, and tell how far edges join equals."""
    sizes = class_sizes(graph)
    parts = ("train", "validation", "test")
    return {
        "classes": graph.num_classes,
        "label_balance": sizes,
        "balance": _balance(np.array(list(sizes.values()))),
        "unlabelled": 0 if graph.labels is None else int((graph.labels < 0).sum()),
        "splits": [{part: len(getattr(split, part)) for part in parts} for split in graph.splits],
        "edge_homophily": edge_homophily(graph),
        "adjusted_homophily": adjusted_homophily(graph),
    }


def class_sizes(graph: Graph) -> dict[str, int]:
    """Count the nodes of each class by its name."""
    if graph.labels is None:
        return {}
    counts = np.bincount(graph.labels[graph.labels >= 0], minlength=graph.num_classes)
    names = graph.label_names or tuple(str(label) for label in range(len(counts)))
    return {name: int(count) for name, count in zip(names, counts, strict=False)}


def _balance(sizes: Array) -> str | None:
    sizes = sizes[sizes > 0]
    if len(sizes) < 2:
        return None
    ratio = sizes.max() / sizes.min()
    return "even" if ratio <= _EVEN else "uneven" if ratio <= _UNEVEN else "very uneven"
