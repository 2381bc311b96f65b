"""Diffused features in few columns: as good as a dense singular value decomposition."""

import pytest
import torch

from dgb.data.graph import Graph
from dgb.recipe import DiffusionRecipe
from dgb.views.inputs import to_features
from dgb.views.operators import make_diff
from dgb.views.product import times
from dgb.views.reduce import main_directions
from dgb.views.sparse import SparseMatrix


@pytest.mark.parametrize("count", [1, 5, 1000])
def test_as_much_is_kept_as_of_singular_vectors(graph: Graph, count: int) -> None:
    x, operator = to_features(graph.x), make_diff(graph.adjacency, DiffusionRecipe(alpha=0.2))
    dense = operator.multiply(x.dense() if isinstance(x, SparseMatrix) else x)
    exact = torch.linalg.svdvals(dense)[:count]
    v = main_directions(x, operator, count)
    assert v.shape == (graph.num_features, min(count, *graph.x.shape))
    torch.testing.assert_close(v.T @ v, torch.eye(v.shape[1]), atol=1e-4, rtol=0)
    kept = operator.multiply(times(x, v))
    torch.testing.assert_close(kept.norm(dim=0), exact[: v.shape[1]], atol=1e-3, rtol=2e-2)
    assert torch.equal(main_directions(x, operator, count), v)
