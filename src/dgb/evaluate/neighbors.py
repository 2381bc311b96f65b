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
    for start in range(0, len(rows), block):
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
    keys = np.rint(unit[rows] @ unit.T * STEPS).astype(np.int64)
    if exclude_self:
        keys[np.arange(len(rows)), rows] = -2 * STEPS  # below any similarity
    keys *= -num_rows
    keys += np.arange(num_rows)
    if 0 < k < num_rows:
        keys = np.partition(keys, k - 1, axis=1)
    keys = np.sort(keys[:, :k], axis=1)
    similarities = np.clip(-(keys // num_rows) / STEPS, -1, 1)
    return keys % num_rows, similarities.astype(np.float32)
