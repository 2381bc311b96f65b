"""Planted outliers are found, and the reason names what was planted."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dgb.data.encoding import Column, Encoding
from dgb.data.names import Feature, cells_with_gaps, features_of
from dgb.evaluate.outliers import explain_outlier, fill_gaps, reduce_features, score_outliers
from tests.conftest import make_blocks


def planted(wide: bool) -> tuple[Any, Any, list[int]]:
    """Return blocks whose features point at their class, but for five nodes of another one's."""
    graph = make_blocks(400, seed=3)
    assert graph.labels is not None
    rng = np.random.default_rng(0)
    told = graph.labels.copy()
    swapped = rng.permutation(np.flatnonzero(np.diff(graph.adjacency.indptr) > 8))[:5]
    told[swapped] = (told[swapped] + 1) % 3
    if wide:
        rate = np.where(np.arange(300)[None] % 3 == told[:, None], 0.2, 0.02)
        x = sparse.csr_array((rng.random((400, 300)) < rate).astype(np.float32))
    else:
        x = rng.normal(size=(400, 6)).astype(np.float32)
        x[:, :3] = 3 * np.eye(3)[told] + 0.5 * x[:, :3]
    return x, graph.adjacency, sorted(swapped.tolist())


@pytest.mark.parametrize("wide", [False, True])
def test_nodes_with_the_features_of_another_class_stand_out(wide: bool) -> None:
    x, adjacency, swapped = planted(wide)
    scores = score_outliers(reduce_features(x), adjacency)
    first = np.argsort(-np.nan_to_num(scores, nan=-np.inf))[:5]
    assert len(set(first.tolist()) & set(swapped)) >= 4
    assert np.nanmedian(scores) == pytest.approx(0, abs=1e-9)
    assert np.isnan(scores[np.diff(adjacency.indptr) == 0]).all()


def test_one_odd_number_stands_out_and_is_named() -> None:
    x, adjacency, swapped = planted(False)
    x[swapped] = 0
    x[17, 5] = 40
    scores = score_outliers(reduce_features(x), adjacency)
    assert np.nanargmax(scores) == 17
    reason = explain_outlier(x, adjacency, reduce_features(x), 17)
    assert reason.columns[0] == 5 and reason.own[0] == 40
    near = set(adjacency.indices[adjacency.indptr[17] : adjacency.indptr[18]].tolist())
    assert set(reason.neighbors.tolist()) == near and reason.node.tolist() == [17]
    assert reason.usual[0] == pytest.approx(np.mean([x[i, 5] for i in near]), abs=1e-5)


def test_a_number_is_not_lost_among_hashed_words() -> None:
    graph, rng = make_blocks(90), np.random.default_rng(0)
    assert graph.labels is not None
    number = graph.labels + 0.1 * rng.normal(size=90)
    odd = int(np.argmax(np.diff(graph.adjacency.indptr)))  # has neighbors
    number[odd] += 5
    words = rng.random((90, 256)) < 0.04
    x = np.hstack([number[:, None], words, np.zeros((90, 1))])
    for form in (x, sparse.csr_array(x)):
        low = reduce_features(form, 0, range(1, 257))
        scores = score_outliers(low, graph.adjacency)
        assert np.nanargmax(scores) == odd
    among = score_outliers(reduce_features(x), graph.adjacency)
    assert among[odd] < scores[odd] / 2
    np.testing.assert_array_equal(reduce_features(words, 0, range(256)), reduce_features(words))


@pytest.mark.parametrize("is_sparse", [True, False])
def test_missing_cells_are_as_those_of_the_neighbors_who_have_them(is_sparse: bool) -> None:
    x = np.array(  # a number with its flag, and a category of two levels
        [[5.0, 0, 1, 0], [7, 0, 0, 1], [0, 1, 0, 0], [0, 1, 1, 0], [9, 0, 1, 0]]
    )
    ends = [0, 2], [1, 2], [2, 3], [1, 4]
    dense = np.zeros((5, 5))
    for one, other in ends:
        dense[one, other] = dense[other, one] = 3.0  # weights do not count
    edges = sparse.csr_array(dense)
    features = features_of(
        Encoding((Column("age", flag=True), Column("city", "category", levels=("a", "b")))), 4
    )
    groups = cells_with_gaps(features)
    assert groups == [(range(0, 1), 1), (range(2, 4), None)]
    filled = fill_gaps(sparse.csr_array(x) if is_sparse else x, groups, edges)
    filled = filled.toarray() if is_sparse else filled
    third = 1 / 3
    expected = x.copy()
    expected[2] = [6, 0, 2 * third, third]  # of 5 and 7; of a, b and a
    expected[3, 1] = 0  # its neighbor has no number either: what was put there stays
    np.testing.assert_allclose(filled, expected)
    assert x[2].tolist() == [0, 1, 0, 0]


def test_equal_features_and_lonely_nodes_are_no_error() -> None:
    ring = sparse.csr_array(np.roll(np.eye(6), 1, 0) + np.roll(np.eye(6), -1, 0))
    assert (score_outliers(np.ones((6, 2)), ring) == 0).all()
    nothing = sparse.csr_array((6, 6))
    assert np.isnan(score_outliers(np.ones((6, 2)), nothing)).all()


def test_columns_are_described_in_the_users_words() -> None:
    encoding = Encoding(
        (
            Column("income", shift=500.0, scale=100.0),
            Column("city", "category", levels=("Oslo", "Rome")),
            Column("note", "words", width=2),
        )
    )
    income, oslo, rome, word, _ = features_of(encoding, 5)
    assert income.describe(2.0, 0.5, "neighbors") == "income 700 (neighbors 550)"
    assert income.text(20) == "2,500"
    assert oslo.describe(1.0, 0.1, "neighbors") == "city=Oslo (neighbors 10%)"
    assert rome.describe(0.0, 0.8, "neighbors") == "not city=Rome (neighbors 80%)"
    assert rome.describe(0.25, 0.8, "all") == "city=Rome 25% (all 80%)"
    assert word.describe(1.0, 0.0, "all") == word.name == "words of note"
    assert features_of(None, 2)[1].name == "column 2"
    aged = Encoding((Column("age", shift=40.0, scale=9.0, fill=(40.0,), flag=True),))
    assert features_of(aged, 2)[1].describe(1.0, 0.25, "all") == "age=missing (all 25%)"
    assert features_of(aged, 2)[0].describe(0.0, 1.0, "all") == "age 40 (all 49)"
    dated = Feature(Column("joined", shift=365.0, unit="days", flag=True))
    assert dated.text(1.0) == "1971-01-02"
    assert replace(dated, place=1).describe(1.0, 0.25, "all") == "joined=missing (all 25%)"


def test_a_zero_of_the_table_is_told_as_zero() -> None:
    share = Feature(Column("share", shift=50.3, scale=29.1))
    value = float(np.float32(-50.3 / 29.1))
    assert value * 29.1 + 50.3 != 0 and share.text(value) == "0"
    assert share.text(float(np.float32((0.01 - 50.3) / 29.1))) == "0.01"
