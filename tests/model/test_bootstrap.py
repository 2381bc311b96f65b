"""Bootstrapping: Eq. 7 at its ends and middle, no gradient to the target, own statistics a view."""

import copy

import pytest
import torch
from torch import Tensor, nn

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.model.bootstrap import Bootstrap, predict
from dgb.model.layers import PReLU
from dgb.model.loss import symmetric_loss
from dgb.views.inputs import make_inputs
from dgb.views.view import View
from tests.conftest import draw_views

SMALL = ["encoder.width=8", "heads.hidden=10", "heads.width=6"]


def make_model(graph: Graph, *sets: str) -> tuple[Bootstrap, View, View]:
    recipe = load_recipe("paper", [*SMALL, *sets])
    generator = torch.Generator().manual_seed(0)
    inputs = make_inputs(graph, recipe, torch.device("cpu"))
    model = Bootstrap(graph.num_features, recipe, generator)
    return model, *draw_views(inputs, recipe, generator)


def online(model: Bootstrap) -> list[Tensor]:
    return [*model.encoder.parameters(), *model.projector.parameters()]


def target(model: Bootstrap) -> list[Tensor]:
    return [*model.target_encoder.parameters(), *model.target_projector.parameters()]


@pytest.mark.parametrize("decay", [0.0, 0.5, 0.82, 1.0])
def test_target_moves_by_eq_7(blocks: Graph, decay: float) -> None:
    model, *_ = make_model(blocks, "train.target_start=independent")
    before = [p.clone() for p in target(model)]
    model.update_target(decay)
    for xi, old, theta in zip(target(model), before, online(model), strict=True):
        if decay in (0.0, 1.0):  # exactly, from the very first call
            assert torch.equal(xi, theta if decay == 0 else old)
        else:
            torch.testing.assert_close(xi, decay * old + (1 - decay) * theta)


def test_batches_keep_the_meaning_of_decay(blocks: Graph) -> None:
    once, *_ = make_model(blocks, "train.target_start=independent")
    often = copy.deepcopy(once)
    once.update_target(0.9)
    for _ in range(7):
        often.update_target(0.9 ** (1 / 7))
    torch.testing.assert_close(target(often), target(once))


def test_target_starts_as_asked(blocks: Graph) -> None:
    copied, *_ = make_model(blocks, "train.target_start=copy")
    independent, *_ = make_model(blocks, "train.target_start=independent")
    assert all(torch.equal(a, b) for a, b in zip(online(copied), target(copied), strict=True))
    weights = independent.encoder.weights[0], independent.target_encoder.weights[0]
    assert not torch.equal(*weights)


def test_no_gradient_reaches_the_target(blocks: Graph) -> None:
    model, view1, view2 = make_model(blocks)
    symmetric_loss(model(view1, view2)).backward()  # type: ignore[no-untyped-call]
    assert all(p.grad is None and not p.requires_grad for p in target(model))
    learnt = [*online(model), *model.predictor.parameters()]
    assert all(p.grad is not None for p in learnt)


def test_what_the_target_says_carries_no_gradient(blocks: Graph) -> None:
    model, view1, view2 = make_model(blocks)
    outputs = model(view1, view2)
    assert not outputs.target1.requires_grad and not outputs.target2.requires_grad


def test_online_projections_are_there_for_a_term_that_asks(blocks: Graph) -> None:
    model, view1, view2 = make_model(blocks)
    outputs = model(view1, view2)
    assert torch.equal(outputs.representation2, model.encoder(view2))
    assert outputs.projection1.requires_grad
    # Predictions may be computed without them, in another order of products.
    torch.testing.assert_close(model.predictor(outputs.projection1), outputs.prediction1)
    torch.testing.assert_close(model.predictor(outputs.projection2), outputs.prediction2)


def test_each_view_has_its_own_batch_norm_statistics(blocks: Graph) -> None:
    model, view1, view2 = make_model(blocks)
    together, apart = model(view1, view2), model(view1, view1)
    torch.testing.assert_close(together.prediction1, apart.prediction1)


def test_swapping_the_views_swaps_the_outputs(blocks: Graph) -> None:
    model, view1, view2 = make_model(blocks)
    one, other = model(view1, view2), model(view2, view1)
    assert torch.equal(one.prediction1, other.prediction2)
    assert torch.equal(one.target2, other.target1)
    torch.testing.assert_close(symmetric_loss(one), symmetric_loss(other))


def test_without_projection_predicts_representations(blocks: Graph) -> None:
    model, view1, view2 = make_model(blocks, "heads.projector=none")
    outputs = model(view1, view2)
    assert isinstance(model.projector, nn.Identity)
    assert outputs.prediction1.shape == outputs.target2.shape == (blocks.num_nodes, 8)
    assert torch.equal(outputs.target1, model.target_encoder(view1))


@pytest.mark.parametrize("sets", [[], ["heads.batch_norm=false"], ["heads.hidden=100"]])
def test_merging_the_middle_maps_changes_no_prediction(blocks: Graph, sets: list[str]) -> None:
    model, view1, _ = make_model(blocks, *sets)
    h = model.encoder(view1)
    results = []
    for prediction in (
        predict(model.projector, model.predictor, h),
        model.predictor(model.projector(h)),
    ):
        learnt = [*model.projector.parameters(), *model.predictor.parameters()]
        grads = torch.autograd.grad(prediction.square().sum(), learnt, retain_graph=True)
        results.append((prediction, *grads))
    torch.testing.assert_close(results[0], results[1], atol=1e-4, rtol=1e-4)


def test_our_prelu_is_torch_s() -> None:
    ours, theirs = PReLU(), nn.PReLU()
    x = torch.randn(50, 7, requires_grad=True)
    for slope in (0.25, -0.3, 1.0):
        results = []
        for prelu in (ours, theirs):
            nn.init.constant_(prelu.weight, slope)
            y = prelu(x)
            results.append((y, *torch.autograd.grad((y**3).sum(), [x, prelu.weight])))
        torch.testing.assert_close(results[0], results[1])


def test_without_batch_norm_there_is_none(blocks: Graph) -> None:
    with_it, *_ = make_model(blocks)
    without, *_ = make_model(blocks, "heads.batch_norm=false")
    assert any(isinstance(m, nn.BatchNorm1d) for m in with_it.modules())
    assert not any(isinstance(m, nn.BatchNorm1d) for m in without.modules())


def test_weights_leave_the_global_generator_alone(blocks: Graph) -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    make_model(blocks)
    assert torch.equal(torch.rand(1), expected)
