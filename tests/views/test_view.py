"""Views: parsing, every pairing, both orders of the product, sparse products on any device."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap
from dgb.model.encoder import GCNEncoder
from dgb.model.loss import symmetric_loss
from dgb.recipe import Recipe, ViewRecipe
from dgb.views import view as view_module
from dgb.views.augment import Features, parse_view
from dgb.views.features import row_normalise
from dgb.views.inputs import make_inputs
from dgb.views.operators import make_adj
from dgb.views.product import product, times
from dgb.views.sampler import make_view
from dgb.views.sparse import SparseMatrix, scatter_product, sparse_matrix
from dgb.views.view import transform_both
from tests.conftest import draw_views

CPU = torch.device("cpu")


def test_a_view_is_read_as_table_3_writes_it() -> None:
    spec = parse_view(ViewRecipe("NFD + ND + DIFF", nfd_drop_rate=0.2, nd_drop_rate=0.4))
    assert spec.features == (("nfd", 0.2), ("nd", 0.4))
    assert spec.operator == "diff"
    assert parse_view(ViewRecipe("in+adj")).features == ()


@pytest.mark.parametrize("wrong", ["", "adj", "nfd", "nfd+ppr", "drop+adj", "nfd+adj+diff"])
def test_a_wrong_view_names_what_is_allowed(wrong: str) -> None:
    with pytest.raises(DGBError, match="in, nfd, nd"):
        parse_view(ViewRecipe(wrong))


KINDS = [f"{n}+{o}" for n, o in itertools.product(("in", "nfd", "nd"), ("adj", "diff"))]


@pytest.mark.parametrize(
    ("first", "second"), list(itertools.combinations_with_replacement(KINDS, 2))
)
def test_any_pair_of_views_trains(
    blocks: Graph, generator: torch.Generator, first: str, second: str
) -> None:
    sets = [f"view1.augment={first}", f"view2.augment={second}", "encoder.width=8"]
    recipe = load_recipe("paper", [*sets, "heads.hidden=8", "heads.width=8"])
    inputs = make_inputs(blocks, recipe, CPU)
    model = Bootstrap(blocks.num_features, recipe, generator)
    loss = symmetric_loss(model(*draw_views(inputs, recipe, generator)))
    loss.backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(loss)
    assert all(w.grad is not None and w.grad.abs().sum() > 0 for w in model.encoder.weights)


def test_each_view_has_its_own_rates(blocks: Graph, generator: torch.Generator) -> None:
    sets = ["view1.nfd_drop_rate=0.0", "view2.augment=nfd+adj", "view2.nfd_drop_rate=0.9"]
    recipe = load_recipe("paper", sets)
    inputs = make_inputs(blocks, recipe, CPU)
    view1, view2 = draw_views(inputs, recipe, generator)
    assert isinstance(view1.x, SparseMatrix) and isinstance(view2.x, SparseMatrix)
    assert len(view1.x.values) == blocks.x.nnz
    assert len(view2.x.values) < 0.2 * blocks.x.nnz


@pytest.mark.parametrize("operator", ["adj", "diff"])
def test_both_orders_of_the_product_agree(blocks: Graph, operator: str) -> None:
    recipe: Recipe = load_recipe("paper", [f"view1.augment=nfd+nd+{operator}"])
    inputs = make_inputs(blocks, recipe, CPU)
    weight = torch.randn(blocks.num_features, 7, requires_grad=True)
    results = []
    for propagate in ((), (1,)):
        generator = torch.Generator().manual_seed(4)
        spec = parse_view(recipe.view1)
        view = make_view(inputs, spec, generator, propagate=propagate)
        out = view.transform(weight)
        (grad,) = torch.autograd.grad(out.square().sum(), weight)
        results.append((out, grad))
    torch.testing.assert_close(results[0], results[1], atol=1e-5, rtol=1e-4)


def test_dropping_stored_zeros_changes_no_product(generator: torch.Generator) -> None:
    rng = np.random.default_rng(0)
    full = sparse_matrix(sparse.csr_array(rng.random((9, 6)) * (rng.random((9, 6)) < 0.6)))
    zeroed = full.with_values(full.values * (full.values > 0.5))
    smaller = zeroed.without_zeros()
    assert 0 < len(smaller.values) < len(full.values)
    assert torch.equal(smaller.dense(), zeroed.dense())
    right = torch.randn(6, 3, dtype=torch.float64, generator=generator)
    left = torch.randn(9, 3, dtype=torch.float64, generator=generator)
    torch.testing.assert_close(smaller.multiply(right), zeroed.multiply(right))
    torch.testing.assert_close(smaller.multiply_transposed(left), zeroed.multiply_transposed(left))


def test_columns_that_meet_dropped_nodes_change_no_result(blocks: Graph) -> None:
    sets = ["view2.augment=nd+diff", "view2.nd_drop_rate=0.6", "diffusion.top_k=9"]
    recipe = load_recipe("paper", [*sets, "encoder.layers=2", "encoder.width=5"])
    inputs = make_inputs(blocks, recipe, CPU)
    spec = parse_view(recipe.view2)
    view = make_view(inputs, spec, torch.Generator().manual_seed(1))
    assert isinstance(view.reach, SparseMatrix) and isinstance(view.operator, SparseMatrix)
    assert len(view.reach.values) < 0.6 * len(view.operator.values)
    encoder = GCNEncoder(blocks.num_features, recipe.encoder, torch.Generator().manual_seed(2))
    results = []
    for v in (view, replace(view, reach=None)):
        h = encoder(v)
        results.append((h, *torch.autograd.grad(h.square().sum(), list(encoder.weights))))
    torch.testing.assert_close(results[0], results[1])


def test_a_product_with_an_empty_matrix_is_zero() -> None:
    empty = sparse_matrix(sparse.csr_array((5, 4), dtype=np.float32))
    assert torch.equal(empty.multiply(torch.ones(4, 3)), torch.zeros(5, 3))
    assert torch.equal(empty.multiply_transposed(torch.ones(5, 3)), torch.zeros(4, 3))


def test_adj_is_eq_1_with_edge_weights(adjacency: Any) -> None:
    a = adjacency.toarray().astype(np.float64) + np.eye(12)
    root = np.sqrt(a.sum(axis=1))
    ours = make_adj(adjacency).dense().numpy()
    np.testing.assert_allclose(ours, a / np.outer(root, root), atol=1e-6)
    assert ours[11, 11] == 1  # an isolated node keeps its own features


def test_products_by_scatter_equal_csr(generator: torch.Generator) -> None:
    rng = np.random.default_rng(0)
    matrix = sparse.csr_array(rng.random((9, 6)) * (rng.random((9, 6)) < 0.4))
    ours = sparse_matrix(matrix)
    block = torch.randn(6, 4, dtype=torch.float64, generator=generator)
    expected = torch.from_numpy(matrix @ block.numpy())
    torch.testing.assert_close(ours.multiply(block), expected)
    torch.testing.assert_close(scatter_product(ours.pattern, ours.values, block), expected)
    torch.testing.assert_close(ours.dense(), torch.from_numpy(matrix.toarray()))


def test_sparse_product_backward_is_the_transpose() -> None:
    rng = np.random.default_rng(0)
    ours = sparse_matrix(sparse.csr_array(rng.random((9, 6)) * (rng.random((9, 6)) < 0.4)))
    block = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda b: product(ours, b), (block,))


def test_rows_are_normalised_by_the_sum_of_sizes() -> None:
    x = np.array([[1, 3], [0, 0], [-2, 2]], dtype=np.float32)
    expected = np.array([[0.25, 0.75], [0, 0], [-0.5, 0.5]])
    np.testing.assert_allclose(row_normalise(x), expected)
    np.testing.assert_allclose(row_normalise(sparse.csr_array(x)).toarray(), expected)


@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize("kinds", [("in+adj", "nd+diff"), ("nd+adj", "nd+nd+adj")])
def test_views_parted_by_node_dropout_share_x_w(
    blocks: Graph, is_sparse: bool, kinds: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = blocks if is_sparse else replace(blocks, x=blocks.x.toarray() + np.float32(0.1))
    sets = [f"view{i}.augment={kind}" for i, kind in enumerate(kinds, start=1)]
    sets += ["view1.nd_drop_rate=0.3", "view2.nd_drop_rate=0.1", "train.order=transform"]
    recipe = load_recipe("paper", sets)
    views = draw_views(make_inputs(graph, recipe, CPU), recipe, torch.Generator().manual_seed(1))
    weight = torch.randn(graph.num_features, 7, requires_grad=True)
    products: list[Features] = []

    def counted(x: Features, weight: torch.Tensor) -> torch.Tensor:
        products.append(x)
        return times(x, weight)

    monkeypatch.setattr(view_module, "times", counted)
    shared = transform_both(*views, weight)
    assert len(products) == 1
    apart = [view.transform(weight) for view in views]
    for ours, exact in zip(shared, apart, strict=True):
        torch.testing.assert_close(ours, exact, atol=1e-5, rtol=1e-4)
        gradients = [
            torch.autograd.grad(out.square().sum(), weight, retain_graph=True)
            for out in (ours, exact)
        ]
        torch.testing.assert_close(*gradients, atol=1e-4, rtol=1e-4)


def test_views_that_drop_features_or_most_nodes_share_nothing(blocks: Graph) -> None:
    for kinds in (("nfd+adj", "nd+diff"), ("nd+adj", "nd+diff")):
        sets = [f"view{i}.augment={kind}" for i, kind in enumerate(kinds, start=1)]
        recipe = load_recipe("paper", [*sets, "view1.nd_drop_rate=0.7"])
        generator = torch.Generator().manual_seed(1)
        views = draw_views(make_inputs(blocks, recipe, CPU), recipe, generator)
        assert not view_module._sharing_pays(*views)
