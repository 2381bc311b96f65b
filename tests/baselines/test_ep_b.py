"""EP-B: the margin ranking of a node's words before those of another, seen from its neighbors."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from dgb.baselines.ep_b import Settings, draw_others, neighbor_mean, ranking_loss, represent
from dgb.baselines.inputs import features, seeded
from dgb.data.graph import Graph
from dgb.views.product import product, times
from tests.baselines.conftest import accuracy_of


def brute_h(graph: Graph, embeddings: Any) -> Any:
    """Return the mean of the embeddings of each node's words, word by word."""
    x, h = graph.x.toarray(), np.zeros((graph.num_nodes, embeddings.shape[1]))
    for v in range(graph.num_nodes):
        words = np.flatnonzero(x[v])
        h[v] = sum(x[v, w] * embeddings[w] for w in words) / max(x[v].sum(), 1e-9)
    return h


def brute_rebuilt(graph: Graph, h: Any) -> Any:
    """Return the mean of h over the neighbors, h where a node has none."""
    a = graph.adjacency.toarray()
    near = [[u for u in range(len(a)) if a[v, u] and u != v] for v in range(len(a))]
    return np.stack(
        [sum(h[u] for u in near[v]) / len(near[v]) if near[v] else h[v] for v in range(len(a))]
    )


@pytest.fixture
def with_hermit(two_blocks: Graph) -> Graph:
    """Return the two blocks with node 0 cut off from all others."""
    a = two_blocks.adjacency.tolil(copy=True)
    a[0, :] = a[:, 0] = 0
    a = a.tocsr()
    a.eliminate_zeros()
    return replace(two_blocks, adjacency=a)


def test_learns(two_blocks: Graph) -> None:
    untrained = accuracy_of("ep-b", two_blocks, epochs=0)
    assert accuracy_of("ep-b", two_blocks, epochs=100, margin=5.0) > max(0.85, untrained)


def test_loss_ranks_own_words_before_others(two_blocks: Graph) -> None:
    with seeded(3):
        words = nn.Embedding(40, 6)
        u = draw_others(torch.arange(120), 120)
    h = times(features(two_blocks), words.weight.detach())
    expected_h = brute_h(two_blocks, words.weight.detach().numpy())
    np.testing.assert_allclose(h, expected_h, atol=1e-5)
    rebuilt = product(neighbor_mean(two_blocks), h)
    centre = brute_rebuilt(two_blocks, expected_h)
    terms = []
    for v in range(120):
        own = np.sqrt(((centre[v] - expected_h[v]) ** 2).sum())
        other = np.sqrt(((centre[v] - expected_h[u[v]]) ** 2).sum())
        terms.append(max(0.0, 0.3 + own - other))
    assert 0 < np.count_nonzero(terms) < 120
    loss = ranking_loss(h, rebuilt, torch.arange(120), u, 0.3)
    np.testing.assert_allclose(loss, np.mean(terms), rtol=1e-5)


def test_a_node_is_represented_by_its_neighbors_and_alone_by_itself(with_hermit: Graph) -> None:
    with seeded(0):
        words = nn.Embedding(40, 128)
    h = brute_h(with_hermit, words.weight.detach().numpy())
    rows = represent(with_hermit, Settings(epochs=0), 0)
    np.testing.assert_allclose(rows, brute_rebuilt(with_hermit, h), atol=1e-5)
    np.testing.assert_allclose(rows[0], h[0], atol=1e-5)
    assert np.isfinite(represent(with_hermit, Settings(epochs=3), 0)).all()


def test_a_node_is_not_its_own_negative() -> None:
    v = torch.arange(3).repeat(200)
    u = draw_others(v, 3)
    assert not (u == v).any()
    assert all(len(set(u[v == node].tolist())) == 2 for node in range(3))


def test_rows_without_words_have_finite_gradients() -> None:
    h = torch.zeros(4, 3, requires_grad=True)
    loss = ranking_loss(h, h * 2, torch.arange(4), torch.tensor([1, 2, 3, 0]), 1.0)
    (grad,) = torch.autograd.grad(loss, h)
    assert grad.isfinite().all()
