"""Nearest neighbors by cosine: exact in blocks of bounded memory, by an index where n is large."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from dgb.arrays import Array, unit_rows
from dgb.terminal import log

EXACT_NODES = 50_000  # up to here all pairs take minutes at most
BLOCK = 2**23  # similarities held at once
# A product of float32 rows is exact to about a millionth: what differs by less is a tie.
STEPS = 2**20
PARTS = 16  # of a row, for each neighbor that is looked for


def nearest(z: Any, rows: Array, k: int, *, exclude_self: bool = True) -> tuple[Array, Array]:
    """Return positions and cosines [m, k] of the k rows of z nearest to each of the m `rows`.

    Exact; ties go to the smaller position. Where z has fewer rows than k asks for, so has the
    answer fewer columns.
    """
    unit, rows = unit_rows(np.asarray(z, np.float32)), np.asarray(rows, dtype=np.int64)
    k = max(min(k, len(unit) - exclude_self), 0)
    positions = np.empty((len(rows), k), dtype=np.int64)
    similarities = np.empty((len(rows), k), dtype=np.float32)
    block = max(BLOCK // len(unit), 1)
    for start in range(0, len(rows) if k else 0, block):
        part = slice(start, start + block)
        positions[part], similarities[part] = _block(unit, rows[part], k, exclude_self)
    return positions, similarities


def nearest_all(z: Any, k: int) -> tuple[Array, Array]:
    """Return what `nearest` does for all rows; above 50,000 rows by usearch's index, if there."""
    num_rows = len(z)
    if num_rows > EXACT_NODES:
        if find_spec("usearch"):
            return nearest_by_index(z, k)
        log(
            f"comparing all pairs of {num_rows:,} nodes; an index is quicker: "
            "pip install 'deep-graph-bootstrapping[index]'"
        )
    return nearest(z, np.arange(num_rows), k)


def nearest_by_index(z: Any, k: int) -> tuple[Array, Array]:
    """Return the nearest rows of all rows as usearch's index finds them: most, not always all."""
    unit = unit_rows(np.asarray(z, np.float32))
    k = max(min(k, len(unit) - 1), 0)
    everyone = np.arange(len(unit))
    # One thread: the order in which rows are added shapes the index.
    index = import_module("usearch.index").Index(ndim=unit.shape[1], metric="ip", dtype="f32")
    index.add(everyone, unit, threads=1)
    found = index.search(unit, k + 1, threads=1)
    keys, distances = np.asarray(found.keys, dtype=np.int64), np.asarray(found.distances)
    is_self = keys == everyone[:, None]
    is_self[~is_self.any(axis=1), -1] = True  # a row that did not find itself loses its last
    positions = keys[~is_self].reshape(len(unit), k)
    similarities = np.clip(1 - distances[~is_self], -1, 1).reshape(len(unit), k).astype(np.float32)
    few = np.flatnonzero(np.asarray(found.counts) <= k)
    positions[few], similarities[few] = nearest(unit, few, k)
    return positions, similarities


def _block(unit: Array, rows: Array, k: int, exclude_self: bool) -> tuple[Array, Array]:
    """Order by one whole number a pair: first the similarity, falling, then the position."""
    num_rows = len(unit)
    near = unit[rows] @ unit.T
    if exclude_self:
        near[np.arange(len(rows)), rows] = -2  # below any similarity
    # What rounding may put next to the k-th counts as well.
    row, position = np.nonzero(near >= (_bound(near, k) - 2 / STEPS)[:, None])
    keys = np.rint(near[row, position] * STEPS).astype(np.int64) * -num_rows + position
    own, span = np.arange(len(rows))[:, None], 5 * STEPS * num_rows  # that keys of a row keep to
    keys = np.sort(keys + row * span)[np.searchsorted(row, own) + np.arange(k)] - own * span
    similarities = np.clip(-(keys // num_rows) / STEPS, -1, 1)
    return keys % num_rows, similarities.astype(np.float32)


def _bound(near: Array, k: int) -> Array:
    """Return numbers [m] that at least k of a row reach, and not many more.

    The k-th of the largest in parts of a row: one pass over all pairs, where sorting takes many.
    """
    size = max(near.shape[1] // (PARTS * k), 1)
    count = near.shape[1] // size
    largest = near[:, : size * count].reshape(len(near), count, size).max(axis=2)
    return np.asarray(np.partition(largest, count - k, axis=1)[:, count - k])
