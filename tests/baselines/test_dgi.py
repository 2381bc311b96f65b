"""DGI: the corrupted graph has other features on the same edges, and D tells the two apart."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from dgb.baselines.dgi import Infomax, contrast, draw_pairs, encode_both, summarise_graph
from dgb.baselines.inputs import adj, features, seeded
from dgb.data.graph import Graph
from dgb.views.view import View
from tests.baselines.conftest import accuracy_of, dense_features


def dense_adj(graph: Graph) -> Tensor:
    a = torch.from_numpy(graph.adjacency.toarray()) + torch.eye(graph.num_nodes)
    root = a.sum(1).rsqrt()
    return root[:, None] * a * root


def slope(h: Tensor, weight: Tensor) -> Tensor:
    return torch.where(h > 0, h, weight * h)


def logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def brute_force(h: Tensor, corrupted: Tensor, summary: Tensor, m: Tensor) -> float:
    """Return −½ (mean log D(h, s) + mean log (1 − D(h̃, s))), node by node."""
    real = [math.log(logistic(float(row @ m @ summary))) for row in h]
    fake = [math.log(1 - logistic(float(row @ m @ summary))) for row in corrupted]
    return -(sum(real) / len(real) + sum(fake) / len(fake)) / 2


def test_learns(two_blocks: Graph) -> None:
    assert accuracy_of("dgi", two_blocks, width=64, epochs=50) > 0.95  # untrained: 0.89


def test_learns_from_batches_of_rows(two_blocks: Graph) -> None:
    scored = accuracy_of("dgi", two_blocks, width=64, epochs=50, patience=0, batch_size=40)
    assert scored > 0.9


@pytest.mark.parametrize("is_sparse", [True, False])
def test_loss_is_that_of_the_paper(two_blocks: Graph, *, is_sparse: bool) -> None:
    x = dense_features(two_blocks)
    view = View(features(two_blocks) if is_sparse else x, adj(two_blocks))
    with seeded(3), torch.no_grad():
        model = Infomax(40, 8)
        encoder: Any = model.encoders[0]
        encoder.weights[0].mul_(20)  # so that the logits are not all near zero
        model.discriminator.copy_(torch.randn(8, 8))
        order = torch.randperm(120)
        loss = model.loss(lambda encode: encode_both(encode, view, order))
        p, w, a = dense_adj(two_blocks), encoder.weights[0], torch.tensor(0.25)
        h, corrupted = slope(p @ x @ w, a), slope(p @ x[order] @ w, a)
        mean = [sum(float(row[k]) for row in h) / 120 for k in range(8)]
        summary = torch.tensor([logistic(value) for value in mean])
        expected = brute_force(h, corrupted, summary, model.discriminator)
    assert loss.item() == pytest.approx(expected, abs=1e-5)


def test_batches_have_every_row_of_both_graphs_once(two_blocks: Graph) -> None:
    view = View(dense_features(two_blocks), adj(two_blocks))
    with seeded(0), torch.no_grad():
        model = Infomax(40, 8)
        pairs = draw_pairs([view], 50)
        steps = [next(pairs)[0](model.encoders[0]) for _ in range(2)]
        whole = model([view])
    assert [len(h) for h, _ in steps] == [60, 60]
    clean, corrupted = (torch.cat(part) for part in zip(*steps, strict=True))
    np.testing.assert_allclose(clean.sort(0)[0], whole.sort(0)[0], atol=1e-6)
    assert (corrupted.sort(0)[0] - whole.sort(0)[0]).abs().max() > 1e-3


def test_every_step_is_corrupted_anew(two_blocks: Graph) -> None:
    with seeded(0), torch.no_grad():
        model = Infomax(40, 8)
        pairs = draw_pairs([View(features(two_blocks), adj(two_blocks))], 0)
        (first, one), (second, other) = (next(pairs)[0](model.encoders[0]) for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(one, other)


def test_a_right_discriminator_has_a_small_loss() -> None:
    right, wrong = torch.full((3,), 9.0), torch.full((3,), -9.0)
    assert contrast(right, wrong) < 0.01 < 8 < contrast(wrong, right)
    assert summarise_graph(torch.zeros(4, 2)).tolist() == [0.5, 0.5]
