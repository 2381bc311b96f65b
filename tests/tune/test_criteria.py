"""Label-free criteria: high for rich embeddings, low for collapsed ones, defined for all."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dgb.arrays import Array
from dgb.data.graph import Graph
from dgb.tune.criteria import CRITERIA, SAMPLE, label_free_scores, rank_agreement
from tests.conftest import make_blocks

OF_THE_ROWS = ["effective_rank", "stable_rank", "spectrum_decay", "spread", "uniformity"]


def orthogonal(num_nodes: int, width: int) -> Array:
    rows = np.random.default_rng(0).normal(size=(num_nodes, width))
    return np.asarray(np.linalg.qr(rows)[0], dtype=np.float32)


def no_edges(num_nodes: int) -> Any:
    return sparse.csr_array((num_nodes, num_nodes), dtype=np.float32)


@pytest.mark.parametrize("name", OF_THE_ROWS)
def test_rows_that_are_alike_score_below_orthogonal_ones(name: str) -> None:
    alike = np.full((200, 16), 0.3, dtype=np.float32)
    rich, poor = (CRITERIA[name](z, no_edges(200)) for z in (orthogonal(200, 16), alike))
    assert rich > poor + 0.5


@pytest.mark.parametrize("name", ["effective_rank", "stable_rank", "spectrum_decay", "uniformity"])
def test_rows_on_one_line_score_below_orthogonal_ones(name: str) -> None:
    z = orthogonal(200, 16)
    line = np.outer(z[:, 0], np.ones(16, dtype=np.float32))
    assert CRITERIA[name](z, no_edges(200)) > CRITERIA[name](line, no_edges(200)) + 0.5


def test_ranks_of_orthogonal_rows_are_their_width() -> None:
    z = orthogonal(400, 16)
    assert CRITERIA["effective_rank"](z, None) == pytest.approx(16, abs=0.1)
    assert CRITERIA["stable_rank"](z, None) == pytest.approx(16, rel=0.05)
    assert CRITERIA["spectrum_decay"](z, None) == pytest.approx(0, abs=0.02)


def test_spectrum_decay_finds_the_power_of_a_power_law() -> None:
    z = orthogonal(1000, 64)
    z = (z - z.mean(axis=0)) * np.arange(1, 65, dtype=np.float32) ** -0.75
    assert CRITERIA["spectrum_decay"](z, None) == pytest.approx(-1.5, abs=0.05)


def test_criteria_of_the_graph_follow_its_edges(blocks: Graph) -> None:
    assert blocks.labels is not None
    noise = np.random.default_rng(0).normal(size=(blocks.num_nodes, 8)).astype(np.float32)
    planted = (5 * np.eye(3, 8)[blocks.labels] + 0.1 * noise).astype(np.float32)
    for name in ("edge_auc", "cluster_modularity"):
        criterion = CRITERIA[name]
        assert criterion(planted, blocks.adjacency) > criterion(noise, blocks.adjacency) + 0.1
    assert CRITERIA["edge_auc"](noise, blocks.adjacency) == pytest.approx(0.5, abs=0.1)


def test_silhouette_finds_planted_clusters() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 16)).astype(np.float32)
    planted = (5 * np.eye(10, 16)[np.arange(300) % 10] + 0.1 * noise).astype(np.float32)
    scores = [CRITERIA["cluster_silhouette"](z, None) for z in (planted, noise)]
    assert scores[0] > 0.8 > 0.3 > scores[1]


def test_modularity_is_that_of_networkx(blocks: Graph) -> None:
    networkx = pytest.importorskip("networkx")
    assert blocks.labels is not None
    graph = networkx.from_scipy_sparse_array(blocks.adjacency)
    groups = [set(np.flatnonzero(blocks.labels == k).tolist()) for k in range(3)]
    z = np.eye(3, dtype=np.float32)[blocks.labels]
    expected = networkx.community.modularity(graph, groups)
    assert CRITERIA["cluster_modularity"](z, blocks.adjacency) == pytest.approx(expected)


@pytest.mark.parametrize("num_nodes", [2, 3, 50])
@pytest.mark.parametrize("kind", ["zero", "alike", "random"])
def test_everything_has_a_number_without_edges(num_nodes: int, kind: str) -> None:
    z = np.random.default_rng(0).normal(size=(num_nodes, 4)).astype(np.float32)
    z = {"zero": z * 0, "alike": z * 0 + 0.1, "random": z}[kind]
    scores = label_free_scores(z, no_edges(num_nodes))
    assert set(scores) == set(CRITERIA)
    assert all(type(value) is float and np.isfinite(value) for value in scores.values())
    assert scores["edge_auc"] == 0.5 and scores["cluster_modularity"] == 0


def test_more_rows_than_the_sample_score_the_same_twice() -> None:
    graph = make_blocks(SAMPLE + 100)
    z = np.random.default_rng(0).normal(size=(graph.num_nodes, 4)).astype(np.float32)
    scores = label_free_scores(z, graph.adjacency)
    assert scores == label_free_scores(z.copy(), graph.adjacency)


def line(validation: float, rank: float, state: str = "complete") -> dict[str, Any]:
    scores = dict.fromkeys(CRITERIA, 1.0) | {"validation": validation, "effective_rank": rank}
    before = scores | {"epoch": 1, "validation": 0.99, "effective_rank": 500.0, "edge_auc": 2.0}
    return {"state": state, "history": [before, scores | {"epoch": 2}]}


def test_agreement_is_spearman_s_over_finished_trials() -> None:
    pruned, failed = line(0.1, 900, "pruned"), {"state": "failed", "history": []}
    agreement = rank_agreement([line(0.5, 10), line(0.6, 20), line(0.9, 400), pruned, failed])
    assert agreement["effective_rank"][0] == pytest.approx(1)
    assert agreement["spread"] == (0, 3)
    opposite = rank_agreement([line(0.5, 2), line(0.6, 1)])
    assert opposite["effective_rank"][0] == pytest.approx(-1)
    assert rank_agreement([])["spread"] == (0, 0)
