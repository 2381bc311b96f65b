"""Nodes with like features are joined: as all pairs have it, and a row of zeros to nobody."""

import numpy as np
import pytest
import torch
from scipy import sparse

from dgb.arrays import Array
from dgb.data.graph import Graph, make_graph
from dgb.recipe import Embed, Recipe
from dgb.views.inputs import make_inputs
from dgb.views.join import Joined, join_nearest, make_joined_adj

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


def all_edges(joined: Joined) -> Array:
    found = joined.edges.toarray()
    if joined.between.nnz:
        found += joined.members.toarray() @ joined.between.toarray() @ joined.members.toarray().T
    return np.asarray(found)


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
    expected = dense_join(adjacency.toarray(), rows)
    np.testing.assert_allclose(joined.edges.toarray(), expected, rtol=1e-5)
    assert joined.edges.dtype == np.float64  # float32 may not hold the sum of all weights
    new = joined.edges - adjacency
    assert new.sum() == pytest.approx(WEIGHT * adjacency.sum(), rel=1e-5)
    assert not new[[3, 11]].count_nonzero() and not new[:, [3, 11]].count_nonzero()


def test_without_edges_or_features_nothing_is_joined(
    adjacency: sparse.csr_array, rows: Array
) -> None:
    nothing = join_nearest(adjacency, np.zeros_like(rows), COUNT, WEIGHT)
    np.testing.assert_array_equal(all_edges(nothing), adjacency.toarray())
    alike = join_nearest(adjacency, np.full_like(rows, 0.1), COUNT, WEIGHT)
    np.testing.assert_array_equal(all_edges(alike), adjacency.toarray())
    empty = sparse.csr_array((40, 40), dtype=np.float32)
    assert not all_edges(join_nearest(empty, rows, COUNT, WEIGHT)).any()
    alone = join_nearest(empty[:1, :1], rows[:1], COUNT, WEIGHT)
    assert alone.edges.shape == (1, 1) and not all_edges(alone).any()


@pytest.mark.parametrize("sizes", [(9, 1, 1, 2), (3, 3, 3), (2, 6, 4, 1, 1)])
def test_equal_rows_share_the_places_of_a_node_evenly(sizes: tuple[int, ...]) -> None:
    """And every node of a group has the same edges, whatever the order."""
    rng = np.random.default_rng(2)
    kinds = rng.standard_normal((len(sizes), 5)).astype(np.float32)
    kinds[1] = kinds[0] + 0.3 * kinds[1]
    group = np.repeat(np.arange(len(sizes)), sizes)
    n = len(group)
    ring = sparse.csr_array(np.roll(np.eye(n, dtype=np.float32), 1, axis=1))
    ring = sparse.csr_array(ring + ring.T)
    joined = join_nearest(ring, kinds[group], COUNT, WEIGHT)
    new = all_edges(joined) - ring.toarray()
    assert new.sum() == pytest.approx(WEIGHT * ring.sum()) and not np.diag(new).any()
    for i in range(len(sizes)):
        for j in range(len(sizes)):
            block = new[np.ix_(group == i, group == j)]
            block = block[~np.eye(len(block), dtype=bool)] if i == j else block
            np.testing.assert_allclose(block, block.max(initial=0), rtol=1e-12, atol=1e-12)
    if sizes[0] == 9:
        own = new[np.ix_(group == 0, group == 0)]
        alone = new[np.ix_(group == 1, group == 0)]
        np.testing.assert_allclose(alone, own.max() * 8 / 9)  # four places of eight, and of nine
    order = rng.permutation(n)
    shuffled = sparse.csr_array(ring[order][:, order])
    moved = join_nearest(shuffled, kinds[group][order], COUNT, WEIGHT)
    np.testing.assert_allclose(all_edges(moved), all_edges(joined)[order][:, order], atol=1e-12)
    loops = all_edges(joined) + np.eye(n)
    root = np.sqrt(loops.sum(axis=0))
    adj = make_joined_adj(joined)
    np.testing.assert_allclose(
        adj.multiply(torch.eye(n)).numpy(), loops / root / root[:, None], atol=1e-6
    )


def test_pairs_of_ties_take_neighbors_next_to_them_in_any_order() -> None:
    """Nodes of two categories: with one in common, thousands may be equally near."""
    one, other = np.divmod(np.arange(60), 10)
    x = np.concatenate([np.eye(6)[one], np.eye(10)[other]], axis=1).astype(np.float32)
    empty = sparse.csr_array(np.ones((60, 60), np.float32) - np.eye(60, dtype=np.float32))
    order = np.random.default_rng(0).permutation(60)
    joined = all_edges(join_nearest(empty, x, 6, WEIGHT))
    moved = all_edges(join_nearest(empty, x[order], 6, WEIGHT))
    np.testing.assert_allclose(moved, joined[order][:, order], rtol=1e-12)
    is_new = joined > 1.001 * joined[joined > 0].min()
    assert is_new.sum(axis=0).max() <= 20  # no hub


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
