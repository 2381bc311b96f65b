"""Predictions from a few labels: all are used, no other is read, and probabilities hold."""

import numpy as np
import pytest

from dgb.arrays import Array
from dgb.errors import DGBError
from dgb.evaluate import labels as sample
from dgb.evaluate import predict
from dgb.evaluate.folds import (
    calibration_error,
    cross_validate,
    deal_folds,
    fit_classes,
    fit_temperature,
    soften,
)
from dgb.evaluate.predict import learn_classes, learn_numbers, predict_labels
from dgb.recipe import Probe

QUICK = Probe(weight_decays=(0.1, 0.01, 1e-3), normalise="l2")


def planted(count: int, noise: float, classes: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, classes, count)
    centres = rng.normal(size=(classes, 16))
    return centres[labels] + noise * rng.normal(size=(count, 16)), labels


def test_a_clear_case_is_told_and_noise_is_chance() -> None:
    z, labels = planted(400, 0.2)
    found = learn_classes(z, labels, np.arange(60), QUICK)
    told = found.predict(z).argmax(axis=1)
    assert found.score > 0.95 and (told == labels)[60:].mean() > 0.98
    noise = np.random.default_rng(1).normal(size=z.shape)
    lost = learn_classes(noise, labels, np.arange(200), QUICK)
    assert lost.score < 0.5
    assert lost.predict(noise).max(axis=1).mean() < 0.5  # and it knows so


def test_probabilities_hold_on_nodes_that_no_label_was_used_of() -> None:
    z, labels = planted(4000, 1.8)
    found = learn_classes(z, labels, np.arange(300), QUICK)
    probabilities = found.predict(z)[300:]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    right = (probabilities.argmax(axis=1) == labels[300:]).mean()
    assert 0.6 < right < 0.95
    assert found.score == pytest.approx(right, abs=0.06)
    assert calibration_error(probabilities, labels[300:]) < 0.04
    # Not by luck: what logistic regression says without a temperature is further off.
    strong = learn_classes(z, labels, np.arange(300), Probe(weight_decays=(0.1,), normalise="l2"))
    bare = soften(strong.apply(strong.scaling.rows(z, slice(300, None))), 1.0)
    assert calibration_error(bare, labels[300:]) > 0.2
    assert calibration_error(strong.predict(z)[300:], labels[300:]) < 0.04


@pytest.mark.parametrize(
    ("form", "tried"), [("auto", ["none", "l2"]), ("any", ["none", "l2", "rms"]), ("rms", ["rms"])]
)
def test_all_scalings_that_the_recipe_names_are_tried(form: str, tried: list[str]) -> None:
    z, labels = planted(60, 0.5)
    recipe = Probe(weight_decays=(0.1,), normalise=form)
    folds, fit = deal_folds(labels), fit_classes(3)
    settings, _ = cross_validate(z, np.arange(60), labels, folds, fit, recipe)
    assert [scaling.form for scaling, _ in settings] == tried


def test_labels_of_other_nodes_are_not_read() -> None:
    z, labels = planted(200, 1.0)
    other = labels.copy()
    other[80:] = np.random.default_rng(3).permutation(other[80:])
    one, two = (learn_classes(z, y, np.arange(80), QUICK) for y in (labels, other))
    np.testing.assert_array_equal(one.predict(z), two.predict(z))
    assert (one.score, one.error) == (two.score, two.error)


def test_all_labels_are_learned_from() -> None:
    z, labels = planted(200, 1.0)
    one = learn_classes(z, labels, np.arange(80), QUICK)
    changed = z.copy()
    changed[79] += 5  # in one fold or another, all rows count
    two = learn_classes(changed, labels, np.arange(80), QUICK)
    assert one.num_learned == 80
    assert np.abs(one.predict(z[100:]) - two.predict(z[100:])).max() > 1e-4


@pytest.mark.parametrize("counts", [(1, 1), (1, 2), (1, 30), (1, 1, 1, 1, 1, 1), (2, 20, 1)])
def test_a_class_with_one_label_is_no_error(counts: tuple[int, ...]) -> None:
    labels = np.repeat(np.arange(len(counts)), counts)
    rng = np.random.default_rng(0)
    z = 5 * rng.normal(size=(len(counts), 8))[labels] + rng.normal(size=(len(labels), 8))
    found = learn_classes(z, labels, np.arange(len(labels)), QUICK)
    assert found.classes is not None and len(found.classes) == len(counts)
    assert np.isfinite(found.predict(z)).all() and np.isfinite(found.held_out).all()
    # Held out, no class of one label can be told; with all labels each can.
    alone = np.isin(labels, np.flatnonzero(np.array(counts) == 1))
    assert found.score <= 1 - alone.mean()
    assert (found.predict(z).argmax(axis=1) == labels).all()


def test_classes_keep_their_numbers_and_one_class_is_refused() -> None:
    z, labels = planted(60, 0.1)
    found = learn_classes(z, labels * 1000 + 7, np.arange(60), QUICK)
    assert found.classes is not None and found.classes.tolist() == [7, 1007, 2007]
    with pytest.raises(DGBError, match="two classes"):
        learn_classes(z, labels * 0, np.arange(60), QUICK)


def test_folds_deal_every_class_evenly() -> None:
    labels = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [50, 13, 1]))
    folds = deal_folds(labels)
    for name, most in ((0, 10), (1, 3), (2, 1)):
        assert np.bincount(folds[labels == name]).max() == most
    assert np.ptp(np.bincount(folds)) <= 1


def test_a_temperature_undoes_one_and_stays_finite() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(5000, 3)) * 2
    truth = np.array([rng.choice(3, p=p) for p in soften(logits, 1.0)])
    assert fit_temperature(logits * 4, truth)[1] == pytest.approx(4, rel=0.1)
    sure = np.eye(2)[[0, 1] * 5] * 3
    assert fit_temperature(sure, np.array([0, 1] * 5))[1] > 0.1


@pytest.mark.parametrize("count", [2, 3])
def test_a_temperature_reaches_probabilities_that_float32_rounds_to_one(count: int) -> None:
    labels = np.arange(60) % count
    rows = np.eye(count, dtype=np.float32)[labels]
    apply = fit_classes(count)(rows, labels, 1e-6)
    near, far = (apply(scale * rows[:1])[0, 1] for scale in (np.float32(5), np.float32(10)))
    assert far < near - 17 and far / near == pytest.approx(2, abs=0.3)
    cool = soften(apply(10 * rows[:1]), -far / 2)[0]
    assert 0.6 < cool[0] < 0.9  # e² to 1


def test_calibration_error_by_hand() -> None:
    probabilities = np.repeat([[0.8, 0.2]], 20, axis=0)
    truth = np.tile([0, 1], 10)
    assert calibration_error(probabilities, truth) == pytest.approx(0.3)


def test_numbers_are_told_with_a_margin() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(600, 12))
    values = 100 + 30 * z @ rng.normal(size=12) + 10 * rng.normal(size=600)
    found = learn_numbers(z, values, np.arange(200), Probe())
    told = found.predict(z)
    left = slice(200, None)
    r2 = 1 - ((told - values)[left] ** 2).sum() / ((values[left] - values[left].mean()) ** 2).sum()
    assert found.score == pytest.approx(r2, abs=0.05) and r2 > 0.9
    assert (np.abs(told - values)[left] < found.error).mean() == pytest.approx(0.9, abs=0.05)
    lost = learn_numbers(rng.normal(size=z.shape), values, np.arange(200), Probe())
    assert lost.score < 0.1
    with pytest.raises(DGBError, match="two different"):
        learn_numbers(z, values * 0, np.arange(200))


def test_of_very_many_labels_samples_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predict, "TRIED", 60)
    monkeypatch.setattr(sample, "MOST", 120)
    z, labels = planted(400, 0.5)
    found = learn_classes(z, labels, np.arange(300), QUICK)
    assert (len(found.checked), found.num_learned) == (60, 120)
    assert (found.predict(z).argmax(axis=1) == labels).mean() > 0.9


@pytest.mark.parametrize("gap", [None, float("nan"), "", -1])
def test_labels_are_taken_and_given_in_the_users_words(gap: object) -> None:
    z, labels = planted(120, 0.2)
    names = labels + 3 if gap == -1 else np.array(["x", "y", "z"], object)[labels]
    y = [gap if row % 2 else name for row, name in enumerate(names.tolist())]
    found = predict_labels(z, y, QUICK)
    assert set(found.predicted.tolist()) == set(names.tolist())
    assert (found.predicted == names).mean() > 0.95 and found.score > 0.9
    assert found.probabilities is not None and found.probabilities.shape == (120, 3)


def test_whole_numbers_with_gaps_are_classes_and_fractions_numbers() -> None:
    z, labels = planted(120, 0.2)
    gaps = np.where(np.arange(120) % 2, np.nan, labels)
    assert predict_labels(z, gaps, QUICK).probabilities is not None
    found = predict_labels(z, np.where(np.arange(120) % 2, np.nan, z[:, 0]), QUICK)
    assert found.probabilities is None and found.score > 0.8
    with pytest.raises(DGBError, match="give one a row"):
        predict_labels(z, gaps[:5])
    with pytest.raises(DGBError, match="two classes"):
        predict_labels(z, [None] * 120)
