"""The linear probe: logistic regression on frozen rows, chosen on validation, test read once."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.graph import Array, Split
from dgb.evaluate.dgi_probe import dgi_accuracies
from dgb.recipe import Probe


@dataclass(frozen=True)
class ProbeScores:
    """Accuracy on validation and test, and the settings that validation chose."""

    validation: float
    test: float
    settings: dict[str, Any]
    # A class for every node, that the test accuracy is computed of; None of a probe of many heads.
    predicted: Array | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class Classifier:
    """A fitted logistic regression and how it was chosen."""

    model: Any
    normalise: str
    weight_decay: float
    validation: float  # accuracy
    validation_loss: float

    def predict(self, rows: Any) -> Array:
        """Return the class of every row, which has to be scaled as for the fit."""
        return np.asarray(self.model.predict(rows))


def linear_probe(
    z: Any, labels: Array, split: Split, recipe: Probe | None = None, seed: int = 0
) -> ProbeScores:
    """Score embeddings: everything is chosen on validation, then the test labels are read once."""
    recipe = recipe or Probe()
    if recipe.kind == "dgi":
        validation, test = dgi_accuracies(z, labels, split, seed)
        settings: dict[str, Any] = {"std_over_heads": float(np.std(test))}
        return ProbeScores(float(np.mean(validation)), float(np.mean(test)), settings)
    chosen = choose_classifier(z, labels, split, recipe)
    rows = scaled(z, chosen.normalise)
    predicted = chosen.predict(rows)
    # Once more for the test rows alone: a product of other rows may round otherwise.
    predicted[split.test] = chosen.predict(rows[split.test])
    settings = {"normalise": chosen.normalise, "weight_decay": chosen.weight_decay}
    right = accuracy(predicted[split.test], labels[split.test])
    return ProbeScores(chosen.validation, right, settings, predicted)


def choose_classifier(z: Any, labels: Array, split: Split, recipe: Probe) -> Classifier:
    """Return the classifier with the best validation accuracy; never reads a test label.

    The problem is convex and solved to the end, so there is no number of steps to choose and no
    start to draw. Accuracies on a few hundred nodes tie often: the smaller loss decides.
    """
    forms = ("none", "l2") if recipe.normalise == "auto" else (recipe.normalise,)
    candidates = [
        _classifier(rows, labels, split, form, weight_decay)
        for form in forms
        for rows in [scaled(z, form)]  # once for all: of a large graph a copy takes gigabytes
        for weight_decay in recipe.weight_decays
    ]
    return max(candidates, key=lambda c: (c.validation, -c.validation_loss))


def accuracy(predicted: Array, labels: Array) -> float:
    """Return the share of right predictions."""
    return float(np.mean(predicted == labels))


def scaled(z: Any, form: str) -> Any:
    """Return rows of length one (l2), or all divided by their mean length (none).

    One number for all rows changes no classifier, but makes a weight decay mean the same for both.
    """
    from sklearn.preprocessing import normalize

    if form == "l2":
        return normalize(z)
    length = np.sqrt(z.multiply(z).sum(axis=1)) if sparse.issparse(z) else np.linalg.norm(z, axis=1)
    return z / max(float(np.mean(length)), 1e-12)


def _classifier(
    rows: Any, labels: Array, split: Split, form: str, weight_decay: float
) -> Classifier:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    # scikit-learn sums the loss over rows where weight decay is told against its mean.
    model = LogisticRegression(C=1 / (weight_decay * len(split.train)), max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit cut at 1000 steps is still a candidate
        model.fit(rows[split.train], labels[split.train])
    validation, truth = rows[split.validation], labels[split.validation]
    seen = np.isin(truth, model.classes_)
    probability = model.predict_proba(validation)
    loss = log_loss(truth[seen], probability[seen], labels=model.classes_)
    right = accuracy(model.predict(validation), truth)
    return Classifier(model, form, weight_decay, right, float(loss))
