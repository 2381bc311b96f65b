"""How far edges join nodes of equal labels."""

import numpy as np
from scipy import sparse

from dgb.data.graph import Array, Graph


def edge_homophily(graph: Graph) -> float | None:
    """Give the share of edges that join equal labels, of those whose two ends are labelled."""
    ends = _labelled_ends(graph)
    return None if ends is None else float((ends[0] == ends[1]).mean())


def adjusted_homophily(graph: Graph) -> float | None:
    """Give the edge homophily beyond chance: 1 at most, 0 where labels do not matter to edges.

    (h − Σ p²) / (1 − Σ p²) of Platonov et al. (2023), p the classes' shares of all ends of edges.
    """
    ends = _labelled_ends(graph)
    if ends is None:
        return None
    shares = np.bincount(ends[0]) / len(ends[0])  # each edge stands in both directions
    chance = float((shares**2).sum())
    return None if chance == 1 else (float((ends[0] == ends[1]).mean()) - chance) / (1 - chance)


def _labelled_ends(graph: Graph) -> tuple[Array, Array] | None:
    if graph.labels is None:
        return None
    edges = sparse.coo_array(graph.adjacency)
    one, other = graph.labels[edges.coords[0]], graph.labels[edges.coords[1]]
    is_known = (one >= 0) & (other >= 0)
    return (one[is_known], other[is_known]) if is_known.any() else None
