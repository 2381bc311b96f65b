"""MVGRL: nodes of a view against the summary of the other view, over a diffusion never built."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from dgb.baselines.dgi import Infomax, MVGRLSettings, encode_both, make_view_pair
from dgb.baselines.inputs import seeded
from dgb.data.graph import Graph
from tests.baselines.conftest import accuracy_of, dense_features
from tests.baselines.test_dgi import brute_force, dense_adj, slope


def dense_ppr(graph: Graph) -> Tensor:
    """Return α (I − (1 − α) T)⁻¹ with T over A + I and alpha 0.2."""
    s: Tensor = 0.2 * torch.linalg.inv(torch.eye(graph.num_nodes) - 0.8 * dense_adj(graph))
    return s


def first_weights(model: Infomax) -> list[Tensor]:
    """Return the weights of the encoder over the adjacency and of that over the diffusion."""
    encoders: Any = model.encoders
    return [encoder.weights[0] for encoder in encoders]


def drawn_model() -> Infomax:
    model = Infomax(40, 8, 2)
    for weight in first_weights(model):
        weight.mul_(20)  # so that the logits are not all near zero
    model.discriminator.copy_(torch.randn(8, 8))
    return model


def test_learns(two_blocks: Graph) -> None:
    assert accuracy_of("mvgrl", two_blocks, width=64, epochs=50) > 0.97  # untrained: 0.96


def test_learns_from_batches_of_rows(two_blocks: Graph) -> None:
    scored = accuracy_of("mvgrl", two_blocks, width=64, epochs=50, patience=0, batch_size=40)
    assert scored > 0.96


def test_loss_crosses_the_views(two_blocks: Graph) -> None:
    adj_view, diff_view = make_view_pair(two_blocks, MVGRLSettings(error=1e-6))
    x = dense_features(two_blocks)
    with seeded(3), torch.no_grad():
        model, order, a = drawn_model(), torch.randperm(120), torch.tensor(0.25)
        loss = model.loss(
            lambda encoder: encode_both(encoder, adj_view, order),
            lambda encoder: encode_both(encoder, diff_view, order),
        )
        p, s, m = dense_adj(two_blocks), dense_ppr(two_blocks), model.discriminator
        w_a, w_d = first_weights(model)
        h_a, fake_a = slope(p @ x @ w_a, a), slope(p @ x[order] @ w_a, a)
        h_d, fake_d = slope(s @ x @ w_d, a), slope(s @ x[order] @ w_d, a)
        s_a, s_d = h_a.mean(0).sigmoid(), h_d.mean(0).sigmoid()
        crossed = brute_force(h_d, fake_d, s_a, m) + brute_force(h_a, fake_a, s_d, m)
        straight = brute_force(h_a, fake_a, s_a, m) + brute_force(h_d, fake_d, s_d, m)
    assert loss.item() == pytest.approx(crossed / 2, abs=1e-4)
    assert abs(crossed - straight) > 1e-2


def test_representations_add_both_views(two_blocks: Graph) -> None:
    views, x = make_view_pair(two_blocks, MVGRLSettings(error=1e-6)), dense_features(two_blocks)
    with seeded(3), torch.no_grad():
        model, a = drawn_model(), torch.tensor(0.25)
        w_a, w_d = first_weights(model)
        h_a = slope(dense_adj(two_blocks) @ x @ w_a, a)
        h_d = slope(dense_ppr(two_blocks) @ x @ w_d, a)
        np.testing.assert_allclose(model(views), h_a + h_d, atol=1e-4)


def test_the_default_error_keeps_the_diffusion(two_blocks: Graph) -> None:
    _, diff = make_view_pair(two_blocks, MVGRLSettings())
    s = diff.operator.multiply(torch.eye(120))
    assert torch.linalg.matrix_norm(s - dense_ppr(two_blocks), 2) < 1e-2
