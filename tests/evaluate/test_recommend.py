"""Links that are recommended are near, new and checked against edges held out."""

import numpy as np
import pytest
from scipy import sparse

from dgb.arrays import Array
from dgb.data.graph import Graph
from dgb.evaluate import recommend
from dgb.evaluate.link_scorers import count_common_neighbors
from dgb.evaluate.links import split_edges
from dgb.evaluate.recommend import check_links, recommend_links
from tests.conftest import make_blocks


def unit(z: Array) -> Array:
    return np.asarray(z / np.linalg.norm(z, axis=1, keepdims=True))


def test_the_nearest_without_an_edge_are_recommended(blocks: Graph) -> None:
    z = np.random.default_rng(0).normal(size=(90, 6))
    cosine = unit(z) @ unit(z).T
    edges = blocks.adjacency.toarray() > 0
    for rows in (np.array([4]), np.array([7, 0, 31])):
        pairs, similar = recommend_links(z, blocks.adjacency, rows, 3)
        want = set()
        for row in rows:
            free = [i for i in np.argsort(-cosine[row]) if i != row and not edges[row, i]][:3]
            want |= {tuple(sorted((int(row), int(i)))) for i in free}
        assert {tuple(sorted(pair)) for pair in pairs.tolist()} == want
        np.testing.assert_allclose(similar, cosine[tuple(pairs.T)], atol=1e-5)
        assert (np.diff(similar) <= 0).all()
    assert not edges[tuple(recommend_links(z, blocks.adjacency, None, 5)[0].T)].any()


def test_pairs_of_all_nodes_come_once(blocks: Graph) -> None:
    z = np.random.default_rng(0).normal(size=(90, 6))
    pairs, _ = recommend_links(z, blocks.adjacency, None, 4)
    assert len(np.unique(np.sort(pairs, axis=1), axis=0)) == len(pairs) >= 90 * 4 / 2
    assert (pairs[:, 0] != pairs[:, 1]).all()


@pytest.mark.parametrize("k", [1, 5, 50])
def test_small_and_full_graphs_are_no_error(k: int) -> None:
    z = np.eye(4)
    nothing = sparse.csr_array((4, 4), dtype=np.float32)
    assert len(recommend_links(z, nothing, None, k)[0]) == (6 if k > 2 else 3)
    full = sparse.csr_array((np.ones((4, 4)) - np.eye(4)).astype(np.float32))
    pairs, similar = recommend_links(z, full, None, k)
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
    known = check_links(knowing, split, 10)
    noise = check_links(np.random.default_rng(0).normal(size=(200, 8)), split, 10)
    assert known["auc"] > 0.8 and known["hits"] > 3 * noise["hits"]
    assert abs(noise["auc"] - 0.5) < 0.1 and noise["hits"] < 0.25
    assert known["chance"] == pytest.approx(10 / 199)
    monkeypatch.setattr(recommend, "CHECKED", 5)
    assert check_links(knowing, split, 10)["hits"] * 5 % 1 == pytest.approx(0, abs=1e-9)
