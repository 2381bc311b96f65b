"""Scores of the target nodes of a heterogeneous graph: each split once, the clustering once."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dgb.arrays import Array
from dgb.data.graph import Split
from dgb.data.typed.graph import HeteroGraph, make_hetero_graph, make_node_type, make_relation
from dgb.errors import DGBError
from dgb.evaluate.cluster import cluster, score_clusters
from dgb.evaluate.labels import choose_split
from dgb.evaluate.probe import linear_probe
from dgb.evaluate.scores import score_embeddings, why_not_scored
from dgb.recipe import Probe


@pytest.fixture
def graph() -> HeteroGraph:
    """Return 120 papers of three classes with 30 authors, and two splits of the papers."""
    rng = np.random.default_rng(0)
    papers, authors = make_node_type(np.arange(120)), make_node_type(np.arange(30))
    wrote = make_relation(
        "paper", "by", "author", sparse.random_array((120, 30), density=0.1, rng=rng)
    )
    order = rng.permutation(120)
    splits = tuple(Split(order[:n], order[n : n + 30], order[n + 30 :]) for n in (12, 40))
    return make_hetero_graph(
        "library",
        {"paper": papers, "author": authors},
        [wrote],
        "paper",
        labels=rng.integers(0, 3, 120),
        splits=splits,
        split_names=("4", "13"),
    )


def rows_of(graph: HeteroGraph) -> Array:
    assert graph.labels is not None
    noise = np.random.default_rng(1).normal(size=(120, 5))
    return np.asarray(np.eye(3, 5)[graph.labels] + 0.5 * noise)


@pytest.mark.parametrize("kind", ["linear", "heco"])
def test_every_split_has_the_scores_of_its_own_probe(graph: HeteroGraph, kind: str) -> None:
    z, recipe, labels = rows_of(graph), Probe(kind=kind), graph.labels
    assert labels is not None
    scores = score_embeddings(z, graph, recipe, seed=5)
    assert list(scores["splits"]) == ["4", "13"]
    for split, found in zip(graph.splits, scores["splits"].values(), strict=True):
        assert found == linear_probe(z, labels, split, recipe, seed=5).values()
    assert scores["splits"]["4"]["test"] != scores["splits"]["13"]["test"]
    assert ("macro_f1" in scores["splits"]["4"]) == (kind == "heco")
    assert scores["cluster"] == vars(score_clusters(cluster(z, 3, 5), labels))


@pytest.mark.parametrize("names", [(), ("a", "a"), ("a",)])
def test_splits_without_a_name_each_are_counted(graph: HeteroGraph, names: tuple[str, ...]) -> None:
    scores = score_embeddings(rows_of(graph), replace(graph, split_names=names), Probe(), 0)
    assert list(scores["splits"]) == ["split 1", "split 2"]


def test_without_a_split_one_is_drawn_by_the_seed(graph: HeteroGraph) -> None:
    bare = replace(graph, splits=(), split_names=())
    assert bare.labels is not None
    z = rows_of(graph)
    drawn = choose_split(bare.target_graph(), 3)
    assert score_embeddings(z, bare, Probe(), 3)["splits"] == {
        "random split": linear_probe(z, bare.labels, drawn, Probe(), 3).values()
    }


def test_unlabelled_nodes_are_left_out(graph: HeteroGraph) -> None:
    assert graph.labels is not None
    labels = graph.labels.copy()
    labels[graph.splits[0].test[:20]] = -1
    z = rows_of(graph)
    few = replace(graph.splits[0], test=graph.splits[0].test[20:])
    found = score_embeddings(z, replace(graph, labels=labels), Probe(kind="heco"), 0)
    expected = linear_probe(z, graph.labels, few, Probe(kind="heco"), 0)
    assert found["splits"]["4"] == expected.values()


def test_what_cannot_be_scored_is_said(graph: HeteroGraph) -> None:
    assert why_not_scored(graph, 0) is None
    untold: Any = replace(graph, labels=None, splits=(), split_names=())
    with pytest.raises(DGBError, match="library has no labels"):
        score_embeddings(rows_of(graph), untold, Probe(), 0)
    empty = replace(graph.splits[1], test=graph.splits[1].test[:0])
    broken = replace(graph, splits=(graph.splits[0], empty))
    assert "no labelled test nodes (13)" in str(why_not_scored(broken, 0))
    with pytest.raises(DGBError, match="150 rows of embeddings, but library has 120 nodes of type"):
        score_embeddings(np.zeros((150, 4)), graph, Probe(), 0)
