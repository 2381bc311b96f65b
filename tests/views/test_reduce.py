"""Diffused features in few columns: as good as a dense singular value decomposition."""

import numpy as np
import pytest
import torch

from dgb.data.graph import Graph
from dgb.recipe import DiffusionRecipe
from dgb.views.features import Store, row_factors, row_normalise, to_features
from dgb.views.operators import make_diff
from dgb.views.reduce import DiffusedFeatures, main_directions
from dgb.views.sparse import SparseMatrix


def dense_product(diffused: DiffusedFeatures) -> torch.Tensor:
    x = diffused.x
    return diffused.operator.multiply(x.dense() if isinstance(x, SparseMatrix) else x)


@pytest.fixture
def diffused(graph: Graph) -> DiffusedFeatures:
    operator = make_diff(graph.adjacency, DiffusionRecipe(alpha=0.2))
    return DiffusedFeatures(to_features(graph.x), operator)


@pytest.mark.parametrize("count", [1, 5, 1000])
def test_as_much_is_kept_as_of_singular_vectors(
    graph: Graph, diffused: DiffusedFeatures, count: int
) -> None:
    exact = torch.linalg.svdvals(dense_product(diffused))[:count]
    v = main_directions(diffused, count)
    assert v.shape == (graph.num_features, min(count, graph.num_features))
    torch.testing.assert_close(v.T @ v, torch.eye(v.shape[1]), atol=1e-4, rtol=0)
    kept = diffused.multiply(v)
    if count < graph.num_features:
        torch.testing.assert_close(kept.norm(dim=0), exact, atol=1e-3, rtol=2e-2)
    else:  # all columns as they are
        torch.testing.assert_close(kept, dense_product(diffused))
    assert torch.equal(main_directions(diffused, count), v)


def test_rows_that_are_scaled_when_used_and_parts_of_columns_change_nothing(
    graph: Graph, diffused: DiffusedFeatures
) -> None:
    whole = DiffusedFeatures(to_features(row_normalise(graph.x)), diffused.operator)
    scale = torch.from_numpy(row_factors(graph.x))
    parts = DiffusedFeatures(diffused.x, diffused.operator, scale, Store(columns=2))
    v = main_directions(whole, 5)
    torch.testing.assert_close(main_directions(parts, 5), v, atol=1e-4, rtol=0)
    out = torch.empty(graph.num_nodes, 5)
    parts.write(v, out)
    torch.testing.assert_close(out, whole.multiply(v), atol=1e-6, rtol=1e-5)


def test_directions_that_hold_nothing_are_zeros(diffused: DiffusedFeatures) -> None:
    rows = np.zeros(diffused.x.shape, np.float32)
    rows[:, :2] = np.random.default_rng(0).random((len(rows), 2)) + 0.1
    few = DiffusedFeatures(torch.from_numpy(rows), diffused.operator)
    v = main_directions(few, 5)
    assert v.shape[1] == 5 and torch.equal(v[:, 2:], torch.zeros(len(v), 3))
    torch.testing.assert_close(v[:, :2].norm(dim=0), torch.ones(2))
    none = DiffusedFeatures(torch.zeros(diffused.x.shape), diffused.operator)
    assert not main_directions(none, 5).any()
