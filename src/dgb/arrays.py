"""Arrays of numbers: rows some at a time, sums of sparse rows, and symmetric matrices."""

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dgb.terminal import progress_bar

Array = NDArray[Any]
NUMBERS = 2**23  # of a matrix at a time: several copies of them are made
NONZEROS = 2**22  # of a sparse matrix at a time: each takes some float64 on the way


def row_parts(num_rows: int, width: int) -> list[slice]:
    """Return slices of rows that hold at most 2²³ numbers each; together they are all rows."""
    step = max(NUMBERS // max(width, 1), 1)
    return [slice(i, min(i + step, num_rows)) for i in range(0, num_rows, step)]


def nonzero_parts(starts: NDArray[Any]) -> list[slice]:
    """Return slices of rows that hold about 2²² non-zeros each, by the row starts of a CSR."""
    count = -(-int(starts[-1]) // NONZEROS)
    wanted = np.arange(1, count) * NONZEROS
    cuts = np.unique(np.concatenate([[0], np.searchsorted(starts, wanted), [len(starts) - 1]]))
    return [slice(int(i), int(j)) for i, j in pairwise(cuts)]


def are_finite(values: NDArray[Any]) -> bool:
    """Tell whether an array holds neither NaN nor infinity."""
    # By its ends: NaN comes through both, and no array of answers is made.
    return values.size == 0 or bool(np.isfinite(values.min()) and np.isfinite(values.max()))


def to_dense(rows: Any) -> Array:
    """Return rows, dense or sparse, as an ordinary array of float64."""
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, np.float64)


def column_spread(x: Any) -> tuple[Array, Array]:
    """Return mean and standard deviation of every column; sparse ones are not filled."""
    # From the first row on: squares of numbers far from zero would hide how little they differ.
    first = np.zeros(x.shape[1]) if sparse.issparse(x) else np.asarray(x[:1], np.float64).sum(0)
    total, squares = np.zeros((2, x.shape[1]))
    for rows in row_parts(*x.shape):
        part = x[rows].astype(np.float64)
        part = part if sparse.issparse(x) else part - first
        total += np.asarray(part.sum(axis=0)).ravel()
        squares += np.asarray((part * part).sum(axis=0)).ravel()
    mean = total / max(x.shape[0], 1)
    variance = squares / max(x.shape[0], 1) - mean**2
    return first + mean, np.sqrt(np.maximum(variance, 0))


def canonical_rows(matrix: Any) -> Any:
    """Return the matrix in CSR with sorted places and float values, itself where it is so."""
    is_float = matrix.dtype in (np.float32, np.float64)
    rows = sparse.csr_array(matrix if is_float else matrix.astype(np.float64))
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def row_sums(rows: Any) -> NDArray[Any]:
    """Return the sum of every row in float64, without a copy of all values."""
    sums = []
    for part in nonzero_parts(rows.indptr):
        starts = rows.indptr[part.start : part.stop + 1]
        here = slice(starts[0], starts[-1])
        block = (rows.data[here].astype(np.float64), rows.indices[here], starts - starts[0])
        shape = (part.stop - part.start, rows.shape[1])
        sums.append(np.asarray(sparse.csr_array(block, shape=shape).sum(axis=1)).ravel())
    return np.concatenate(sums)


def unit_rows(x: Array) -> Array:
    """Scale dense rows to length one; rows of zeros stay."""
    length = np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]  # without a copy of x
    return np.asarray(x / np.where(length == 0, 1, length))


Matrix = Any  # a scipy sparse array; scipy ships no types


def principal_rows(rows: Array, width: int, seed: int) -> Array:
    """Return the first principal components of dense rows, as many as there are up to `width`."""
    from sklearn.decomposition import PCA

    count = min(width, *rows.shape)
    method = PCA(count, svd_solver="randomized", random_state=seed % 2**32)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # rows without any variance have no shares of it
        return np.asarray(method.fit_transform(rows))


def symmetric(edges: Matrix, weight: Array) -> Matrix:
    """Return the CSR matrix with the largest weight of an edge at both of its places.

    `edges` is a COO matrix whose own values are not read. Loops and weights of zero go.
    """
    count = len(weight)
    # Where all weights are alike, a place needs no more than a bit until the end.
    is_even = count == 0 or bool(weight.min() == weight.max())
    steps = {"total": count, "unit_scale": True, "delay": 1}
    with progress_bar(None, "adjacency", unit=" edges", **steps) as bar:
        if is_even:
            one_way = _pattern(edges, weight)
        else:
            row, col = edges.coords
            one_way = largest_weights(edges, np.where(row != col, weight, np.float32(0)))
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
    rows = sparse.csr_array(parts, shape=edges.shape)
    rows.sort_indices()
    is_first = np.ones(rows.nnz, dtype=bool)
    np.not_equal(rows.indices[1:], rows.indices[:-1], out=is_first[1:])
    starts = rows.indptr[:-1]
    is_first[starts[starts < rows.nnz]] = True
    firsts = np.flatnonzero(is_first)
    largest = np.maximum.reduceat(rows.data, firsts)
    indptr = np.searchsorted(firsts, rows.indptr).astype(rows.indptr.dtype)
    return sparse.csr_array((largest, rows.indices[firsts], indptr), shape=rows.shape)
