"""From some labels to predictions for every row: classes with probabilities, or numbers.

Labels are positions of classes, or numbers, or in the user's own words with some of them missing.

Scaling and weight decay are chosen by cross-validation among the labels that are given, and all of
these are learned from. What is reported of a fold was chosen on the other folds, so that neither
the accuracy nor the calibration is flattered by the choice.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dgb.arrays import Array, row_parts
from dgb.data.graph import FEW
from dgb.errors import DGBError
from dgb.evaluate.folds import (
    Apply,
    calibration_error,
    choose_by_error,
    choose_by_loss,
    cross_validate,
    deal_folds,
    fit_classes,
    fit_numbers,
    soften,
)
from dgb.evaluate.labels import sample_nodes
from dgb.evaluate.probe import Scaling
from dgb.recipe import Probe

TRIED = 10_000  # labels that a choice is made on: an accuracy on so many is exact to 0.5 points
SHARE = 0.9  # of the numbers that lie within the margin of their prediction


@dataclass(frozen=True, eq=False)
class Predictor:
    """What was learned, what it predicts of nodes it did not see, and how good that is."""

    scaling: Scaling
    weight_decay: float
    apply: Apply
    num_learned: int
    checked: Array  # nodes that were predicted by folds without them
    held_out: Array  # these predictions: probabilities [checked, classes], or numbers [checked]
    score: float  # of these predictions: accuracy, or R²
    error: float  # and their calibration error, or the margin that 90 % of the numbers lie within
    classes: Array | None = None  # None of numbers
    temperature: float = 1.0  # that logits are divided by

    def predict(self, z: Any) -> Array:
        """Return calibrated probabilities [n, classes], or numbers [n], of all rows of z."""
        parts = row_parts(*z.shape)
        found = [self.apply(self.scaling.rows(z, part)) for part in parts]
        if self.classes is not None:
            found = [soften(values, self.temperature) for values in found]
        return np.concatenate(found).astype(np.float32)


def learn_classes(z: Any, labels: Array, nodes: Array, recipe: Probe | None = None) -> Predictor:
    """Learn classes from the labels of some nodes; no label of another is read.

    Args:
        z: Embeddings, [num_nodes, width].
        labels: A class for each node, of any numbers.
        nodes: Those whose labels may be used, of two classes at least.
        recipe: What the probe tries.

    Returns:
        A predictor whose probabilities are calibrated: the logits are divided by the temperature
        that fits the folds held out (Guo et al. 2017), with targets smoothed as Platt's are.

    Example:
        >>> learn_classes(Z, labels, np.flatnonzero(labels >= 0)).predict(Z).max(axis=1)
    """
    classes = np.unique(labels[nodes])
    if len(classes) < 2:
        raise DGBError("to predict a class, labels of two classes are needed; label more nodes")
    return _learn(z, np.searchsorted(classes, labels), nodes, recipe, classes)


def learn_numbers(z: Any, values: Array, nodes: Array, recipe: Probe | None = None) -> Predictor:
    """Learn numbers, by ridge regression, from those of some nodes; no other is read.

    Args:
        z: Embeddings, [num_nodes, width].
        values: A number for each node.
        nodes: Those whose numbers may be used.
        recipe: What the probe tries.

    Returns:
        A predictor whose `score` is R² over the folds held out.

    Example:
        >>> learn_numbers(Z, ages, known).predict(Z)
    """
    if len(np.unique(values[nodes])) < 2:
        raise DGBError("to predict a number, two different ones are needed; label more nodes")
    return _learn(z, values, nodes, recipe)


def _learn(
    z: Any, truth: Array, nodes: Array, recipe: Probe | None, classes: Array | None = None
) -> Predictor:
    """Learn what is true of some nodes: a number, or the position of one of the classes."""
    is_number = classes is None
    fit = fit_numbers if classes is None else fit_classes(len(classes))
    choose = choose_by_error if is_number else choose_by_loss
    groups = np.zeros(len(truth), np.int64) if is_number else truth
    tried, learned = sample_nodes(nodes, groups, TRIED), sample_nodes(nodes, groups)
    folds, known = deal_folds(groups[tried]), truth[tried]
    settings, outputs = cross_validate(z, tried, known, folds, fit, recipe)
    held_out = np.empty_like(outputs[0])
    for fold in np.unique(folds):
        here = folds == fold
        best, temperature = choose(outputs, known, ~here)
        said = outputs[best][here]
        held_out[here] = said if is_number else soften(said, temperature)
    best, temperature = choose(outputs, known, slice(None))
    scaling, decay = settings[best]
    apply = fit(scaling.rows(z, learned), truth[learned], decay)
    grades = _grade(held_out, known)
    return Predictor(
        scaling, decay, apply, len(learned), tried, held_out, *grades, classes, temperature
    )


def _grade(held_out: Array, truth: Array) -> tuple[float, float]:
    """Return accuracy and calibration error of probabilities, R² and the margin of numbers."""
    if held_out.ndim == 2:
        is_right = held_out.argmax(axis=1) == truth
        return float(is_right.mean()), calibration_error(held_out, truth)
    residual = held_out - truth
    r2 = 1 - float((residual**2).sum() / ((truth - truth.mean()) ** 2).sum())
    return r2, float(np.quantile(np.abs(residual), SHARE))


@dataclass(frozen=True, eq=False)
class Predictions:
    """A class or a number for every row; of rows with labels by folds that did not see these."""

    predicted: Array  # [n], in the words of the labels
    score: float  # cross-validated: accuracy, or R² of numbers
    error: float  # calibration error, or the margin that 90 % of the numbers lie within
    classes: Array | None = None  # of the columns of `probabilities`
    probabilities: Array | None = None  # [n, classes], calibrated


def predict_labels(z: Any, y: Any, recipe: Probe | None = None) -> Predictions:
    """Predict the labels of all rows from those that are known.

    Args:
        z: Embeddings, [num_nodes, width].
        y: A label for each row; None, NaN, "" and -1 among whole numbers mean unknown. Numbers
            with fractions, more than 20 different ones, are estimated; all else are classes.
        recipe: What the probe tries.

    Returns:
        What was predicted, and how good that is by cross-validation.

    Example:
        >>> found = predict_labels(Z, ["a", None, "b", …])
        >>> found.predicted, found.score
    """
    # A list as objects: next to texts, NaN would become one.
    values = np.asarray(y, None if hasattr(y, "dtype") else object)
    if values.shape != (z.shape[0],):
        raise DGBError(f"{z.shape[0]} rows but labels of shape {values.shape}; give one a row")
    nodes = np.flatnonzero(_are_known(values))
    names, codes = np.unique(values[nodes].astype(_kind(values)), return_inverse=True)
    if names.dtype.kind == "f" and len(names) > FEW and (names % 1).any():
        numbers = np.full(len(values), np.nan)
        numbers[nodes] = names[codes]
        predictor = learn_numbers(z, numbers, nodes, recipe)
        predicted = predictor.predict(z)
        predicted[predictor.checked] = predictor.held_out
        return Predictions(predicted, predictor.score, predictor.error)
    labels = np.full(len(values), -1)
    labels[nodes] = codes
    predictor = learn_classes(z, labels, nodes, recipe)
    chances = predictor.predict(z)
    chances[predictor.checked] = predictor.held_out
    predicted = names[chances.argmax(axis=1)]
    return Predictions(predicted, predictor.score, predictor.error, names, chances)


def _are_known(values: Array) -> Array:
    if values.dtype.kind in "iu":
        return np.asarray(values >= 0)
    is_whole = values.dtype.kind == "O" and all(
        v is None or isinstance(v, int) for v in values.tolist()
    )
    return np.array([_is_known(v) and not (is_whole and v < 0) for v in values.tolist()], bool)


def _is_known(value: Any) -> bool:
    try:
        return value is not None and bool(value == value) and value != ""  # NaN is not NaN
    except TypeError:  # pandas' NA does not say
        return False


def _kind(values: Array) -> Any:
    """Return the type to sort labels by: their own, or of objects numbers or text."""
    if values.dtype.kind != "O":
        return values.dtype
    known = [value for value in values.tolist() if _is_known(value)]
    for kind in (int, float):
        if all(isinstance(value, int | kind) for value in known):
            return kind
    return str
