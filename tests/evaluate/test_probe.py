"""Probe and clustering: right answers, and no way for test labels to reach a choice."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

from dgb import arrays as parts
from dgb.arrays import Array
from dgb.data.graph import Graph, Split
from dgb.errors import DGBError
from dgb.evaluate import labels as sample
from dgb.evaluate.cluster import cluster, matched_accuracy, score_clusters
from dgb.evaluate.labels import choose_split
from dgb.evaluate.probe import (
    Nodes,
    Scaling,
    choose_classifier,
    fit_logistic,
    learn_scaling,
    linear_probe,
    mean_log_loss,
)
from dgb.evaluate.scores import why_not_scored
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
    assert (one.scaling, one.weight_decay) == (other.scaling, other.weight_decay)
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
    asked: list[tuple[str, int]] = []
    rows = Scaling.rows

    def counting(scaling: Scaling, z: Array, nodes: Nodes) -> Any:
        asked.append((scaling.form, len(z[nodes])))
        return rows(scaling, z, nodes)

    monkeypatch.setattr(Scaling, "rows", counting)
    recipe = Probe(normalise="auto", weight_decays=(0.1, 0.01, 0.001))
    choose_classifier(noisy(blocks, 1.0), blocks.labels, blocks.splits[0], recipe)
    assert asked == [("none", 30), ("none", 30), ("l2", 30), ("l2", 30)]  # train, validation


@pytest.mark.parametrize("form", ["none", "l2"])
@pytest.mark.parametrize("kind", ["linear", "dgi"])
def test_scores_are_the_same_in_parts_and_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, form: str
) -> None:
    graph, recipe = make_blocks(300), Probe(kind=kind, normalise=form)
    assert graph.labels is not None
    z, split = noisy(graph, 2.0).astype(np.float32), graph.splits[0]
    np.save(tmp_path / "z.npy", z)
    whole = linear_probe(z, graph.labels, split, recipe)
    monkeypatch.setattr(parts, "NUMBERS", 16 * 7)
    in_file = np.load(tmp_path / "z.npy", mmap_mode="r")
    for rows in (z, in_file):
        again = linear_probe(rows, graph.labels, split, recipe)
        assert again == whole
        if whole.predicted is not None:
            np.testing.assert_array_equal(again.predicted, whole.predicted)
    np.testing.assert_array_equal(in_file, z)


def test_lengths_are_those_of_all_rows_whatever_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    z = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    z[20:] *= 9
    expected = float(np.mean(np.linalg.norm(z, axis=1)))
    monkeypatch.setattr(parts, "NUMBERS", 15)
    assert learn_scaling(z, "none").length == expected
    assert learn_scaling(sparse.csr_array(z), "none").length == pytest.approx(expected)
    np.testing.assert_array_equal(
        learn_scaling(z, "none").rows(z, np.array([3])), z[[3]] / expected
    )
    assert learn_scaling(np.zeros((4, 2)), "none").rows(np.zeros((4, 2)), slice(0, 2)).sum() == 0


def test_of_very_many_nodes_a_sample_is_learnt_from_that_loses_no_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    labels = np.zeros(1000, np.int64)
    labels[::2], labels[777] = 1, 2  # one node of a class of its own
    split = Split(np.arange(100, 1000), np.arange(50, 100), np.arange(50))
    assert sample.sample_split(split, labels).train is split.train
    monkeypatch.setattr(sample, "MOST", 60)
    few = sample.sample_split(split, labels)
    assert 60 <= len(few.train) <= 61 and len(np.unique(few.train)) == len(few.train)
    assert set(labels[few.train]) == {0, 1, 2} and set(few.train) < set(split.train)
    assert few.validation is split.validation and few.test is split.test
    np.testing.assert_array_equal(few.train, sample.sample_split(split, labels).train)


def test_a_probe_of_a_sample_still_predicts_all_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make_blocks(600)
    assert graph.labels is not None
    monkeypatch.setattr(sample, "MOST", 50)
    scores = linear_probe(noisy(graph, 0.1), graph.labels, graph.splits[0])
    assert scores.test > 0.98 and scores.predicted is not None
    assert (scores.predicted == graph.labels).mean() > 0.98


def test_rows_may_be_divided_by_the_root_mean_square_of_their_lengths(blocks: Graph) -> None:
    assert blocks.labels is not None
    z = noisy(blocks, 1.0)
    z[::3] *= 9
    for rows in (z, sparse.csr_array(z)):
        scaled = learn_scaling(rows, "rms").rows(rows, slice(None))
        scaled = scaled.toarray() if sparse.issparse(scaled) else scaled
        assert np.mean(np.sum(scaled**2, axis=1)) == pytest.approx(1)
    assert learn_scaling(np.zeros((4, 2)), "rms").rows(np.zeros((4, 2)), slice(0, 2)).sum() == 0
    found = {
        form: choose_classifier(z, blocks.labels, blocks.splits[0], Probe(normalise=form))
        for form in ("any", "none", "l2", "rms")
    }
    best = found.pop("any")
    assert best.validation == max(other.validation for other in found.values())
    assert best.validation_loss == found[best.scaling.form].validation_loss


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [2, 5])
def test_the_loss_that_decides_ties_is_that_of_scikit_learn_to_the_bit(
    dtype: type, count: int
) -> None:
    from sklearn.metrics import log_loss

    rng = np.random.default_rng(count)
    classes = np.arange(count) * 10**9 + 3
    truth, probability = rng.choice(classes, 301), rng.dirichlet(np.full(count, 0.1), 301)
    probability[:2] = np.eye(count)[[0, 1]]  # of no doubt, right or wrong
    probability = probability.astype(dtype)
    assert mean_log_loss(truth, probability, classes) == log_loss(
        truth, probability, labels=classes
    )


def test_threads_do_not_share_the_small_products_of_a_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    whole = LogisticRegression.fit

    def count() -> list[int]:
        return [part["num_threads"] for part in threadpool_info() if part["user_api"] == "blas"]

    def fit(model: Any, *arguments: Any) -> Any:
        seen.extend(count())
        return whole(model, *arguments)

    monkeypatch.setattr(LogisticRegression, "fit", fit)
    rows = np.random.default_rng(0).standard_normal((40, 3))
    with threadpool_limits(2, user_api="blas"):
        fit_logistic(rows, rows[:, 0] > 0, 0.1)
        assert set(count()) == {2}
    assert set(seen) == {1}
