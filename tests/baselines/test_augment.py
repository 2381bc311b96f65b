"""Views with fewer edges and masked columns: the shares, the symmetry, and no rescaling."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from torch import nn

from dgb.baselines.augment import StackedGCN, Views, make_views, mask_columns
from dgb.baselines.inputs import seeded
from dgb.data.graph import Graph, make_graph
from dgb.views.augment import Features
from dgb.views.features import to_features
from dgb.views.sparse import SparseMatrix
from tests.baselines.conftest import dense_features


@pytest.fixture(scope="module")
def many_edges() -> Graph:
    """Return 400 nodes, the last of them without edges, and about 8,000 weighted edges."""
    rng = np.random.default_rng(1)
    edges = np.triu(rng.random((400, 400)) < 0.1, 1) * rng.integers(1, 4, (400, 400))
    edges[:, -1] = 0
    x = sparse.random_array((400, 2000), density=0.02, rng=rng, dtype=np.float32)
    return make_graph("many-edges", sparse.csr_array(x), sparse.csr_array(edges))


def dense_p(adjacency: Any) -> Any:
    looped = adjacency + np.eye(len(adjacency))
    root = 1 / np.sqrt(looped.sum(1))
    return root[:, None] * looped * root


def test_a_tenth_of_the_undirected_edges_goes(many_edges: Graph) -> None:
    views = make_views(many_edges, 8)
    with seeded(0):
        p = views.drop_edges(0.1).dense().numpy()
    kept = (np.count_nonzero(p) - 400) / 2
    assert views.num_edges == many_edges.adjacency.nnz / 2
    assert abs(kept / views.num_edges - 0.9) < 0.015  # four standard deviations


def test_p_is_normalised_after_the_drop(many_edges: Graph) -> None:
    with seeded(0):
        p = make_views(many_edges, 8).drop_edges(0.5).dense().numpy()
    np.testing.assert_array_equal(p, p.T)
    assert (np.diag(p) > 0).all()
    assert p[-1, -1] == 1
    whole = many_edges.adjacency.toarray()
    is_kept = (p > 0) & (whole > 0)
    np.testing.assert_allclose(p, dense_p(whole * is_kept), atol=1e-6)


def test_two_views_differ_and_the_whole_one_has_all(many_edges: Graph) -> None:
    views = make_views(many_edges, 8)
    with seeded(0):
        first, second = (views.drop_edges(0.5).dense() for _ in range(2))
        nothing = views.drop_edges(0).dense()
    assert not torch.equal(first, second)
    np.testing.assert_allclose(nothing, dense_p(many_edges.adjacency.toarray()), atol=1e-6)


@pytest.mark.parametrize("is_sparse", [True, False])
def test_columns_are_masked_whole_and_not_rescaled(many_edges: Graph, *, is_sparse: bool) -> None:
    whole = torch.from_numpy(many_edges.x.toarray())
    x: Features = to_features(many_edges.x) if is_sparse else whole
    assert isinstance(x, SparseMatrix) == is_sparse
    with seeded(0):
        masked = mask_columns(x, 0.1)
    values = masked.dense() if isinstance(masked, SparseMatrix) else masked
    is_masked = (values == 0).all(0)
    assert torch.equal(values[:, ~is_masked], whole[:, ~is_masked])
    assert abs(float(is_masked.float().mean()) - 0.1) < 0.03


@pytest.mark.parametrize("propagate", [True, False])
def test_gcn_is_convolutions_over_the_view(two_blocks: Graph, *, propagate: bool) -> None:
    made = make_views(two_blocks, 8)
    views = Views(made.x, made.operator, made.loops, made.edge, made.num_edges, propagate)
    with seeded(0):
        model = StackedGCN([40, 8, 3], [nn.ReLU(), nn.Identity()])
        for bias in model.biases:
            nn.init.normal_(bias)
        view = views.draw(0.3, 0.3)
    p = view.operator.multiply(torch.eye(120))
    x = view.x.dense() if isinstance(view.x, SparseMatrix) else view.x
    assert (x == 0).all(0).any()
    hidden = (p @ x @ model.weights[0] + model.biases[0]).relu()
    expected = p @ hidden @ model.weights[1] + model.biases[1]
    torch.testing.assert_close(model(view), expected)
    some = torch.tensor([7, 2, 110])
    torch.testing.assert_close(model(view, some), expected[some])
    one = StackedGCN([40, 8], [nn.ReLU()])
    torch.testing.assert_close(one(view, some), (p @ x @ one.weights[0]).relu()[some])
    whole = torch.from_numpy(dense_p(two_blocks.adjacency.toarray())).float()
    hidden = (whole @ dense_features(two_blocks) @ model.weights[0] + model.biases[0]).relu()
    expected = whole @ hidden @ model.weights[1] + model.biases[1]
    torch.testing.assert_close(model(views.whole()), expected)
