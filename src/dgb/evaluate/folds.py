"""Cross-validation: models, what they say of nodes they did not see, and how to calibrate that."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.evaluate.probe import Nodes, Scaling, fit_logistic, learn_scalings
from dgb.recipe import Probe

FOLDS = 5
BINS = 10  # of a calibration error, with at least as many nodes each
Apply = Callable[[Any], Array]  # rows to log-probabilities [m, classes], or to numbers [m]
Fit = Callable[[Any, Array, float], Apply]  # of rows, what they are, and a weight decay


def deal_folds(labels: Array) -> Array:
    """Return a fold for every label, always the same: each class is dealt out evenly.

    A class with one label is in one fold, and cannot be known when this is held out.
    """
    order = np.random.default_rng(0).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.empty(len(labels), np.int64)
    folds[order] = np.arange(len(labels)) % FOLDS
    return folds


def cross_validate(
    z: Any, nodes: Array, truth: Array, folds: Array, fit: Fit, recipe: Probe | None
) -> tuple[list[tuple[Scaling, float]], list[Array]]:
    """Return what was tried, and for each what folds without them say of the nodes."""
    recipe, settings, outputs = recipe or Probe(), [], []
    for scaling in learn_scalings(z, recipe):
        rows = scaling.rows(z, nodes)
        for decay in recipe.weight_decays:
            found: Any = None
            for fold in np.unique(folds):
                here = folds == fold
                values = fit(rows[~here], truth[~here], decay)(rows[here])
                found = np.empty((len(nodes), *values.shape[1:])) if found is None else found
                found[here] = values
            settings.append((scaling, decay))
            outputs.append(found)
    return settings, outputs


def fit_classes(count: int) -> Fit:
    """Return what fits logistic regressions to some of so many classes."""

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


def fit_numbers(rows: Any, values: Array, weight_decay: float) -> Apply:
    """Return what a ridge regression on these rows makes of others."""
    from sklearn.linear_model import Ridge

    model = Ridge(alpha=weight_decay * rows.shape[0]).fit(rows, values)
    return lambda rows: np.asarray(model.predict(rows))


def choose_by_error(outputs: list[Array], truth: Array, where: Nodes) -> tuple[int, float]:
    """Return which setting has the least squared error on some nodes; no temperature changes it."""
    errors = np.stack([(found - truth) ** 2 for found in outputs])
    return int(errors[:, where].sum(axis=1).argmin()), 1.0


def choose_by_loss(outputs: list[Array], truth: Array, where: Nodes) -> tuple[int, float]:
    """Return which setting has the least loss on some nodes, each at its best temperature.

    Not the accuracy: of a few hundred labels it ties, and is decided by two or three of them.
    """
    found = [fit_temperature(logits[where], truth[where]) for logits in outputs]
    best = min(range(len(found)), key=lambda number: found[number])
    return best, found[best][1]


def calibration_error(probabilities: Array, truth: Array) -> float:
    """Return the expected calibration error: |confidence − accuracy|, the mean over bins.

    The bins hold equally many nodes: at most ten bins, each of ten nodes or more.
    """
    confidence, is_right = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    order = np.argsort(confidence, kind="stable")
    bins = np.array_split(order, min(max(len(order) // BINS, 1), BINS))
    gaps = [len(b) * abs(confidence[b].mean() - is_right[b].mean()) for b in bins]
    return float(sum(gaps) / len(order))


def fit_temperature(logits: Array, truth: Array) -> tuple[float, float]:
    """Return the least cross-entropy that a temperature gives, and this temperature.

    As in Platt's, no target is exactly 1: labels that are all predicted rightly do not make it 0.
    """
    from scipy.optimize import minimize_scalar

    own, miss = np.arange(len(truth)), 1 / (len(truth) + 2)

    def loss(log_t: float) -> float:
        logs = np.log(np.maximum(soften(logits, np.exp(log_t)), 1e-300))
        return -float(((1 - miss) * logs[own, truth] + miss * logs.mean(axis=1)).mean())

    found = minimize_scalar(loss, bounds=(-4, 4), method="bounded")
    return float(found.fun), float(np.exp(found.x))


def soften(logits: Array, temperature: float) -> Array:
    """Return probabilities [n, classes] of logits that are divided by a temperature."""
    scaled = logits / temperature
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
