"""Links that are recommended are near, new and checked against edges held out."""

import numpy as np
import pytest
from scipy import sparse

from dgb import neighbors
from dgb.arrays import Array
from dgb.data.graph import Graph
from dgb.evaluate import recommend
from dgb.evaluate.link_split import split_edges
from dgb.evaluate.links import count_common_neighbors
from dgb.evaluate.recommend import (
    Ranking,
    check_links,
    rank_by_vectors,
    recommend_links,
    share_found,
)
from tests.conftest import make_blocks


def unit(z: Array) -> Array:
    return np.asarray(z / np.linalg.norm(z, axis=1, keepdims=True))


def test_the_nearest_without_an_edge_are_recommended(blocks: Graph) -> None:
    z = np.random.default_rng(0).normal(size=(90, 6))
    cosine = unit(z) @ unit(z).T
    edges = blocks.adjacency.toarray() > 0
    for rows in (np.array([4]), np.array([7, 0, 31])):
        pairs, similar = recommend_links(rank_by_vectors(z), blocks.adjacency, rows, 3)
        want = set()
        for row in rows:
            free = [i for i in np.argsort(-cosine[row]) if i != row and not edges[row, i]][:3]
            want |= {tuple(sorted((int(row), int(i)))) for i in free}
        assert {tuple(sorted(pair)) for pair in pairs.tolist()} == want
        np.testing.assert_allclose(similar, cosine[tuple(pairs.T)], atol=1e-5)
        assert (np.diff(similar) <= 0).all()
    pairs, _ = recommend_links(rank_by_vectors(z), blocks.adjacency, None, 5)
    assert not edges[tuple(pairs.T)].any()


def test_pairs_of_all_nodes_come_once(blocks: Graph) -> None:
    z = np.random.default_rng(0).normal(size=(90, 6))
    pairs, _ = recommend_links(rank_by_vectors(z), blocks.adjacency, None, 4)
    assert len(np.unique(np.sort(pairs, axis=1), axis=0)) == len(pairs) >= 90 * 4 / 2
    assert (pairs[:, 0] != pairs[:, 1]).all()


@pytest.mark.parametrize("k", [1, 5, 50])
def test_small_and_full_graphs_are_no_error(k: int) -> None:
    z = np.eye(4)
    nothing = sparse.csr_array((4, 4), dtype=np.float32)
    assert len(recommend_links(rank_by_vectors(z), nothing, None, k)[0]) == (6 if k > 2 else 3)
    full = sparse.csr_array((np.ones((4, 4)) - np.eye(4)).astype(np.float32))
    pairs, similar = recommend_links(rank_by_vectors(z), full, None, k)
    assert pairs.shape == (0, 2) and len(similar) == 0
    assert len(count_common_neighbors(full, pairs)) == 0


def test_common_neighbors_are_counted_whatever_their_weight(blocks: Graph) -> None:
    pairs = np.array([[0, 1], [3, 40], [5, 5]])
    ones = (blocks.adjacency.toarray() > 0).astype(int)
    want = [ones[a] @ ones[b] for a, b in pairs]
    heavy = blocks.adjacency * 7
    np.testing.assert_array_equal(count_common_neighbors(heavy, pairs), want)


def test_edges_held_out_are_found_by_vectors_that_know_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = make_blocks(200)
    split = split_edges(graph, 0)
    dense = graph.adjacency.toarray()
    values, vectors = np.linalg.eigh(dense)
    knowing = vectors * np.sqrt(np.maximum(values, 0))
    random = np.random.default_rng(0).normal(size=(200, 8))
    known = check_links(rank_by_vectors(knowing), split, 10)
    noise = check_links(rank_by_vectors(random), split, 10)
    assert known["auc"] > 0.8 and known["hits"] > 3 * noise["hits"]
    assert abs(noise["auc"] - 0.5) < 0.1 and noise["hits"] < 0.25
    assert known["chance"] == pytest.approx(10 / 199)
    monkeypatch.setattr(recommend, "CHECKED", 5)
    few = check_links(rank_by_vectors(knowing), split, 10)
    assert few["hits"] * 5 % 1 == pytest.approx(0, abs=1e-9)


def product_ranking(z: Array) -> Ranking:
    """Return a ranking by something else than the cosine of its vectors."""
    return Ranking(unit(z), lambda pairs: (z[pairs[:, 0]] * z[pairs[:, 1]]).sum(axis=1), 6)


def test_another_score_is_asked_of_every_pair_where_that_is_quick(blocks: Graph) -> None:
    z = np.random.default_rng(0).normal(size=(90, 6)) * np.arange(1, 91)[:, None]
    product, edges = z @ z.T, blocks.adjacency.toarray() > 0
    pairs, score = recommend_links(product_ranking(z), blocks.adjacency, np.array([3, 8]), 4)
    best = np.where(edges | np.eye(90, dtype=bool), -np.inf, product)
    want = {tuple(sorted((r, int(i)))) for r in (3, 8) for i in np.argsort(-best[r])[:4]}
    assert {tuple(sorted(pair)) for pair in pairs.tolist()} == want
    np.testing.assert_allclose(score, product[tuple(pairs.T)])


@pytest.mark.parametrize("rows", [None, np.array([1, 5, 9, 9])])
def test_where_it_is_not_near_nodes_and_those_walks_lead_to_are_looked_at(
    rows: Array | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = make_blocks(400)
    dense = graph.adjacency.toarray() > 0
    values, vectors = np.linalg.eigh(dense.astype(float))
    z = vectors[:, -8:] * values[-8:]
    exact, _ = recommend_links(product_ranking(z), graph.adjacency, rows, 5)
    monkeypatch.setattr(recommend, "EXACT_COST", 0)
    pairs, score = recommend_links(product_ranking(z), graph.adjacency, rows, 5)
    same, all_pairs = ({tuple(sorted(p)) for p in q.tolist()} for q in (pairs, exact))
    assert len(same & all_pairs) > 0.5 * len(all_pairs) and len(same) == len(pairs)
    assert not dense[tuple(pairs.T)].any() and (pairs[:, 0] != pairs[:, 1]).all()
    np.testing.assert_allclose(score, (z @ z.T)[tuple(pairs.T)])
    assert np.bincount(pairs.ravel()).max() <= len(pairs)


def test_of_a_large_graph_most_of_the_best_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make_blocks(400)
    dense = graph.adjacency.toarray() > 0
    values, vectors = np.linalg.eigh(dense.astype(float))
    ranking = rank_by_vectors(vectors[:, -8:] * values[-8:])
    exact, _ = recommend_links(ranking, graph.adjacency, None, 5)
    assert ranking.is_exact(400) and ranking.is_exact(3)
    assert share_found(ranking, graph.adjacency, exact, 5) == 1
    assert share_found(ranking, graph.adjacency, exact[::2], 5) < 0.8
    for module in (recommend, neighbors):
        monkeypatch.setattr(module, "EXACT_NODES", 10)
    monkeypatch.setattr(neighbors, "LOOKED_AT", 60)
    monkeypatch.setattr(neighbors, "LOOKED_AT_EACH", 1)
    monkeypatch.setattr(neighbors, "LOOKED_AT_ROOT", 1)
    pairs, cosine = recommend_links(ranking, graph.adjacency, None, 5)
    assert not ranking.is_exact(400) and ranking.is_exact(399)
    assert not dense[tuple(pairs.T)].any() and (np.diff(cosine) <= 0).all()
    assert 0.5 < share_found(ranking, graph.adjacency, pairs, 5) < 1
    np.testing.assert_allclose(cosine, ranking.score(pairs), atol=2e-6)
