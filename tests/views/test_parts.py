"""Operators that are made some rows at a time are those made at once, bit for bit."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dgb import arrays as parts
from dgb.recipe import DiffusionRecipe
from dgb.views.features import row_factors, row_normalise
from dgb.views.operators import make_adj, make_diff, transition
from dgb.views.sparse import SparseMatrix, sparse_matrix


def at_once(adjacency: Any, *, self_loops: bool) -> Any:
    """Return the product of whole matrices in float64."""
    a = adjacency.toarray().astype(np.float64) + self_loops * np.eye(adjacency.shape[0])
    degree = np.array([sum(row[row > 0].tolist()) for row in a])  # one by one, from the left
    inverse = 1 / np.sqrt(np.where(degree > 0, degree, 1.0))
    return (inverse[:, None] * a) * inverse


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("nonzeros", [1, 3, 2**22])
def test_transition_is_the_same_in_parts(
    adjacency: Any, monkeypatch: pytest.MonkeyPatch, self_loops: bool, nonzeros: int
) -> None:
    monkeypatch.setattr(parts, "NONZEROS", nonzeros)
    before = adjacency.copy()
    wanted = at_once(adjacency, self_loops=self_loops)
    for dtype in (np.float32, np.float64):
        found, _ = transition(adjacency, self_loops=self_loops, dtype=dtype)
        assert found.dtype == dtype and found.has_sorted_indices
        np.testing.assert_array_equal(found.toarray(), wanted.astype(dtype))
    np.testing.assert_array_equal(adjacency.data, before.data)
    np.testing.assert_array_equal(adjacency.indices, before.indices)


def test_transition_of_whole_numbers_of_a_diagonal_and_of_repeated_places() -> None:
    counts = sparse.csr_array(np.array([[2, 1], [1, 0]], np.int64))
    found, root = transition(counts, self_loops=True)
    np.testing.assert_allclose(found.toarray(), [[3 / 4, 8**-0.5], [8**-0.5, 1 / 2]])
    np.testing.assert_allclose(root, [2, 2**0.5])
    twice = sparse.csr_array((np.ones(4), [1, 1, 0, 0], [0, 2, 4]), shape=(2, 2))
    np.testing.assert_allclose(transition(twice, self_loops=False)[0].toarray(), [[0, 1], [1, 0]])
    assert twice.nnz == 4  # the given matrix stays as it is


def test_operators_take_the_places_of_the_adjacency_without_a_copy(adjacency: Any) -> None:
    diffusion = make_diff(adjacency, DiffusionRecipe(self_loops=False))
    assert not isinstance(diffusion, SparseMatrix)
    t = diffusion.transition
    assert isinstance(t, SparseMatrix)
    assert np.shares_memory(t.pattern.col.numpy(), adjacency.indices)
    assert not np.shares_memory(t.values.numpy(), adjacency.data)
    assert not np.shares_memory(make_adj(adjacency).pattern.col.numpy(), adjacency.indices)


def test_a_matrix_that_must_not_be_written_to_is_taken_without_a_warning(
    adjacency: Any, recwarn: pytest.WarningsRecorder
) -> None:
    for array in (adjacency.data, adjacency.indices, adjacency.indptr):
        array.setflags(write=False)
    matrix = sparse_matrix(adjacency, is_symmetric=True)
    np.testing.assert_array_equal(matrix.dense().numpy(), adjacency.toarray())
    assert not recwarn.list


@pytest.mark.parametrize("numbers", [1, 20, 2**25])
def test_rows_are_normalised_the_same_in_parts(
    monkeypatch: pytest.MonkeyPatch, numbers: int
) -> None:
    x = np.random.default_rng(0).normal(size=(23, 7)).astype(np.float32)
    x[4] = 0
    total = np.abs(x).astype(np.float64).sum(axis=1)
    factors = (1 / np.where(total > 0, total, 1)).astype(np.float32)
    monkeypatch.setattr(parts, "NUMBERS", numbers)
    assert row_factors(x).dtype == np.float32
    np.testing.assert_array_equal(row_factors(x), factors)
    np.testing.assert_array_equal(row_normalise(x), x * factors[:, None])
    np.testing.assert_allclose(row_normalise(sparse.csr_array(x)).toarray(), x * factors[:, None])
