"""Resplits take no test node, and are the same for everybody."""

import numpy as np

from dgb.data.graph import Split
from dgb.evaluate.heads import resplit_accuracy
from dgb.evaluate.labels import DRAWS, draw_resplits

RNG = np.random.default_rng(0)
LABELS = np.repeat([0, 1, 2], [120, 100, 30])
ORDER = RNG.permutation(250)
SPLIT = Split(ORDER[:30], ORDER[30:180], ORDER[180:])


def test_parts_are_those_of_train_and_validation_alone() -> None:
    splits = draw_resplits(LABELS, SPLIT)
    own = np.sort(ORDER[:180])
    assert len(splits) == DRAWS
    for split in splits:
        np.testing.assert_array_equal(np.sort(np.r_[split.train, split.validation]), own)
        assert len(split.test) == 0
        few = (LABELS[own] == 2).sum()
        assert few < 40
        assert np.bincount(LABELS[split.train]).tolist() == [20, 20, few // 2]
    assert not np.array_equal(np.sort(splits[0].train), np.sort(splits[1].train))


def test_the_same_nodes_in_another_order_give_the_same_draws() -> None:
    swapped = Split(SPLIT.validation[::-1], SPLIT.train, SPLIT.test)
    for one, other in zip(
        draw_resplits(LABELS, SPLIT), draw_resplits(LABELS, swapped), strict=True
    ):
        np.testing.assert_array_equal(one.train, other.train)


def test_a_node_without_a_label_is_not_drawn() -> None:
    labels = LABELS.copy()
    labels[SPLIT.train[:5]] = -1
    for split in draw_resplits(labels, SPLIT, count=3):
        assert (labels[np.r_[split.train, split.validation]] >= 0).all()


def test_rows_that_tell_the_classes_score_and_noise_does_not() -> None:
    splits = draw_resplits(LABELS, SPLIT, count=4)
    told = np.eye(3, 8, dtype=np.float32)[LABELS] * 5
    noise = RNG.normal(size=(250, 8)).astype(np.float32)
    assert resplit_accuracy(told, LABELS, splits) > 0.99
    assert resplit_accuracy(noise, LABELS, splits) < 0.6
    hidden = LABELS.copy()
    hidden[SPLIT.test] = 7  # a test label that were read would be another class
    assert resplit_accuracy(told, hidden, splits) > 0.99
