"""A list of edges becomes a symmetric matrix in little more memory than the matrix takes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dgb.progress import progress_bar

Array = NDArray[Any]
Matrix = Any  # a scipy sparse array; scipy ships no types


def symmetric(edges: Matrix, weight: Array) -> Matrix:
    """Return the CSR matrix with the largest weight of an edge at both of its places.

    `edges` is a COO matrix whose own values are not read. Loops and weights of zero go.
    """
    count = len(weight)
    # Where all weights are alike, a place needs no more than a bit until the end.
    is_even = count == 0 or bool(weight.min() == weight.max())
    with progress_bar(
        None, "adjacency", unit=" edges", total=count, unit_scale=True, delay=1
    ) as bar:
        one_way = _pattern(edges, weight) if is_even else _without_loops(edges, weight)
        bar.update(count // 3)
        other_way = sparse.csr_array(one_way.T)
        bar.update(count // 3)
        both = one_way.maximum(other_way)  # which leaves zeros out
        bar.update(count - bar.n)
    values = np.full(both.nnz, weight.max(initial=0), np.float32) if is_even else both.data
    return sparse.csr_array((values, both.indices, both.indptr), shape=edges.shape)


def _pattern(edges: Matrix, weight: Array) -> Matrix:
    row, col = edges.coords
    is_edge = row != col if weight.any() else np.zeros(len(row), bool)
    return sparse.csr_array((is_edge, (row, col)), shape=edges.shape)


def _without_loops(edges: Matrix, weight: Array) -> Matrix:
    row, col = edges.coords
    return largest_weights(edges, np.where(row != col, weight, np.float32(0)))


def largest_weights(edges: Matrix, weight: Array) -> Matrix:
    """Return one direction of a COO matrix in CSR with the largest weight of every pair."""
    row, col = edges.coords
    added = sparse.csr_array((weight, (row, col)), shape=edges.shape)
    if added.nnz == len(row):  # every pair once
        return added
    del added
    # scipy sorts by rows in linear time; columns that count the edges keep it from adding any.
    number = np.arange(len(row), dtype=col.dtype if len(row) < 2**31 else np.int64)
    by_row = sparse.csr_array((weight, (row, number)), shape=(edges.shape[0], len(row)))
    parts = (by_row.data, col[by_row.indices], by_row.indptr)
    return _largest_per_place(sparse.csr_array(parts, shape=edges.shape))


def _largest_per_place(rows: Matrix) -> Matrix:
    rows.sort_indices()
    is_first = np.ones(rows.nnz, dtype=bool)
    np.not_equal(rows.indices[1:], rows.indices[:-1], out=is_first[1:])
    starts = rows.indptr[:-1]
    is_first[starts[starts < rows.nnz]] = True
    firsts = np.flatnonzero(is_first)
    weight = np.maximum.reduceat(rows.data, firsts)
    indptr = np.searchsorted(firsts, rows.indptr).astype(rows.indptr.dtype)
    return sparse.csr_array((weight, rows.indices[firsts], indptr), shape=rows.shape)
