"""Nearest neighbors by cosine: exact in blocks of bounded memory, by cells where n is large.

Cells are rows that lie together, so that few need comparing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dgb.arrays import Array, row_parts, unit_rows
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

DENSITY = 2  # cells for each row of the square root of rows
WIDTH = 64  # principal directions that cells are told by
LEARNT = 32  # rows for each cell that its centre is learnt from
ROUNDS = 5  # of k-means
LARGEST = 8  # times the mean size: above, a cell is cut into pieces
SEED = 0


def nearest(z: Any, rows: Array, k: int) -> tuple[Array, Array]:
    """Return positions and cosines [m, k] of the k other rows of z nearest to each of m `rows`.

    Exact; ties go to the smaller position. Where z has fewer rows than k asks for, so has the
    answer fewer columns.
    """
    unit, rows = unit_rows(np.asarray(z, np.float32)), np.asarray(rows, dtype=np.int64)
    k = max(min(k, len(unit) - 1), 0)
    positions = np.empty((len(rows), k), dtype=np.int64)
    similarities = np.empty((len(rows), k), dtype=np.float32)
    block = max(BLOCK // len(unit), TOGETHER)
    for start in range(0, len(rows) if k else 0, block):
        part = slice(start, start + block)
        positions[part], similarities[part] = _rank(_compare(unit, rows[part]), k)
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


class Pairs(NamedTuple):
    """Pairs of rows that are near one another."""

    rows: Array  # whose pairs these are
    one: Array  # positions of the first ends, which rise
    other: Array  # of the second ones
    cosine: Array


def near_pairs(unit: Array, k: int, margin: float) -> Iterator[Pairs]:
    """Yield some rows at a time, and all pairs with the k others nearest to each, or as near.

    Args:
        unit: Rows of length one, in float32.
        k: Others that are looked for.
        margin: Who is less similar than the k-th by no more than this counts as well.

    Yields:
        The pairs of some rows; above 50,000 rows the k of each that `nearest_by_cells` finds.
    """
    count, k = len(unit), max(min(k, len(unit) - 1), 0)
    if count > EXACT_NODES:
        positions, similarities = nearest_by_cells(unit, k)
        rows = np.arange(count)
        yield Pairs(rows, np.repeat(rows, k), positions.ravel(), similarities.ravel())
        return
    block = max(BLOCK // max(count, 1), TOGETHER)
    for start in range(0, max(count, 1), block):  # one without pairs at least
        rows = np.arange(start, min(start + block, count))
        near = _compare(unit, rows)
        bound = _bound(near, k) - margin if k else np.full(len(rows), 2.0)
        row, column = _reaching(near, bound)
        yield Pairs(rows, rows[row], column, near[row, column])


def _compare(unit: Array, rows: Array) -> Array:
    """Return the similarities of some rows with all; to itself each is less so than to any."""
    near: Array = unit[rows] @ unit.T
    near[np.arange(len(rows)), rows] = -2
    return near


def _reaching(near: Array, bound: Array) -> tuple[Array, Array]:
    """Return rows and columns of what reaches the bound of its row."""
    return np.divmod(np.flatnonzero(near >= bound[:, None]), max(near.shape[1], 1))


def _rank(near: Array, k: int) -> tuple[Array, Array]:
    """Return the columns of the k largest of every row, and these.

    Ordered by one whole number a pair: first the similarity, falling, then the column.
    """
    count = near.shape[1]
    # What rounding may put next to the k-th counts as well.
    row, column = _reaching(near, _bound(near, k) - 2 / STEPS)
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


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows in the order of their cells, and where these begin and lie."""

    order: Array  # [n] rows, cell by cell
    starts: Array  # [cells + 1] places in the order
    centres: Array  # [cells, width]

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.centres)

    def rows(self, cell: int) -> Array:
        """Return the rows of a cell."""
        return self.order[self.starts[cell] : self.starts[cell + 1]]

    def rows_around(self, cell: int, count: int) -> Array:
        """Return at least so many rows, or all: those of a cell and of the nearest ones, rising."""
        closeness = _closeness(self.centres[[cell]], self.centres)[0]
        closeness[cell] = np.inf  # also before a piece of the same cell
        near = np.argsort(-closeness, kind="stable")
        sizes = np.diff(self.starts)[near]
        near = near[: np.searchsorted(np.cumsum(sizes), count) + 1]
        return np.sort(np.concatenate([self.rows(one) for one in near]))


def make_cells(unit: Array) -> Cells:
    """Sort rows into about 2 √n cells by k-means in their 64 principal directions.

    Always the same cells for the same rows. None is larger than eight times the mean: rows that are
    all alike, which no k-means parts, are cut into pieces.
    """
    rng, count = np.random.default_rng(SEED), max(round(DENSITY * np.sqrt(len(unit))), 1)
    count = min(count, len(unit))
    sample = unit[np.sort(rng.choice(len(unit), min(LEARNT * count, len(unit)), replace=False))]
    _, axes = np.linalg.eigh(sample.T @ sample)
    axes = np.ascontiguousarray(axes[:, ::-1][:, :WIDTH])
    centres = _learn_centres(sample @ axes, count, rng)
    nearest = _assign(unit, axes, centres)
    order = np.argsort(nearest, kind="stable")
    sizes = np.bincount(nearest, minlength=len(centres))
    return _cut(Cells(order, np.concatenate([[0], np.cumsum(sizes)]), centres))


def _learn_centres(rows: Array, count: int, rng: np.random.Generator) -> Array:
    """Return the means of k-means; one that no row is nearest to stays where it is."""
    centres = rows[rng.choice(len(rows), count, replace=False)]
    one = np.eye(rows.shape[1], dtype=rows.dtype)
    for _ in range(ROUNDS):
        place = (_assign(rows, one, centres), np.arange(len(rows)))
        members = sparse.csr_array((np.ones(len(rows), rows.dtype), place), (count, len(rows)))
        sizes = np.diff(members.indptr)[:, None]
        centres = np.where(sizes > 0, members @ rows / np.maximum(sizes, 1), centres)
        centres = centres.astype(rows.dtype)
    return np.asarray(centres)


def _assign(rows: Array, axes: Array, centres: Array) -> Array:
    """Return the centre nearest to every row, some rows at a time."""
    found = [
        _closeness(rows[part] @ axes, centres).argmax(axis=1)
        for part in row_parts(len(rows), len(centres))
    ]
    return np.concatenate(found)


def _closeness(rows: Array, centres: Array) -> Array:
    """Return numbers [m, cells] that are larger, the smaller the distance of a row to a centre."""
    near = rows @ centres.T
    near -= (centres**2).sum(axis=1) / 2
    return np.asarray(near)


def _cut(cells: Cells) -> Cells:
    """Return the cells that have rows, the large ones in pieces."""
    most = max(LARGEST * len(cells.order) // len(cells), 1)
    sizes = np.diff(cells.starts)
    pieces = -(-sizes // most)
    source = np.repeat(np.arange(len(cells)), pieces)
    turn = np.arange(len(source)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = np.append(cells.starts[source] + turn * most, len(cells.order))
    return Cells(cells.order, starts, cells.centres[source])
