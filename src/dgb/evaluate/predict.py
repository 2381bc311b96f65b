"""From some labels to predictions for every row: classes with probabilities, or numbers.

Scaling and weight decay are chosen by cross-validation among the labels that are given, and all of
these are learned from. What is reported of a fold was chosen on the other folds, so that neither
the accuracy nor the calibration is flattered by the choice.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dgb.arrays import Array, row_parts
from dgb.errors import DGBError
from dgb.evaluate.folds import (
    Apply,
    Fit,
    calibration_error,
    cross_validate,
    deal_folds,
    fit_temperature,
    soften,
)
from dgb.evaluate.labels import sample_nodes
from dgb.evaluate.probe import Scaling, fit_logistic
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
    tried, learned = sample_nodes(nodes, labels, TRIED), sample_nodes(nodes, labels)
    truth, fit = np.searchsorted(classes, labels[tried]), _fit_classes(len(classes))
    folds = deal_folds(truth)
    settings, outputs = cross_validate(z, tried, truth, folds, fit, recipe)
    held_out = np.empty((len(tried), len(classes)))
    for fold in np.unique(folds):
        best, temperature = _choose_by_loss(outputs, truth, folds != fold)
        held_out[folds == fold] = soften(outputs[best][folds == fold], temperature)
    best, temperature = _choose_by_loss(outputs, truth, folds >= 0)
    scaling, decay = settings[best]
    codes = np.searchsorted(classes, labels[learned])
    return Predictor(
        scaling,
        decay,
        fit(scaling.rows(z, learned), codes, decay),
        len(learned),
        tried,
        held_out,
        score=float((held_out.argmax(axis=1) == truth).mean()),
        error=calibration_error(held_out, truth),
        classes=classes,
        temperature=temperature,
    )


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
    alike = np.zeros(len(values), np.int64)
    tried = sample_nodes(nodes, alike, TRIED)
    truth, folds = values[tried], deal_folds(alike[tried])
    settings, outputs = cross_validate(z, tried, truth, folds, _fit_numbers, recipe)
    errors = np.stack([(found - truth) ** 2 for found in outputs])
    held_out = np.empty(len(tried))
    for fold in np.unique(folds):
        best = errors[:, folds != fold].sum(axis=1).argmin()
        held_out[folds == fold] = outputs[best][folds == fold]
    scaling, decay = settings[errors.sum(axis=1).argmin()]
    learned = sample_nodes(nodes, alike)
    apply = _fit_numbers(scaling.rows(z, learned), values[learned], decay)
    residual = held_out - truth
    r2 = 1 - float((residual**2).sum() / ((truth - truth.mean()) ** 2).sum())
    margin = float(np.quantile(np.abs(residual), SHARE))
    return Predictor(scaling, decay, apply, len(learned), tried, held_out, r2, margin)


def _choose_by_loss(outputs: list[Array], truth: Array, where: Array) -> tuple[int, float]:
    """Return which setting has the least loss on some nodes, each at its best temperature.

    Not the accuracy: of a few hundred labels it ties, and is decided by two or three of them.
    """
    found = [fit_temperature(logits[where], truth[where]) for logits in outputs]
    best = min(range(len(found)), key=lambda number: found[number])
    return best, found[best][1]


def _fit_classes(count: int) -> Fit:
    def fit(rows: Any, labels: Array, weight_decay: float) -> Apply:
        seen = np.unique(labels)
        # Of a class without a label here no more is known than that it is rare.
        rare = -np.log(len(labels) + count)
        model = fit_logistic(rows, labels, weight_decay) if len(seen) > 1 else None

        def apply(rows: Any) -> Array:
            logits = np.full((rows.shape[0], count), rare)
            logits[:, seen] = 0 if model is None else _log_probabilities(model, rows)
            return logits

        return apply

    return fit


def _log_probabilities(model: Any, rows: Any) -> Array:
    """Return what `predict_log_proba` does, also where a probability is rounded to 0 or 1.

    Of rows of float32 that happens at a logit of 17, and no temperature would undo it.
    """
    logits = np.asarray(model.decision_function(rows), np.float64)
    if logits.ndim == 1:
        logits = np.stack([np.zeros_like(logits), logits], axis=1)
    logits -= logits.max(axis=1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))


def _fit_numbers(rows: Any, values: Array, weight_decay: float) -> Apply:
    from sklearn.linear_model import Ridge

    model = Ridge(alpha=weight_decay * rows.shape[0]).fit(rows, values)
    return lambda rows: np.asarray(model.predict(rows))
