"""Outliers: nodes whose features do not fit those of their neighbors, and in what they do not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array, to_dense

DIRECTIONS = 64  # that wide features are reduced to
SMALLEST = 0.6  # of the largest usual difference, that others count for at least
LEAST = 0.1  # weight of a direction in which neighbors are not alike: odd is odd there too
COLUMNS = 3  # named as the reason
SPREAD = 1.4826  # times the median deviation is the standard deviation, where numbers are normal


# Columns of x that are of one cell, and the one that flags it missing; without one, zeros do.
Group = tuple[range, int | None]


@dataclass(frozen=True, eq=False)
class Reason:
    """In which columns a node differs most from the mean of its neighbors, and from whom."""

    columns: Array  # [c] positions, the largest difference first
    own: Array  # [c] values
    usual: Array  # [c] means over the neighbors
    node: Array  # [1] its position
    neighbors: Array  # positions of all, the most unlike first


def score_outliers(low: Array, adjacency: Any) -> Array:
    """Return for every node how unusual its distance to its neighborhood is, NaN without one.

    `low` is of `reduce_features`. In each direction the difference of a node to the mean of its
    neighbors is measured by the usual difference, and weighed by how well neighbors agree in it.
    The score is how many standard deviations the length of all differences is above its median.
    """
    scores = np.full(len(low), np.nan)
    has_any = np.diff(adjacency.indptr) > 0
    if not has_any.any():
        return scores
    degree = np.diff(adjacency.indptr)[has_any][:, None]
    own, mean = low[has_any], (_ones(adjacency) @ low)[has_any] / degree
    # The mean of few neighbors is uncertain: of one it has the variance of a node.
    difference = (own - mean) / np.sqrt(1 + 1 / degree)
    usual = np.sqrt((difference**2).mean(axis=0))
    # Directions that hardly vary are of a few nodes with rare words: not to be blown up.
    usual = np.maximum(usual, SMALLEST * usual.max())
    weight = np.maximum(np.maximum(_correlations(own, mean), 0) ** 2, LEAST)
    squares = (difference / np.where(usual > 0, usual, 1)) ** 2 @ weight
    length = np.sqrt(squares / weight.sum())
    middle = np.median(length)
    spread = SPREAD * np.median(np.abs(length - middle))
    scores[has_any] = (length - middle) / (spread or 1)
    return scores


def _correlations(one: Array, other: Array) -> Array:
    """Return the correlation of every column of one with that of the other, 0 of a constant."""
    one, other = one - one.mean(axis=0), other - other.mean(axis=0)
    size = np.sqrt((one**2).sum(axis=0) * (other**2).sum(axis=0))
    return np.asarray((one * other).sum(axis=0) / np.where(size > 0, size, 1))


def explain_outlier(x: Any, adjacency: Any, low: Array, node: int) -> Reason:
    """Return what makes a node unlike its neighbors; `low` is of `reduce_features`."""
    near = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
    own = to_dense(x[[node]])[0]
    usual = to_dense(x[near]).mean(axis=0)
    order = np.argsort(-np.abs(own - usual), kind="stable")[:COLUMNS]
    order = order[~np.isclose(own[order], usual[order])]
    unlike = np.argsort(-np.linalg.norm(low[near] - low[node], axis=1), kind="stable")
    return Reason(order, own[order], usual[order], np.array([node]), near[unlike])


def reduce_features(x: Any, seed: int = 0, words: Sequence[int] = ()) -> Array:
    """Return features in at most 64 directions: as they are, or by a truncated SVD.

    The columns that words were hashed to are reduced on their own: next to hundreds of them, of
    rows brought to one length, no number would stand out.
    """
    others = np.setdiff1d(np.arange(x.shape[1]), words)
    if not len(words) or not len(others):
        return _reduce(x, seed)
    parts = (others, np.asarray(words))
    return np.concatenate([_reduce(x[:, part], seed) for part in parts], axis=1)


def _reduce(x: Any, seed: int) -> Array:
    if x.shape[1] <= DIRECTIONS:
        rows = to_dense(x)
        return np.asarray(rows - rows.mean(axis=0))
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    count = min(DIRECTIONS, min(x.shape) - 1)
    found = TruncatedSVD(count, random_state=seed % 2**32).fit_transform(normalize(x))
    return np.asarray(found)


def fill_gaps(x: Any, groups: Sequence[Group], adjacency: Any) -> Any:
    """Return features in which a cell that is missing is like that of the neighbors who have it.

    What was put there in reading, such as the median, would stand out among other neighbors.
    """
    if not groups:
        return x
    ones, columns = _ones(adjacency), sparse.csc_array(x)
    pieces, done = [], 0
    for places, flag in groups:
        part = sparse.csr_array(columns[:, places.start : places.stop])
        is_gap = np.asarray(abs(part).sum(axis=1)).ravel() == 0
        pieces += [columns[:, done : places.start]]
        done = places.stop
        if flag is not None:
            is_gap = columns[:, [flag]].toarray().ravel() > 0
            part = sparse.hstack([part, np.zeros((len(is_gap), 1))], format="csr")
            done = flag + 1
        pieces += [_fill(part, is_gap, ones)]
    filled = sparse.csr_array(sparse.hstack([*pieces, columns[:, done:]]))
    return filled if sparse.issparse(x) else filled.toarray()


def _fill(part: Any, is_gap: Array, ones: Any) -> Any:
    """Return some columns with the mean of neighbors in rows with a gap, where one has none."""
    is_known = (~is_gap).astype(np.float64)
    count = ones @ is_known
    is_filled = is_gap & (count > 0)
    mean = sparse.diags_array(is_filled / np.maximum(count, 1)) @ ones
    own = sparse.diags_array((~is_filled).astype(np.float64)) @ part
    return own + mean @ (sparse.diags_array(is_known) @ part)


def _ones(adjacency: Any) -> Any:
    ones = sparse.csr_array(adjacency, dtype=np.float64, copy=True)
    ones.data[:] = 1
    return ones
