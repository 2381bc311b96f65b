"""GMNN: the loss over a part of the ids, who is near, and p that is not told a node's own label."""

import math

import numpy as np
import pytest
import torch
from scipy import sparse

from dgb.baselines.gmnn import (
    Network,
    Settings,
    cross_entropy,
    encode_nodes,
    fit_network,
    near,
    predictions,
    smooth,
)
from dgb.baselines.inputs import seeded
from dgb.data.graph import Graph
from tests.baselines.conftest import accuracy_of

SMALL = {"epochs": 60, "round_epochs": 30, "batch": 60, "ids": 60, "hidden": 64}
# A path 0 - 1 - 2 - 3 and node 4, which has no edge.
PATH = sparse.csr_array(
    (np.ones(6, np.float32), ([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2])), shape=(5, 5)
)


@pytest.mark.parametrize("key", ["gmnn-q", "gmnn"])
def test_learns(key: str, two_blocks: Graph) -> None:
    assert accuracy_of(key, two_blocks, **SMALL) > 0.85


def test_training_names_the_nodes_near(two_blocks: Graph) -> None:
    # Two convolutions without training tell the blocks apart already, so accuracy shows little.
    hop, target = smooth(two_blocks.adjacency, self_loops=True), near(two_blocks.adjacency, 1)
    x, settings = hop @ two_blocks.x, Settings(hidden=64, batch=60, ids=60, epochs=60)
    with seeded(0) as rng:
        q = Network(40, hop, settings)
        before = float(cross_entropy(encode_nodes(q, x), q.ids.detach(), target))
        fit_network(q, x, target, settings, rng)
    assert float(cross_entropy(encode_nodes(q, x), q.ids.detach(), target)) < before - 0.5


def test_the_loss_among_all_ids_is_the_whole_softmax() -> None:
    z, c = (torch.randn(5, 3, generator=torch.Generator().manual_seed(s)) for s in (0, 1))
    target, total = near(PATH, 1), 0.0
    around = {0: [1], 1: [0, 2], 2: [1, 3], 3: [2]}
    for node, others in around.items():
        scores = [float(z[node] @ c[j]) for j in range(5)]
        whole = math.log(sum(math.exp(score) for score in scores))
        total += sum(whole - scores[j] for j in others) / len(others)
    assert float(cross_entropy(z, c, target)) == pytest.approx(total / 4, rel=1e-5)


def test_a_part_of_the_ids_is_best_where_the_whole_softmax_is() -> None:
    target = np.array([[0.5, 0.2, 0.2, 0.1]], np.float32)
    z = torch.ones(1, 1)
    for ids in ([0, 1, 2, 3], [0, 3], [1, 2, 3]):
        c = torch.from_numpy(np.log(target[0, ids]))[:, None].requires_grad_()
        (slope,) = torch.autograd.grad(cross_entropy(z, c, sparse.csr_array(target[:, ids])), c)
        np.testing.assert_allclose(slope, 0, atol=1e-6)


def test_near_is_within_the_depth_and_never_the_node_itself() -> None:
    two_steps: list[list[float]] = [
        [0, 1 / 2, 1 / 2, 0, 0],
        [1 / 3, 0, 1 / 3, 1 / 3, 0],
        [1 / 3, 1 / 3, 0, 1 / 3, 0],
        [0, 1 / 2, 1 / 2, 0, 0],
        [0, 0, 0, 0, 0],
    ]
    np.testing.assert_allclose(near(PATH, 2).toarray(), two_steps, rtol=1e-6)


def test_a_part_of_the_nodes_gets_the_rows_of_two_convolutions(two_blocks: Graph) -> None:
    a = two_blocks.adjacency.toarray() + np.eye(120)
    root = 1 / np.sqrt(a.sum(1))
    p = root[:, None] * a * root
    x = two_blocks.x.toarray()
    hop = smooth(two_blocks.adjacency, self_loops=True)
    with seeded(0):
        q = Network(40, hop, Settings(hidden=8)).eval()
    w = q.first.weight.detach().cpu().numpy()
    expected = p @ np.maximum(p @ x @ w, 0)
    nodes = np.array([7, 100, 3])
    z = q(hop @ two_blocks.x, nodes).detach().cpu()
    np.testing.assert_allclose(z, expected[nodes], rtol=1e-4, atol=1e-5)


def test_p_is_not_told_a_nodes_own_label() -> None:
    plain = smooth(PATH, self_loops=False)
    with seeded(0):
        p = Network(5, sparse.eye_array(5, format="csr"), Settings(hidden=16)).eval()
    labels = np.eye(5, dtype=np.float32)
    changed = labels.copy()
    changed[1] = labels[3]
    first, second = (encode_nodes(p, plain @ sparse.csr_array(y)) for y in (labels, changed))
    is_same = (first == second).all(1).tolist()
    assert is_same == [False, True, False, True, True]  # 0 and 2 are the neighbors of 1


def test_predictions_are_a_softmax_among_the_nodes_near() -> None:
    plain, observed, tau = smooth(PATH, self_loops=False), near(PATH, 1), 0.5
    with seeded(0):
        p = Network(5, sparse.eye_array(5, format="csr"), Settings(hidden=16)).eval()
    x = plain @ sparse.csr_array(np.eye(5, dtype=np.float32))
    logits = (encode_nodes(p, x) @ p.ids.T / tau).detach().cpu().numpy()
    weight = np.exp(logits) * (PATH.toarray() > 0)
    expected = weight / np.maximum(weight.sum(1, keepdims=True), 1e-12)
    np.testing.assert_allclose(predictions(p, x, observed, tau).toarray(), expected, atol=1e-5)
