"""Edges between nodes whose diffused features are alike, next to the edges that a graph has.

Over both, features reach nodes that nobody has joined, though they speak of the same. Few citations
of a paper are in a data set; of those that lack, some are found so.
"""

from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.neighbors import nearest_all


def join_nearest(adjacency: Any, rows: Array, count: int, weight: float) -> Any:
    """Return the edges of a graph and those from every node to the ones most like it.

    Args:
        adjacency: The edges, a scipy csr_array.
        rows: [num_nodes, columns], diffused features. A node with a row of zeros is joined to none.
        count: Nodes that each is joined to, in both directions. Who is unlike is left out.
        weight: What new edges weigh together, next to 1 of those that the graph has.

    Returns:
        A symmetric csr_array of float64 with an empty diagonal.

    Example:
        >>> joined = join_nearest(graph.adjacency, diffused, 20, 0.3)
    """
    near, cosines = nearest_all(_centred(rows), count)
    is_alike = cosines > 0
    row, place = np.nonzero(is_alike)
    new = sparse.csr_array((np.ones(len(row)), (row, near[row, place])), shape=adjacency.shape)
    new = new.maximum(new.T)
    known = adjacency.astype(np.float64)  # whose sum a float32 may not hold
    return sparse.csr_array(known + weight * known.sum() / max(new.sum(), 1) * new)


def _centred(rows: Array) -> Array:
    """Return rows less their mean; rows of zeros stay, which are like no other row."""
    is_known = np.asarray(rows.any(axis=1))
    if not is_known.any():
        return rows
    return np.where(is_known[:, None], rows - rows[is_known].mean(axis=0), 0)
