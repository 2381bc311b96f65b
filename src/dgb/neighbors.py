"""Nearest neighbors by cosine: exact in blocks of bounded memory, by cells where n is large."""

from typing import Any

import numpy as np

from dgb.arrays import Array, row_parts, unit_rows
from dgb.cells import make_cells
from dgb.terminal import progress_bar

EXACT_NODES = 50_000  # up to here all pairs take minutes at most
BLOCK = 2**23  # similarities held at once
# A product of float32 rows is exact to about a millionth: what differs by less is a tie.
STEPS = 2**20
TOGETHER = 16  # rows at least: every block of them reads all the others
# Rows around a cell that its rows are compared with: at least, for each neighbor that is looked
# for, and for each row of the square root of rows.
LOOKED_AT, LOOKED_AT_EACH, LOOKED_AT_ROOT = 4_000, 8, 8
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
    block = max(BLOCK // len(unit), TOGETHER)
    for start in range(0, len(rows) if k else 0, block):
        part = slice(start, start + block)
        positions[part], similarities[part] = _block(unit, rows[part], k, exclude_self)
    return positions, similarities


def nearest_all(z: Any, k: int) -> tuple[Array, Array]:
    """Return what `nearest` does for all rows; above 50,000 rows most of them, by cells."""
    if len(z) > EXACT_NODES:
        return nearest_by_cells(z, k)
    return nearest(z, np.arange(len(z)), k)


def nearest_by_cells(z: Any, k: int) -> tuple[Array, Array]:
    """Return the nearest rows of all rows among those around them: most, not always all.

    A row is compared with 4,000 rows, of a million with 8,000: those of its cell and of the cells
    next to it. The same ones are found each time.
    """
    unit = unit_rows(np.asarray(z, np.float32))
    k = max(min(k, len(unit) - 1), 0)
    positions = np.empty((len(unit), k), dtype=np.int64)
    similarities = np.empty((len(unit), k), dtype=np.float32)
    wanted = max(LOOKED_AT, LOOKED_AT_EACH * k, round(LOOKED_AT_ROOT * np.sqrt(len(unit))))
    cells = make_cells(unit)
    for cell in progress_bar(range(len(cells) if k else 0), "neighbors", unit="cell"):
        around = cells.rows_around(cell, wanted)
        others, own = unit[around], cells.rows(cell)
        for part in row_parts(len(own), len(around)):
            rows = own[part]
            near = unit[rows] @ others.T
            near[np.arange(len(rows)), np.searchsorted(around, rows)] = -2
            columns, similarities[rows] = _rank(near, k)
            positions[rows] = around[columns]
    return positions, similarities


def _block(unit: Array, rows: Array, k: int, exclude_self: bool) -> tuple[Array, Array]:
    near = unit[rows] @ unit.T
    if exclude_self:
        near[np.arange(len(rows)), rows] = -2  # below any similarity
    return _rank(near, k)


def _rank(near: Array, k: int) -> tuple[Array, Array]:
    """Return the columns of the k largest of every row, and these.

    Ordered by one whole number a pair: first the similarity, falling, then the column.
    """
    count = near.shape[1]
    # What rounding may put next to the k-th counts as well.
    row, column = np.divmod(np.flatnonzero(near >= (_bound(near, k) - 2 / STEPS)[:, None]), count)
    keys = np.rint(near[row, column] * STEPS).astype(np.int64) * -count + column
    own, span = np.arange(len(near))[:, None], 5 * STEPS * count  # that keys of a row keep to
    keys = np.sort(keys + row * span)[np.searchsorted(row, own) + np.arange(k)] - own * span
    similarities = np.clip(-(keys // count) / STEPS, -1, 1)
    return keys % count, similarities.astype(np.float32)


def _bound(near: Array, k: int) -> Array:
    """Return numbers [m] that at least k of a row reach, and not many more.

    The k-th of the largest in parts of a row: one pass over all pairs, where sorting takes many.
    A part is every `count`-th column, so that the pass compares whole stretches of memory.
    """
    size = max(near.shape[1] // (PARTS * k), 1)
    count = near.shape[1] // size
    largest = near[:, : size * count].reshape(len(near), size, count).max(axis=1)
    return np.asarray(np.partition(largest, count - k, axis=1)[:, count - k])
