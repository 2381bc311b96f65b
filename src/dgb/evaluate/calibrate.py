"""Calibrated probabilities: how far they are from what they say, and what brings them there."""

import numpy as np

from dgb.arrays import Array

BINS = 10  # of a calibration error, with at least as many nodes each


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

    As in Platt's, no target is exactly 1: labels that are all told right do not make it 0.
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
