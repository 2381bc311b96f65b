"""Which nodes have like features: every node's nearest by cosine, whatever order they come in.

Rows that are equal are one group, looked at once, and share evenly what is left of a node's places:
to take some of them and not others would be to choose by the order of nodes.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from dgb.arrays import Array
from dgb.neighbors import Pairs, near_pairs

EQUAL = 1e-5  # length of the difference of two rows of length one: rounding
TIED = 1e-6  # difference of two cosines: what float32 makes of equal ones
LAGS = 8  # rows that a row is compared with, of those in a line: few others come between equal ones
SEED = 0


class Nearest(NamedTuple):
    """Groups of nodes with equal rows, and which groups are near one another."""

    members: Any  # [num_nodes, groups], 1 where a node is in a group; rows of zeros are in none
    shares: Any  # [groups, groups], of the nodes of a group those that each of another is joined to


def find_nearest(rows: Array, count: int) -> Nearest:
    """Return the `count` nodes nearest to each, by the cosine of rows less their mean.

    Who is unlike, with a cosine of zero or less, is left out. Equal rows share places evenly; of
    groups that are equally near, those next in an order of what their rows hold are taken.
    """
    unit = _directions(rows)
    known = np.flatnonzero(unit.any(axis=1))
    group, first = _find_groups(unit[known])
    place = (np.ones(len(known)), (known, group))
    members = sparse.csr_array(place, shape=(len(rows), len(first)))
    sizes = np.bincount(group, minlength=len(first))
    found = [
        _share(pairs, sizes, count)
        for pairs in near_pairs(unit[known[first]].astype(np.float32), count, TIED)
    ]
    row, col, share = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Nearest(members, sparse.csr_array((share, (row, col)), shape=(len(first),) * 2))


def _directions(rows: Array) -> Array:
    """Return rows less their mean, of length one; rows of zeros stay, and are like no other row."""
    rows = rows.astype(np.float64)  # where no square is too large
    length = np.linalg.norm(rows, axis=1)
    centred = rows - rows.sum(axis=0) / max(np.count_nonzero(length), 1)
    left = np.linalg.norm(centred, axis=1)
    is_there = (length > 0) & (left > EQUAL * length)  # what all rows share leaves rounding
    return np.asarray(centred * np.where(is_there, 1 / np.where(is_there, left, 1), 0)[:, None])


def _find_groups(unit: Array) -> tuple[Array, Array]:
    """Return the group of every row, and a row of every group; equal rows are one group.

    Groups are numbered along a line that rows are projected on, by what they hold. On it, equal
    rows lie next to each other.
    """
    axis = np.random.default_rng(SEED).standard_normal(unit.shape[1])
    line = unit @ axis
    order = np.argsort(line, kind="stable")
    ordered, line, pairs = unit[order], line[order], [np.empty((2, 0), np.int64)]
    for lag in range(1, LAGS + 1):
        one = np.flatnonzero(line[lag:] - line[:-lag] <= EQUAL * np.linalg.norm(axis))
        apart = np.linalg.norm(ordered[one + lag] - ordered[one], axis=1)
        one = one[apart <= EQUAL]
        pairs.append(np.stack([one, one + lag]))
    row, col = np.concatenate(pairs, axis=1)
    equal = sparse.coo_array((np.ones(len(row)), (row, col)), shape=(len(unit),) * 2)
    found = connected_components(equal, directed=False)[1]
    _, first, number = np.unique(found, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    group = np.empty(len(unit), np.int64)
    group[order] = rank[number]
    return group, order[np.sort(first)]


def _share(pairs: Pairs, sizes: Array, count: int) -> tuple[Array, Array, Array]:
    """Return pairs of groups and which part of the second one each node of the first is joined to.

    Args:
        pairs: Of groups, by one row of each: at least those near enough to be taken.
        sizes: Nodes of all groups.
        count: Nodes that each is joined to.
    """
    own = pairs.rows[sizes[pairs.rows] > 1]
    row, col = np.concatenate([pairs.one, own]), np.concatenate([pairs.other, own])
    cosine = np.concatenate([pairs.cosine, np.ones(len(own))])
    size = sizes[col] - (row == col)
    last = _last_cosines(row, cosine, size, count, len(sizes))[row]
    is_near = (cosine > TIED) & (cosine >= last - TIED)
    is_tied = cosine <= last + TIED
    # Those next to a group, not the first ones: these would be taken by everybody.
    turn = np.where(is_tied, 1 + (col - row) % len(sizes), 0)
    order = np.lexsort((turn, row))
    order = order[is_near[order]]
    row, col, size = row[order], col[order], size[order]
    taken = np.clip(count - _count_before(row, size), 0, size)
    is_taken = taken > 0
    return row[is_taken], col[is_taken], (taken / size)[is_taken]


def _last_cosines(row: Array, cosine: Array, size: Array, count: int, num_rows: int) -> Array:
    """Return the cosine of every row's last place; minus infinity where places stay empty."""
    order = np.lexsort((-cosine, row))
    row, cosine, size = row[order], cosine[order], size[order]
    before = _count_before(row, size)
    is_last = (before < count) & (before + size >= count)
    last = np.full(num_rows, -np.inf)
    last[row[is_last]] = cosine[is_last]
    return last


def _count_before(row: Array, size: Array) -> Array:
    """Return the sum of the sizes before each, of the same row; rows rise."""
    before = np.cumsum(size) - size
    starts = np.searchsorted(row, row)
    return np.asarray(before - before[starts])
