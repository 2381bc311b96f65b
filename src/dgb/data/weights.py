"""Weights of edges: what becomes of an edge that is listed several times, and their scale."""

from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.checked import check_weights

Matrix = Any  # a scipy sparse array; scipy ships no types
_REPEATS = {
    "max": "each edge counts once, with its largest weight (data.repeats=sum adds them up, count "
    "counts them)",
    "sum": "their weights were added up (data.repeats=sum)",
    "count": "an edge weighs as often as it is listed (data.repeats=count)",
}


def merge_repeats(edges: Matrix, repeats: str, notes: list[str]) -> Matrix:
    """Return a matrix of edges in which those that are listed several times are added or counted.

    The two directions are added as well, unless every edge is listed both ways: then that is how
    the file says that edges have no direction. With `max` it is what it was: a Graph keeps the
    largest weight, and says so itself.
    """
    if repeats == "max":
        return edges
    edges = sparse.coo_array(edges)
    weight = check_weights(edges.data)
    weight = (weight if repeats == "sum" else weight > 0).astype(np.float64)
    notes += note_zeros(edges)
    is_edge = (edges.coords[0] != edges.coords[1]) & (weight > 0)
    ends = tuple(end[is_edge] for end in edges.coords)
    one_way = sparse.csr_array((weight[is_edge], ends), shape=edges.shape)
    other_way = sparse.csr_array(one_way.T)
    merged = one_way if (one_way != other_way).nnz == 0 else one_way + other_way
    notes += note_repeats(edges, merged, repeats)
    return merged


def note_zeros(edges: Matrix) -> tuple[str, ...]:
    """Say how many edges of a matrix weigh nothing, and so are none."""
    count = len(edges.data) - int(np.count_nonzero(edges.data))
    return (f"edges of weight 0, left out: {count:,}",) if count else ()


def note_repeats(edges: Matrix, adjacency: Matrix, repeats: str = "max") -> tuple[str, ...]:
    """Say how many entries of a matrix of edges repeat others, if any, given what it became."""
    row, column = edges.coords
    is_edge = (row != column) & (edges.data != 0)
    count, once = int(is_edge.sum()), adjacency.nnz // 2
    if count == once:
        return ()
    ends = (row[is_edge], column[is_edge])
    one_way = sparse.csr_array((np.ones(count, bool), ends), shape=edges.shape).nnz
    # Every edge in both directions is how many files list edges without any.
    more = count - (one_way if one_way == adjacency.nnz else once)
    what = f"edges listed again, also in the other direction: {more:,} of {count:,}"
    return (f"{what}; {_REPEATS[repeats]}",) if more else ()


def scale_weights(adjacency: Matrix, form: str) -> Matrix:
    """Return the adjacency with weights of log(1 + w), divided by their mean, or all 1.

    A graph without weights is left as it is.
    """
    weight = adjacency.data
    if form == "as-is" or not has_weights(adjacency):
        return adjacency
    if form == "none":
        scaled = np.ones_like(weight)
    else:
        scaled = np.log1p(weight) if form == "log" else weight / weight.mean(dtype=np.float64)
    parts = (scaled.astype(np.float32), adjacency.indices, adjacency.indptr)
    return sparse.csr_array(parts, shape=adjacency.shape)


def has_weights(adjacency: Matrix) -> bool:
    """Tell whether any edge weighs more or less than 1."""
    return bool((adjacency.data != 1).any())
