"""Predictions for rows by labels in the user's own words, some of which are missing."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.data.graph import FEW
from dgb.errors import DGBError
from dgb.evaluate.predict import learn_classes, learn_numbers
from dgb.recipe import Probe


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
