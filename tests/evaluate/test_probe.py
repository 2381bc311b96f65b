"""Probe and clustering: right answers, and no way for test labels to reach a choice."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dgb.data.graph import Array, Graph, Split
from dgb.errors import DGBError
from dgb.evaluate import probe
from dgb.evaluate.cluster import cluster, matched_accuracy, score_clusters
from dgb.evaluate.probe import choose_classifier, linear_probe, scaled
from dgb.evaluate.scores import choose_split, why_not_scored
from dgb.recipe import Probe
from tests.conftest import make_blocks


def noisy(graph: Graph, noise: float) -> Array:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(3, 16))
    assert graph.labels is not None
    return np.asarray(centres[graph.labels] + noise * rng.normal(size=(graph.num_nodes, 16)))


@pytest.mark.parametrize("kind", ["linear", "dgi"])
def test_separable_rows_score_1_and_noise_scores_chance(kind: str) -> None:
    graph = make_blocks(600)
    assert graph.labels is not None
    clear = linear_probe(noisy(graph, 0.1), graph.labels, graph.splits[0], Probe(kind=kind))
    lost = linear_probe(noisy(graph, 1e3), graph.labels, graph.splits[0], Probe(kind=kind))
    assert clear.test > 0.98 and clear.validation > 0.98
    assert 0.2 < lost.test < 0.5


def test_heads_are_as_many_as_classes_whatever_their_numbers() -> None:
    graph = make_blocks(120)
    assert graph.labels is not None
    z, split = noisy(graph, 1.0), graph.splits[0]
    dense = linear_probe(z, graph.labels, split, Probe(kind="dgi"))
    spaced = linear_probe(z, graph.labels * 10**9, split, Probe(kind="dgi"))
    assert spaced.test == dense.test and spaced.validation == dense.validation


def test_test_labels_cannot_change_what_is_chosen() -> None:
    graph = make_blocks(300)
    assert graph.labels is not None
    split, z = graph.splits[0], noisy(graph, 2.0)
    shuffled = graph.labels.copy()
    shuffled[split.test] = np.random.default_rng(5).permutation(shuffled[split.test])
    assert (shuffled != graph.labels).any()
    one = choose_classifier(z, graph.labels, split, Probe())
    other = choose_classifier(z, shuffled, split, Probe())
    assert (one.normalise, one.weight_decay) == (other.normalise, other.weight_decay)
    np.testing.assert_array_equal(one.model.coef_, other.model.coef_)
    honest, cheated = (linear_probe(z, y, split) for y in (graph.labels, shuffled))
    assert honest.validation == cheated.validation
    assert honest.test != cheated.test


def test_validation_labels_do_choose() -> None:
    graph = make_blocks(300)
    assert graph.labels is not None
    split, z = graph.splits[0], noisy(graph, 2.0)
    scores = {
        wd: choose_classifier(z, graph.labels, split, Probe(weight_decays=(wd,))).validation
        for wd in (10.0, 1e-2, 1e-6)
    }
    chosen = choose_classifier(z, graph.labels, split, Probe(weight_decays=tuple(scores)))
    assert chosen.validation == max(scores.values())


def test_train_nodes_alone_are_learnt_from() -> None:
    graph = make_blocks(300)
    assert graph.labels is not None
    split, z = graph.splits[0], noisy(graph, 2.0)
    altered = z.copy()
    altered[split.validation] += 100
    fits = [
        choose_classifier(rows, graph.labels, split, Probe(weight_decays=(0.01,), normalise="l2"))
        for rows in (z, altered)
    ]
    np.testing.assert_array_equal(fits[0].model.coef_, fits[1].model.coef_)


def test_sparse_and_dense_rows_score_alike(blocks: Graph) -> None:
    assert blocks.labels is not None
    split = blocks.splits[0]
    dense = linear_probe(blocks.x.toarray(), blocks.labels, split)
    assert linear_probe(blocks.x, blocks.labels, split).test == pytest.approx(dense.test, abs=0.04)


def test_a_class_missing_from_train_is_no_error() -> None:
    graph = make_blocks(120)
    assert graph.labels is not None
    train = graph.splits[0].train
    split = Split(train[graph.labels[train] != 2], graph.splits[0].validation, graph.splits[0].test)
    assert linear_probe(noisy(graph, 0.1), graph.labels, split).test < 0.9


def test_matching_clusters_ignores_their_names() -> None:
    labels = np.array([0, 0, 1, 1, 2, 2])
    assert matched_accuracy(np.array([2, 2, 0, 0, 1, 1]), labels) == 1
    assert matched_accuracy(np.array([2, 2, 0, 0, 1, 0]), labels) == pytest.approx(5 / 6)
    assert matched_accuracy(np.array([0, 1, 2, 3, 4, 5]), labels) == pytest.approx(3 / 6)


def test_k_means_finds_planted_groups_and_leaves_unlabelled_out() -> None:
    graph = make_blocks(150)
    assert graph.labels is not None
    labels = graph.labels.copy()
    clusters = cluster(noisy(graph, 0.1), 3, seed=0)
    labels[:10] = -1
    scores = score_clusters(clusters, labels)
    assert (scores.accuracy, scores.nmi, scores.ari) == pytest.approx((1, 1, 1))


def test_random_split_is_10_10_80_disjoint_and_by_seed() -> None:
    graph = make_blocks(200)
    bare = Graph(graph.name, graph.x, graph.adjacency, graph.node_ids, graph.labels)
    split = choose_split(bare, 3)
    assert [len(split.train), len(split.validation), len(split.test)] == [20, 20, 160]
    parts = np.concatenate([split.train, split.validation, split.test])
    assert len(np.unique(parts)) == 200
    assert np.array_equal(choose_split(bare, 3).train, split.train)
    assert not np.array_equal(choose_split(bare, 4).train, split.train)


def test_unlabelled_nodes_are_in_no_part_of_a_split() -> None:
    graph = make_blocks(200)
    assert graph.labels is not None
    labels = graph.labels.copy()
    labels[::3] = -1
    some = Graph(graph.name, graph.x, graph.adjacency, graph.node_ids, labels, (), graph.splits)
    split = choose_split(some, 0)
    for part in (split.train, split.validation, split.test):
        assert len(part) > 0 and (labels[part] >= 0).all()
    for kind in ("linear", "dgi"):
        assert linear_probe(noisy(graph, 0.1), labels, split, Probe(kind=kind)).test > 0.9


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda y, s: (y * 0, s), "1 class"),
        (lambda y, s: (y * 0 - 1, s), "0 class"),
        (lambda y, s: (y, Split(s.train[:0], s.validation, s.test)), "no labelled train"),
        (lambda y, s: (y, Split(s.train, s.validation[:0], s.test)), "no labelled validation"),
        (lambda y, s: (y, Split(s.train, s.validation, s.test[:0])), "no labelled test"),
        (lambda y, s: (y, Split(s.train[y[s.train] == 0], s.validation, s.test)), "two classes"),
        (lambda y, s: (y, s), None),
    ],
)
def test_what_cannot_be_scored_is_told_before_training(
    change: Callable[[Array, Split], tuple[Array, Split]], reason: str | None
) -> None:
    graph = make_blocks(200)
    assert graph.labels is not None
    labels, split = change(graph.labels, graph.splits[0])
    changed = Graph("g", graph.x, graph.adjacency, graph.node_ids, labels, (), (split,))
    told = why_not_scored(changed, 0)
    assert told is None if reason is None else reason in str(told)


def test_classes_are_counted_not_numbered() -> None:
    graph = make_blocks(90)
    assert graph.labels is not None
    spaced = Graph("g", graph.x, graph.adjacency, graph.node_ids, graph.labels * 50)
    assert spaced.num_classes == 3


def test_too_few_labels_for_a_split_is_said() -> None:
    graph = make_blocks(9)
    bare = Graph(graph.name, graph.x, graph.adjacency, graph.node_ids, graph.labels)
    with pytest.raises(DGBError, match="at least 10 labelled"):
        choose_split(bare, 0)


def test_rows_are_scaled_once_for_all_weight_decays(
    blocks: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert blocks.labels is not None
    asked: list[str] = []

    def counting(z: Array, form: str) -> Any:
        asked.append(form)
        return scaled(z, form)

    monkeypatch.setattr(probe, "scaled", counting)
    recipe = Probe(normalise="auto", weight_decays=(0.1, 0.01, 0.001))
    choose_classifier(noisy(blocks, 1.0), blocks.labels, blocks.splits[0], recipe)
    assert asked == ["none", "l2"]
