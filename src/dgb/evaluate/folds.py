"""Cross-validation: what models that did not see a node say of it, for every setting of a probe."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.evaluate.probe_rows import Scaling, learn_scaling
from dgb.recipe import Probe

FOLDS = 5

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
    settings, outputs = [], []
    for scaling, rows, decay in _settings(z, nodes, recipe or Probe()):
        found: Any = None
        for fold in np.unique(folds):
            here = folds == fold
            values = fit(rows[~here], truth[~here], decay)(rows[here])
            found = np.empty((len(nodes), *values.shape[1:])) if found is None else found
            found[here] = values
        settings.append((scaling, decay))
        outputs.append(found)
    return settings, outputs


def _settings(z: Any, nodes: Array, recipe: Probe) -> Iterator[tuple[Scaling, Any, float]]:
    forms = ("none", "l2") if recipe.normalise == "auto" else (recipe.normalise,)
    for form in forms:
        scaling = learn_scaling(z, form)
        rows = scaling.rows(z, nodes)
        for decay in recipe.weight_decays:
            yield scaling, rows, decay
