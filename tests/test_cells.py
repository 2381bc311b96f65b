"""Cells: every row in one of them, none too large, and the nearest ones around."""

import numpy as np
import pytest

from dgb.arrays import Array, unit_rows
from dgb.neighbors import LARGEST, make_cells


def some_rows(count: int) -> Array:
    rng = np.random.default_rng(0)
    middles = np.repeat(rng.normal(size=(10, 80)), count // 10, axis=0)
    return unit_rows((middles + 0.3 * rng.normal(size=(count, 80))).astype(np.float32))


@pytest.mark.parametrize("rows", [some_rows(2000), np.ones((2000, 3), np.float32), np.eye(3)])
def test_every_row_is_in_one_cell_and_none_is_too_large(rows: Array) -> None:
    cells = make_cells(rows)
    np.testing.assert_array_equal(np.sort(cells.order), np.arange(len(rows)))
    sizes = np.diff(cells.starts)
    assert sizes.sum() == len(rows) and sizes.min() >= 1
    mean = len(rows) / min(round(2 * np.sqrt(len(rows))), len(rows))
    assert sizes.max() <= LARGEST * mean
    np.testing.assert_array_equal(make_cells(rows).order, cells.order)


def test_rows_of_a_cell_lie_together() -> None:
    cells = make_cells(some_rows(2000))
    group = np.arange(2000) // 200
    pure = [
        (group[cells.rows(cell)] == group[cells.rows(cell)[0]]).all() for cell in range(len(cells))
    ]
    assert np.mean(pure) > 0.95
    around = cells.rows_around(5, 150)
    assert (group[around] == group[cells.rows(5)[0]]).mean() > 0.95


@pytest.mark.parametrize("count", [1, 100, 2000, 5000])
def test_around_a_cell_are_its_rows_and_at_least_so_many(count: int) -> None:
    for rows in (some_rows(2000), np.ones((2000, 3), np.float32)):
        cells = make_cells(rows)
        for cell in (0, len(cells) - 1):
            around = cells.rows_around(cell, count)
            assert len(around) >= min(count, 2000) and (np.diff(around) > 0).all()
            assert np.isin(cells.rows(cell), around).all()
            # and hardly more: the last cell of them reaches the number
            assert len(around) < min(count, 2000) + np.diff(cells.starts).max()
