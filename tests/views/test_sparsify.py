"""Top-k and threshold against a dense S."""

from typing import Any

import numpy as np
import pytest
import torch

from dgb.arrays import Array
from dgb.recipe import DiffusionRecipe
from dgb.views import operators as module
from dgb.views.operators import make_diff
from dgb.views.sparse import SparseMatrix


def dense(adjacency: Any, **settings: Any) -> Array:
    operator = make_diff(adjacency, DiffusionRecipe(error=1e-9, **settings), torch.float64)
    return operator.multiply(torch.eye(adjacency.shape[0], dtype=torch.float64)).numpy()


@pytest.mark.parametrize("kernel", ["ppr", "heat"])
def test_top_k_keeps_the_largest_of_a_row_unchanged(adjacency: Any, kernel: str) -> None:
    whole, cut = dense(adjacency, kernel=kernel), dense(adjacency, kernel=kernel, top_k=3)
    for row, kept in zip(whole, cut, strict=True):
        largest = np.sort(row[row > 1e-12])[::-1][:3]
        np.testing.assert_allclose(np.sort(kept[kept > 0])[::-1], largest, rtol=1e-6)


def test_k_above_n_keeps_all(adjacency: Any) -> None:
    np.testing.assert_allclose(dense(adjacency, top_k=500), dense(adjacency), atol=1e-9)


def test_threshold_drops_what_is_below(adjacency: Any) -> None:
    whole = dense(adjacency)
    expected = np.where(whole >= 0.07, whole, 0)
    np.testing.assert_allclose(dense(adjacency, threshold=0.07), expected, atol=1e-9)
    assert 0 < np.count_nonzero(expected) < np.count_nonzero(whole)


def test_blocks_of_rows_do_not_matter(adjacency: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = dense(adjacency, top_k=4)
    monkeypatch.setattr(module, "BLOCK", 5)
    np.testing.assert_allclose(dense(adjacency, top_k=4), whole, atol=1e-12)


def test_result_is_explicit_and_sparse(adjacency: Any) -> None:
    operator = make_diff(adjacency, DiffusionRecipe(top_k=2))
    assert isinstance(operator, SparseMatrix)
    assert len(operator.values) <= 24
