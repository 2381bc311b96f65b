"""Link prediction: what is asked for is not in the training graph, test pairs choose no scorer."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from dgb.arrays import Array
from dgb.data.encoding import Encoding
from dgb.data.graph import Graph, make_graph
from dgb.data.structure import structural_features
from dgb.errors import DGBError
from dgb.evaluate import links
from dgb.evaluate.link_split import sample_non_edges, split_edges
from dgb.evaluate.links import (
    LinkSplit,
    Pairs,
    choose_scorer,
    edge_pairs,
    edge_scorers,
    edge_scores,
    embedding_scorers,
    link_scores,
)
from tests.conftest import make_blocks


@pytest.fixture
def graph() -> Graph:
    return make_blocks(150)


@pytest.fixture
def split(graph: Graph) -> LinkSplit:
    return split_edges(graph, 0)


def graph_of(dense: Array) -> Graph:
    return make_graph("g", np.ones((len(dense), 1)), sparse.csr_array(dense.astype(np.float32)))


def rows(pairs: Array) -> set[tuple[int, int]]:
    return {(int(i), int(j)) for i, j in pairs}


def test_removed_edges_are_gone_in_both_directions(graph: Graph, split: LinkSplit) -> None:
    assert isinstance(split.train_graph, Graph)
    left = split.train_graph.adjacency.toarray()
    whole = graph.adjacency.toarray()
    for part in (split.validation.edges, split.test.edges):
        assert len(part) > 0
        assert (whole[part[:, 0], part[:, 1]] > 0).all()
        assert (left[part[:, 0], part[:, 1]] == 0).all()
        assert (left[part[:, 1], part[:, 0]] == 0).all()
    np.testing.assert_array_equal(left, left.T)
    removed = len(split.validation.edges) + len(split.test.edges)
    assert split.train_graph.num_edges == graph.num_edges - removed
    np.testing.assert_array_equal(left[left > 0], whole[left > 0])  # weights stay


def test_shares_are_of_all_edges(graph: Graph, split: LinkSplit) -> None:
    assert len(split.validation.edges) == round(0.05 * graph.num_edges)
    assert len(split.test.edges) == round(0.10 * graph.num_edges)
    bigger = split_edges(graph, 0, validation=0.2, test=0.3)
    assert len(bigger.test.edges) == round(0.3 * graph.num_edges)


def test_other_pairs_are_never_edges_and_no_pair_is_in_two_parts(
    graph: Graph, split: LinkSplit
) -> None:
    parts = (split.train, split.validation, split.test)
    whole = graph.adjacency.toarray()
    for part in parts:
        assert len(part.others) == len(part.edges)
        assert (part.others[:, 0] < part.others[:, 1]).all()  # so no node with itself
        assert (whole[part.others[:, 0], part.others[:, 1]] == 0).all()
    pairs = np.concatenate([part.both() for part in parts])
    assert len(rows(pairs)) == len(pairs)


def test_other_pairs_are_all_equally_likely() -> None:
    dense = np.zeros((6, 6))
    dense[0, 1] = dense[0, 5] = dense[2, 3] = dense[4, 5] = 1
    adjacency = graph_of(dense).adjacency
    free = {(i, j) for i in range(6) for j in range(i + 1, 6) if dense[i, j] == 0}
    rng = np.random.default_rng(0)
    assert rows(sample_non_edges(adjacency, 11, rng)) == free  # every one of them exists
    drawn = np.concatenate([sample_non_edges(adjacency, 2, rng) for _ in range(1100)])
    counts = np.unique(drawn, axis=0, return_counts=True)[1]
    assert len(counts) == 11 and counts.min() > 140 and counts.max() < 260  # 200 each


def test_pairs_of_a_large_sparse_graph_need_no_dense_matrix() -> None:
    n = 3_000_000
    ring = np.arange(n)
    adjacency = sparse.csr_array((np.ones(n, np.float32), (ring, np.roll(ring, -1))), shape=(n, n))
    adjacency = sparse.csr_array(adjacency + adjacency.T)
    pairs = sample_non_edges(adjacency, 1000, np.random.default_rng(0))
    assert (pairs[:, 0] < pairs[:, 1]).all() and pairs.max() < n
    assert not np.isin(pairs[:, 1] - pairs[:, 0], (1, n - 1)).any()


def test_a_complete_or_tiny_graph_and_wrong_shares_are_refused(graph: Graph) -> None:
    with pytest.raises(DGBError, match="too dense"):
        split_edges(graph_of(1 - np.eye(12)), 0)
    with pytest.raises(DGBError, match="the graph has 2"):
        split_edges(graph_of(np.diag([1, 1], 1)), 0)
    for shares in ((0.0, 0.1), (0.5, 0.5), (-0.1, 0.1)):
        with pytest.raises(DGBError, match="shares"):
            split_edges(graph, 0, *shares)


def test_the_seed_decides_the_split(graph: Graph, split: LinkSplit) -> None:
    again, other = split_edges(graph, 0), split_edges(graph, 1)
    np.testing.assert_array_equal(again.test.both(), split.test.both())
    assert rows(other.test.edges) != rows(split.test.edges)


@pytest.mark.parametrize("kind", ["walk", "degree"])
def test_features_made_of_edges_are_made_anew(graph: Graph, kind: str) -> None:
    x = structural_features(graph.adjacency, graph.node_ids, kind)
    made = replace(graph, x=x, encoding=Encoding(structure=kind))
    left = split_edges(made, 0).train_graph
    assert isinstance(left, Graph)
    expected = structural_features(left.adjacency, graph.node_ids, kind)
    np.testing.assert_array_equal(left.x, expected)
    assert not np.array_equal(left.x, x)
    own = split_edges(graph, 0).train_graph
    assert isinstance(own, Graph) and own.x is graph.x  # features of its own stay


def test_test_pairs_do_not_change_what_is_chosen(graph: Graph, split: LinkSplit) -> None:
    z = np.random.default_rng(0).normal(size=(150, 8)) + np.eye(8)[graph.labels]
    swapped = replace(split, test=Pairs(split.test.others, split.test.edges))
    honest, cheated = link_scores(z, split), link_scores(z, swapped)
    assert honest["scorer"] == cheated["scorer"]
    assert honest["validation_auc"] == cheated["validation_auc"]
    assert honest["test_auc"] == pytest.approx(1 - cheated["test_auc"])


def test_validation_pairs_do_choose(graph: Graph, split: LinkSplit) -> None:
    z = np.random.default_rng(0).normal(size=(150, 8)) + np.eye(8)[graph.labels]
    scorers = embedding_scorers(z, split.train)
    areas = [choose_scorer({name: s}, split.validation)[1] for name, s in scorers.items()]
    assert choose_scorer(scorers, split.validation)[1] == max(areas) > min(areas)


def test_a_perfect_embedding_scores_1_and_noise_a_half() -> None:
    cliques = np.kron(np.eye(30), np.ones((5, 5)))
    graph = graph_of(cliques)
    split = split_edges(graph, 0)
    perfect = link_scores(np.repeat(np.eye(30), 5, axis=0), split)
    assert (perfect["test_auc"], perfect["test_ap"]) == pytest.approx((1, 1))
    lost = link_scores(np.random.default_rng(0).normal(size=(150, 3)), split)
    assert 0.25 < lost["test_auc"] < 0.75
    assert edge_scores(split)["scorer"] == "common neighbors"
    assert edge_scores(split)["test_auc"] > 0.95


def test_logistic_regression_learns_what_no_dot_product_tells() -> None:
    rng = np.random.default_rng(0)
    side = rng.integers(0, 2, 200)
    dense = np.triu((side[:, None] != side[None]) & (rng.random((200, 200)) < 0.2), 1)
    split = split_edges(graph_of(dense), 0)
    z = np.stack([2.0 * side - 1, rng.normal(size=200)], axis=1)  # edges join opposite sides
    scores = link_scores(z, split)
    assert scores["scorer"].startswith("logistic") and scores["test_auc"] > 0.7


def test_sparse_and_dense_rows_score_alike(graph: Graph, split: LinkSplit) -> None:
    thin, thick = link_scores(graph.x, split), link_scores(graph.x.toarray(), split)
    assert thin["test_auc"] == pytest.approx(thick["test_auc"], abs=0.02)


def test_common_neighbors_are_adamic_and_adars(graph: Graph) -> None:
    networkx = pytest.importorskip("networkx")
    drawn = networkx.from_scipy_sparse_array(graph.adjacency)
    pairs = np.concatenate([edge_pairs(graph.adjacency)[0][:50], [[0, 1], [3, 9], [149, 20]]])
    scorers = edge_scorers(graph.adjacency)
    expected = [s for _, _, s in networkx.adamic_adar_index(drawn, pairs.tolist())]
    np.testing.assert_allclose(scorers["common neighbors"](pairs), expected)
    expected = [s for _, _, s in networkx.preferential_attachment(drawn, pairs.tolist())]
    np.testing.assert_allclose(scorers["degree product"](pairs), expected)


def test_large_parts_are_sampled_always_alike(
    split: LinkSplit, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert split.sample().test.edges is split.test.edges
    monkeypatch.setattr(links, "ASKED_PAIRS", 7)
    some = split.sample()
    for part, whole in ((some.validation, split.validation), (some.test, split.test)):
        assert len(rows(part.edges)) == 7 and rows(part.edges) < rows(whole.edges)
        assert len(rows(part.others)) == 7 and rows(part.others) < rows(whole.others)
    np.testing.assert_array_equal(split.sample().test.both(), some.test.both())
    assert some.train is split.train
