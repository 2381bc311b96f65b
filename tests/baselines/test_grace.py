"""GRACE: InfoNCE with the negatives of both views, over some nodes or over all."""

from dataclasses import replace
from math import exp, hypot, log
from operator import mul

import numpy as np
import pytest
import torch
from torch import Tensor

from dgb.baselines.agreement import GRACE, GRACESettings, contrast_nodes, represent_grace
from dgb.baselines.augment import make_views
from dgb.baselines.inputs import seeded
from dgb.data.graph import Graph
from tests.baselines.conftest import accuracy_of


def paper_loss(u: Tensor, v: Tensor, temperature: float) -> float:
    """Return the loss as the paper writes it, a node and a negative at a time."""

    def theta(a: list[float], b: list[float]) -> float:
        return exp(sum(map(mul, a, b)) / hypot(*a) / hypot(*b) / temperature)

    total = 0.0
    for own, other in ((u.tolist(), v.tolist()), (v.tolist(), u.tolist())):
        for i in range(len(u)):
            inter = sum(theta(own[i], other[k]) for k in range(len(u)))
            intra = sum(theta(own[i], own[k]) for k in range(len(u)) if k != i)
            total -= log(theta(own[i], other[i]) / (inter + intra))
    return total / (2 * len(u))


def test_learns_what_so_few_columns_do_not_have_untrained(two_blocks: Graph) -> None:
    narrow = {"width": 4, "projection": 32, "learning_rate": 0.01}
    untrained, trained = (
        np.mean([accuracy_of("grace", two_blocks, s, epochs=e, **narrow) for s in range(3)])
        for e in (0, 100)
    )
    assert untrained < 0.9 < 0.93 < trained


@pytest.mark.parametrize("temperature", [0.4, 0.9])
def test_contrast_is_the_papers_loss(temperature: float) -> None:
    with seeded(0):
        u, v = torch.randn(9, 4), torch.randn(9, 4)
    assert float(contrast_nodes(u, v, temperature)) == pytest.approx(paper_loss(u, v, temperature))


def test_all_nodes_give_the_papers_loss_and_some_give_it_of_those(two_blocks: Graph) -> None:
    views = make_views(two_blocks, 16)
    with seeded(0):
        model = GRACE(40, GRACESettings(width=8, projection=8))
        view1, view2 = views.draw(0.2, 0.3), views.draw(0.4, 0.4)
        everyone, some = torch.randperm(120), torch.randperm(120)[:7]
    u, v = (model.project(model.encoder(view)) for view in (view1, view2))
    assert model(view1, view2, everyone).item() == pytest.approx(paper_loss(u, v, 0.4), rel=1e-4)
    expected = paper_loss(u[some], v[some], 0.4)
    assert model(view1, view2, some).item() == pytest.approx(expected, rel=1e-4)


def test_agreement_is_rewarded() -> None:
    with seeded(0):
        u = torch.randn(20, 6)
    same, exchanged = contrast_nodes(u, u, 0.4), contrast_nodes(u, u.roll(1, 0), 0.4)
    assert float(same) < float(exchanged)


def test_representations_are_before_the_projection(two_blocks: Graph) -> None:
    few = GRACESettings(width=8, projection=4, epochs=2, anchors=30)
    rows = represent_grace(two_blocks, few, 0)
    assert rows.shape == (120, 8)
    assert (rows >= 0).all()  # they end in ReLU, the projections do not
    np.testing.assert_array_equal(rows, represent_grace(two_blocks, few, 0))
    assert not np.array_equal(rows, represent_grace(two_blocks, replace(few, anchors=120), 0))
