"""Rows of many nodes sorted into cells of rows that lie together, so that few need comparing."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from dgb.arrays import Array, row_parts

DENSITY = 2  # cells for each row of the square root of rows
WIDTH = 64  # principal directions that cells are told by
LEARNT = 32  # rows for each cell that its centre is learnt from
ROUNDS = 5  # of k-means
LARGEST = 8  # times the mean size: above, a cell is cut into pieces
SEED = 0


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
    axes = _principal_axes(sample)
    centres = _learn_centres(sample @ axes, count, rng)
    nearest = _assign(unit, axes, centres)
    order = np.argsort(nearest, kind="stable")
    sizes = np.bincount(nearest, minlength=len(centres))
    return _cut(Cells(order, np.concatenate([[0], np.cumsum(sizes)]), centres))


def _principal_axes(sample: Array) -> Array:
    _, axes = np.linalg.eigh(sample.T @ sample)
    return np.ascontiguousarray(axes[:, ::-1][:, :WIDTH])


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
