"""BGRL: both views predict each other's target, which follows the online encoder slowly."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from dgb.baselines.augment import make_views
from dgb.baselines.bgrl import BGRL, Settings, decay_at, represent
from dgb.baselines.inputs import seeded
from dgb.data.graph import Graph
from tests.baselines.conftest import accuracy_of

SMALL = Settings(hidden=16, width=8, predictor=16)


def test_learns_what_so_few_columns_do_not_have_untrained(two_blocks: Graph) -> None:
    narrow = {"hidden": 64, "width": 4, "predictor": 64, "learning_rate": 0.01}
    untrained, trained = (
        np.mean([accuracy_of("bgrl", two_blocks, s, epochs=e, **narrow) for s in range(3)])
        for e in (0, 100)
    )
    assert untrained < 0.9 < 0.93 < trained


def test_loss_is_two_minus_two_cosine_of_both_directions(two_blocks: Graph) -> None:
    views = make_views(two_blocks, 16)
    with seeded(0):
        model = BGRL(40, SMALL)
        other = BGRL(40, SMALL)  # a target that differs, else a mixed-up one would not show
        model.target.load_state_dict(other.online.state_dict())
        view1, view2 = views.draw(0.2, 0.2), views.draw(0.4, 0.4)
        nodes = torch.randperm(120)
    expected = 0.0
    for seen, aimed in ((view1, view2), (view2, view1)):
        q, z = model.predictor(model.online(seen)).detach(), model.target(aimed)
        for i in nodes.tolist():
            cosine = (q[i] * z[i]).sum() / (q[i].norm() * z[i].norm())
            expected += float(2 - 2 * cosine) / len(nodes)
    assert model(view1, view2, nodes).item() == pytest.approx(expected, rel=1e-4)


def test_target_has_no_gradient_and_starts_as_the_online_encoder(two_blocks: Graph) -> None:
    views = make_views(two_blocks, 16)
    with seeded(0):
        model = BGRL(40, SMALL)
        view1, view2 = views.draw(0.2, 0.2), views.draw(0.4, 0.4)
    for xi, theta in zip(model.target.parameters(), model.online.parameters(), strict=True):
        assert torch.equal(xi, theta)
        assert xi is not theta
    model(view1, view2, torch.arange(120)).backward()
    assert all(p.grad is None for p in model.target.parameters())
    assert all(p.grad is not None for p in model.online.parameters())


def test_target_is_the_moving_average() -> None:
    with seeded(0):
        model, other = BGRL(40, SMALL), BGRL(40, SMALL)
    model.online.load_state_dict(other.online.state_dict())
    before = model.target.weights[0].clone()
    model.update_target(1.0)
    assert torch.equal(model.target.weights[0], before)
    model.update_target(0.75)
    expected = 0.75 * before + 0.25 * model.online.weights[0]
    torch.testing.assert_close(model.target.weights[0], expected)


def test_decay_rises_to_one_along_a_cosine() -> None:
    settings = Settings(decay=0.9, epochs=100)
    assert decay_at(0, settings) == pytest.approx(0.9)
    assert decay_at(50, settings) == pytest.approx(0.95)
    assert decay_at(25, settings) == pytest.approx(1 - 0.1 * (1 + 2**-0.5) / 2)
    assert decay_at(100, settings) == pytest.approx(1)


def test_one_layer_and_few_rows_are_possible(two_blocks: Graph) -> None:
    few = replace(SMALL, hidden=0, epochs=2, rows=10)
    assert represent(two_blocks, few, 0).shape == (120, 8)
    assert not np.array_equal(represent(two_blocks, few, 0), represent(two_blocks, few, 1))
