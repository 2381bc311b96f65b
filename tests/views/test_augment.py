"""Eq. 2 and 3: rates, rescaling, fresh masks, sparse equal to dense in law."""

import numpy as np
import pytest
import torch
from scipy import sparse

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.views.augment import Features, node_dropout, node_feature_dropout
from dgb.views.features import to_features
from dgb.views.inputs import make_inputs
from dgb.views.sparse import SparseMatrix, sparse_matrix
from tests.conftest import draw_views


def dense(x: Features) -> torch.Tensor:
    return x.dense() if isinstance(x, SparseMatrix) else x


@pytest.fixture(params=["dense", "sparse"])
def x(request: pytest.FixtureRequest) -> Features:
    values = np.random.default_rng(0).random((2000, 50)).astype(np.float32)
    values[values < 0.5] = 0
    if request.param == "sparse":
        return sparse_matrix(sparse.csr_array(values))
    return torch.from_numpy(values)


def test_feature_dropout_zeroes_its_rate_and_keeps_the_mean(
    x: Features, generator: torch.Generator
) -> None:
    before, after = dense(x), dense(node_feature_dropout(x, 0.1, generator))
    filled = before > 0
    assert (after[filled] == 0).float().mean().item() == pytest.approx(0.1, abs=0.01)
    kept = filled & (after > 0)
    torch.testing.assert_close(after[kept], before[kept] / 0.9)
    assert after.mean().item() == pytest.approx(before.mean().item(), rel=0.02)


def test_node_dropout_zeroes_whole_rows_and_keeps_the_mean(
    x: Features, generator: torch.Generator
) -> None:
    before, after = dense(x), dense(node_dropout(x, 0.3, generator))
    is_dropped = (after == 0).all(dim=1)
    assert is_dropped.float().mean().item() == pytest.approx(0.3, abs=0.04)
    torch.testing.assert_close(after[~is_dropped], before[~is_dropped] / 0.7)


def test_rate_zero_changes_nothing(x: Features, generator: torch.Generator) -> None:
    for drop in (node_dropout, node_feature_dropout):
        assert torch.equal(dense(drop(x, 0.0, generator)), dense(x))


def test_input_is_never_changed(x: Features, generator: torch.Generator) -> None:
    before = dense(x).clone()
    node_feature_dropout(x, 0.5, generator)
    node_dropout(x, 0.5, generator)
    assert torch.equal(dense(x), before)


def test_masks_come_from_the_generator_alone(x: Features) -> None:
    def draw() -> torch.Tensor:
        return dense(node_feature_dropout(x, 0.5, torch.Generator().manual_seed(3)))

    torch.manual_seed(1)
    first = draw()
    torch.manual_seed(2)
    assert torch.equal(first, draw())


def test_every_draw_has_new_masks_also_with_a_cached_diffusion(
    blocks: Graph, generator: torch.Generator
) -> None:
    recipe = load_recipe("paper", ["view1.augment=nfd+diff", "diffusion.top_k=8"])
    inputs = make_inputs(blocks, recipe, torch.device("cpu"))
    first1, first2 = draw_views(inputs, recipe, generator)
    second1, second2 = draw_views(inputs, recipe, generator)
    assert not torch.equal(dense(first1.x), dense(second1.x))
    assert not torch.equal(dense(first2.x), dense(second2.x))
    assert first1.operator is second1.operator


def test_the_two_views_have_masks_of_their_own(blocks: Graph, generator: torch.Generator) -> None:
    recipe = load_recipe("paper", ["view1.augment=nfd+adj", "view2.augment=nfd+adj"])
    inputs = make_inputs(blocks, recipe, torch.device("cpu"))
    view1, view2 = draw_views(inputs, recipe, generator)
    assert not torch.equal(dense(view1.x), dense(view2.x))


def test_features_take_the_cheaper_form() -> None:
    mostly_zero, full = np.eye(50, dtype=np.float32), np.ones((50, 4), dtype=np.float32)
    assert isinstance(to_features(mostly_zero), SparseMatrix)
    assert isinstance(to_features(sparse.csr_array(mostly_zero)), SparseMatrix)
    assert isinstance(to_features(full), torch.Tensor)
    assert isinstance(to_features(sparse.csr_array(full)), torch.Tensor)
