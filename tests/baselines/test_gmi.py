"""GMI: both terms of its objective against loops over pairs, and batches that estimate it."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from dgb.baselines.gmi import (
    Settings,
    draw_batch,
    information,
    pair_scores,
    random_pairs,
    represent,
    support_of,
)
from dgb.baselines.learn import minimise
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.views.sparse import sparse_matrix
from tests.baselines.conftest import accuracy_of


def sp(value: float) -> float:
    return float(np.log1p(np.exp(value)))


def sigmoid(value: float) -> float:
    return float(1 / (1 + np.exp(-value)))


@pytest.mark.parametrize("key", ["gmi-mean", "gmi-adaptive"])
def test_learns(key: str, two_blocks: Graph) -> None:
    assert accuracy_of(key, two_blocks, width=16, epochs=40, learning_rate=0.02) > 0.85


def test_training_raises_the_information(
    two_blocks: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses: list[float] = []

    def watching(model: Any, loss: Any, schedule: Any) -> None:
        losses.append(loss().item())
        minimise(model, loss, schedule)
        losses.append(loss().item())

    monkeypatch.setattr("dgb.baselines.gmi.minimise", watching)
    represent(two_blocks, Settings(width=16, epochs=40, learning_rate=0.02), 0)
    assert losses[1] < losses[0] - 0.1


@pytest.mark.parametrize("is_adaptive", [False, True])
def test_information_is_the_sum_over_pairs(is_adaptive: bool, two_blocks: Graph) -> None:
    rng = np.random.default_rng(0)
    h, y = (rng.normal(size=(120, 4)).astype(np.float32) for _ in range(2))
    a = two_blocks.adjacency.toarray() > 0
    negatives = random_pairs((120, 120), 3, np.random.default_rng(0))
    drawn = negatives.pattern.col.view(120, 3).tolist()
    features, edges, unlinked = 0.0, [], []
    for i in range(120):
        near = [j for j in range(120) if a[i, j] or i == j]
        apart = sum(sp(h[i] @ y[j]) for j in drawn[i]) / 3
        for j in near:
            w = sigmoid(h[i] @ h[j]) if is_adaptive else 1 / len(near)
            features += w * (-sp(-(h[i] @ y[j])) - apart) / 120
        edges += [np.log(sigmoid(h[i] @ h[j])) for j in near if j != i]
        unlinked += [np.log(1 - sigmoid(h[i] @ h[j])) for j in drawn[i]]
    support = sparse_matrix(support_of(two_blocks), is_symmetric=True)
    rows = torch.from_numpy(h), torch.from_numpy(y)
    found = information(rows[0], rows[1], support, negatives, is_adaptive)
    np.testing.assert_allclose(found[0], features, rtol=1e-4)
    np.testing.assert_allclose(found[1], np.mean(edges) + np.mean(unlinked), rtol=1e-4)


def test_scores_of_pairs_have_the_gradients_of_gathered_rows() -> None:
    torch.manual_seed(0)
    left, right = (torch.randn(n, 5, requires_grad=True) for n in (6, 9))
    for pairs in (
        sparse_matrix(sparse.random_array((6, 9), density=0.4, dtype=np.float32, rng=1)),
        random_pairs((6, 9), 4, np.random.default_rng(0)),
    ):
        gathered = (left[pairs.pattern.row] * right[pairs.pattern.col.long()]).sum(1)
        scores = pair_scores(pairs, left, right)
        np.testing.assert_allclose(scores.detach(), gathered.detach(), atol=1e-5)
        weight = torch.randn(len(scores))
        for ours, theirs in zip(
            torch.autograd.grad(scores @ weight, (left, right)),
            torch.autograd.grad(gathered @ weight, (left, right)),
            strict=True,
        ):
            np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_a_negative_is_another_node() -> None:
    pairs = random_pairs((3, 5), 100, np.random.default_rng(0))
    row, col = pairs.pattern.row, pairs.pattern.col
    assert not (row == col).any()
    assert set(col.tolist()) == {0, 1, 2}


def test_a_batch_has_the_whole_neighborhood_of_its_nodes(two_blocks: Graph) -> None:
    support = support_of(two_blocks)
    chosen, part = draw_batch(support, 10, np.random.default_rng(0))
    assert chosen is not None
    nodes = chosen.numpy()
    assert len(set(nodes)) == len(nodes)
    dense = support.toarray()
    np.testing.assert_array_equal(part.dense(), dense[nodes[:10]][:, nodes])
    assert part.dense().sum() == dense[nodes[:10]].sum()


def test_batches_learn_and_need_one_layer(two_blocks: Graph) -> None:
    changed = Settings(width=16, epochs=60, learning_rate=0.02, batch_size=40, patience=0)
    assert accuracy_of("gmi-mean", two_blocks, **asdict(changed)) > 0.85
    with pytest.raises(DGBError, match="layers = 1"):
        represent(two_blocks, Settings(batch_size=40, layers=2), 0)


def test_adaptive_weights_are_not_learnt_from_the_features(two_blocks: Graph) -> None:
    # At D = 0 every I(h_i; x_j) is −2 log 2; a gradient through w_ij would push all w_ij to zero.
    h = torch.randn(120, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()
    support = sparse_matrix(support_of(two_blocks), is_symmetric=True)
    negatives = random_pairs((120, 120), 3, np.random.default_rng(0))
    of_features, _ = information(h, torch.zeros(120, 4), support, negatives, True)
    (grad,) = torch.autograd.grad(of_features, h)
    assert of_features < 0
    assert not grad.any()
