"""Nodes with like features are joined: as all pairs have it, and a row of zeros to nobody."""

import numpy as np
import pytest
import torch
from scipy import sparse

from dgb.arrays import Array
from dgb.data.graph import Graph, make_graph
from dgb.recipe import Embed, Recipe
from dgb.views.inputs import make_inputs
from dgb.views.nearest import join_nearest

COUNT, WEIGHT = 4, 0.3


def dense_join(adjacency: Array, rows: Array) -> Array:
    """Return what `join_nearest` should, by all pairs of rows."""
    known = np.asarray(rows.any(axis=1))
    centred = np.where(known[:, None], rows - rows[known].mean(axis=0), 0)
    unit = centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -2)
    new = np.zeros_like(adjacency)
    for i, own in enumerate(cosines):
        best = np.argsort(-own, kind="stable")[:COUNT]
        new[i, best[own[best] > 0]] = 1
    new = np.maximum(new, new.T)
    return np.asarray(adjacency + WEIGHT * adjacency.sum() / new.sum() * new)


@pytest.fixture
def rows() -> Array:
    found = np.random.default_rng(5).normal(size=(40, 6)).astype(np.float32)
    found[[3, 11]] = 0
    return found


@pytest.fixture
def adjacency() -> sparse.csr_array:
    made = sparse.random_array((40, 40), density=0.1, rng=np.random.default_rng(1)).toarray()
    made = np.triu(made, 1).astype(np.float32)
    return sparse.csr_array(made + made.T)


def test_new_edges_are_those_of_all_pairs(adjacency: sparse.csr_array, rows: Array) -> None:
    joined = join_nearest(adjacency, rows, COUNT, WEIGHT)
    np.testing.assert_allclose(joined.toarray(), dense_join(adjacency.toarray(), rows), rtol=1e-5)
    assert joined.dtype == np.float64  # float32 may not hold the sum of all weights
    new = joined - adjacency
    assert new.sum() == pytest.approx(WEIGHT * adjacency.sum(), rel=1e-5)
    assert not new[[3, 11]].count_nonzero() and not new[:, [3, 11]].count_nonzero()


def test_without_edges_or_features_nothing_is_joined(
    adjacency: sparse.csr_array, rows: Array
) -> None:
    nothing = join_nearest(adjacency, np.zeros_like(rows), COUNT, WEIGHT)
    np.testing.assert_array_equal(nothing.toarray(), adjacency.toarray())
    empty = sparse.csr_array((40, 40), dtype=np.float32)
    assert join_nearest(empty, rows, COUNT, WEIGHT).sum() == 0
    alone = join_nearest(empty[:1, :1], rows[:1], COUNT, WEIGHT)
    assert alone.shape == (1, 1) and alone.sum() == 0


def test_features_are_diffused_over_both_kinds_of_edges(graph: Graph) -> None:
    embed = Embed(diffused_nearest=COUNT, nearest_weight=WEIGHT, diffused_alpha=0.2)
    inputs = make_inputs(graph, Recipe(embed=embed), torch.device("cpu"))
    assert inputs.directions is not None
    rows = inputs.diffused.multiply(inputs.directions)
    found = inputs.diffused_over_nearest(rows, embed).multiply(inputs.directions)
    loops = dense_join(graph.adjacency.toarray(), rows.numpy()) + np.eye(graph.num_nodes)
    root = np.sqrt(loops.sum(axis=0))
    s = 0.2 * np.linalg.inv(np.eye(graph.num_nodes) - 0.8 * loops / root / root[:, None])
    x = inputs.diffused.x
    features = x if isinstance(x, torch.Tensor) else torch.from_numpy(np.asarray(x.dense()))
    expected = s @ features.numpy() @ inputs.directions.numpy()
    np.testing.assert_allclose(found.numpy(), expected, atol=5e-3 * np.abs(expected).max())


def test_a_node_that_nobody_has_joined_gets_features_of_like_ones() -> None:
    """Two groups by features; node 0 has no edge."""
    rng = np.random.default_rng(0)
    x = np.repeat(np.eye(2, 8, dtype=np.float32), 10, axis=0) + rng.random((20, 8)) / 2
    edges = np.array([(i, j) for i in range(1, 20) for j in range(i) if j and i // 10 == j // 10])
    a = sparse.coo_array((np.ones(len(edges)), tuple(edges.T)), shape=(20, 20))
    graph = make_graph("groups", x.astype(np.float32), a)
    embed = Embed(diffused_nearest=3)
    inputs = make_inputs(graph, Recipe(embed=embed), torch.device("cpu"))
    assert inputs.directions is not None
    before = inputs.diffused.multiply(inputs.directions)
    after = inputs.diffused_over_nearest(before, embed).multiply(inputs.directions)
    mean = after[1:10].mean(dim=0)
    assert torch.cosine_similarity(after[0], mean, dim=0) > 0.99
    assert torch.cosine_similarity(before[0], mean, dim=0) < 0.97
