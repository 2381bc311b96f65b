"""GraphMAE: the cosine of masked nodes alone, from inputs that do not hold their features."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from torch import Tensor
from torch.nn.functional import cosine_similarity, prelu

from dgb.baselines.graphmae import (
    GraphMAE,
    Mask,
    Settings,
    draw_mask,
    scaled_cosine_error,
    train_autoencoder,
)
from dgb.baselines.inputs import adj, features, seeded
from dgb.data.graph import Graph
from dgb.views.sparse import sparse_matrix
from tests.baselines.conftest import accuracy_of, dense_features

CPU = torch.device("cpu")
SMALL = Settings(hidden=16, replace_rate=0.2)


@pytest.fixture
def model(two_blocks: Graph) -> GraphMAE:
    """Return a model without dropout whose token is not zero."""
    with seeded(0):
        model = GraphMAE(two_blocks.num_features, replace(SMALL, dropout=0.0))
        torch.nn.init.normal_(model.token)
    return model


@pytest.fixture
def mask(two_blocks: Graph) -> Mask:
    with seeded(1):
        return draw_mask(two_blocks.num_nodes, SMALL, CPU)


def dense_adj(graph: Graph) -> Tensor:
    a = torch.from_numpy(graph.adjacency.toarray()) + torch.eye(graph.num_nodes)
    return a.sum(1).rsqrt()[:, None] * a * a.sum(1).rsqrt()


def reconstruct(model: GraphMAE, x: Tensor, p: Tensor, mask: Mask) -> Tensor:
    """Return Z of all nodes as the paper writes it, a whole matrix at every step."""
    masked_x = torch.cat([x, model.token])[mask.source]
    slopes: list[Any] = [sigma.weight for sigma in model.activations]
    h = prelu(p @ masked_x @ model.first, slopes[0])
    code = prelu(p @ h @ model.second, slopes[1])
    is_kept = torch.zeros(len(x), 1)
    is_kept[mask.kept] = 1
    return p @ (code * is_kept) @ model.decoder.T


def test_learns(two_blocks: Graph) -> None:
    assert accuracy_of("graphmae", two_blocks, hidden=32, epochs=30, learning_rate=0.01) > 0.85


def test_reconstructs_masked_nodes_better_than_their_mean(two_blocks: Graph, mask: Mask) -> None:
    x, p, z = features(two_blocks), adj(two_blocks), dense_features(two_blocks)
    with seeded(0):
        model = train_autoencoder(x, p, replace(SMALL, hidden=32, epochs=60, learning_rate=0.01))
    mean = cosine_similarity(z[mask.targets], z[mask.kept].mean(0, keepdim=True)).mean()
    assert model(x, p, mask).mean() > mean + 0.02


@pytest.mark.parametrize("read", [features, dense_features])
def test_loss_is_the_scaled_cosine_error_of_masked_nodes(
    read: Any, two_blocks: Graph, model: GraphMAE, mask: Mask
) -> None:
    x = dense_features(two_blocks)
    z = reconstruct(model, x, dense_adj(two_blocks), mask).detach().numpy().astype(float)
    errors = []
    for i in sorted(set(range(two_blocks.num_nodes)) - set(mask.kept.tolist())):
        row = x[i].numpy().astype(float)
        sizes = np.linalg.norm(row) * np.linalg.norm(z[i])
        errors.append((1 - (row @ z[i] / sizes if sizes > 0 else 0)) ** 3)
    loss = scaled_cosine_error(model(read(two_blocks), adj(two_blocks), mask), 3)
    assert loss.item() == pytest.approx(np.mean(errors), rel=1e-4)


def test_gradients_are_those_of_the_whole_matrices(
    two_blocks: Graph, model: GraphMAE, mask: Mask
) -> None:
    x = dense_features(two_blocks)
    z = reconstruct(model, x, dense_adj(two_blocks), mask)
    whole = scaled_cosine_error(cosine_similarity(x, z)[mask.targets], 3)
    fast = scaled_cosine_error(model(features(two_blocks), adj(two_blocks), mask), 3)
    weights = [model.first, model.second, model.decoder, model.token]
    found, expected = (torch.autograd.grad(loss, weights) for loss in (fast, whole))
    for one, other in zip(found, expected, strict=True):
        assert other.abs().max() > 0
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-6)


def test_features_of_masked_nodes_do_not_reach_the_input(
    two_blocks: Graph, model: GraphMAE, mask: Mask
) -> None:
    x = dense_features(two_blocks)
    hidden = sorted(set(mask.targets.tolist()) - set(mask.source.tolist()))
    changed = x.clone()
    changed[hidden] += 1
    assert len(hidden) > 10
    torch.testing.assert_close(model.enter(changed, mask), model.enter(x, mask), rtol=0, atol=0)
    changed[mask.kept[0]] += 1
    assert not torch.equal(model.enter(changed, mask), model.enter(x, mask))


def test_a_replaced_row_is_another_nodes_and_the_rest_is_the_token(
    two_blocks: Graph, model: GraphMAE, mask: Mask
) -> None:
    x = dense_features(two_blocks)
    inside, token = model.enter(x, mask), (model.token @ model.first)[0]
    sources = mask.source.tolist()
    masked = mask.targets.tolist()
    assert sum(sources[i] == len(x) for i in masked) == 48
    for i, source in enumerate(sources):
        expected = token if source == len(x) else x[source] @ model.first
        torch.testing.assert_close(inside[i], expected, rtol=1e-4, atol=1e-6)
        assert i in masked or source == i


def test_codes_of_masked_nodes_are_zero_before_the_decoder(model: GraphMAE, mask: Mask) -> None:
    p = SimpleNamespace(multiply=lambda code: code, multiply_transposed=lambda code: code)
    h = torch.ones(len(mask.kept), 16)
    assert (model.aggregate(h, p, mask) == 0).all()  # the decoder's input where nothing travels
    everywhere = replace(mask, targets=mask.kept)
    assert (model.aggregate(h, p, everywhere) != 0).any(1).all()


def test_masks_have_the_rates_and_differ(two_blocks: Graph) -> None:
    settings = replace(SMALL, mask_rate=0.75, targets=30)
    with seeded(0):
        first, second = (draw_mask(two_blocks.num_nodes, settings, CPU) for _ in range(2))
    assert len(first.kept) == 30
    assert len(set(first.targets.tolist()) - set(first.kept.tolist())) == 30
    assert not torch.equal(first.kept, second.kept)


def test_rows_without_direction_leave_a_finite_gradient(model: GraphMAE, mask: Mask) -> None:
    x = torch.zeros(120, 40)
    alone = sparse_matrix(sparse.eye_array(120, dtype=np.float32), is_symmetric=True)
    cosine = model(x, alone, mask)  # no neighbours: every masked node's code stays zero
    assert (cosine == 0).all()
    scaled_cosine_error(cosine, 3).backward()  # type: ignore[no-untyped-call]
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
