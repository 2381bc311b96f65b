"""The linear probe: logistic regression on frozen rows, chosen on validation, test read once.

Rows are scaled for the nodes that are learnt from, and some at a time for those that are predicted:
z may lie in a file that is larger than the memory.
"""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import norm as sparse_norm

from dgb.arrays import Array, row_parts
from dgb.data.graph import Split
from dgb.errors import DGBError
from dgb.evaluate.heads import dgi_accuracies
from dgb.evaluate.heco import heco_scores
from dgb.evaluate.labels import sample_split
from dgb.recipe import Probe

Nodes = Array | slice


@dataclass(frozen=True)
class ProbeScores:
    """Accuracy on validation and test, and the settings that validation chose."""

    validation: float
    test: float
    settings: dict[str, Any]
    # A class for every node, that the test accuracy is computed of; None of a probe of many heads.
    predicted: Array | None = field(default=None, repr=False, compare=False)
    more: dict[str, float] = field(default_factory=dict)  # other measures, by their names

    def values(self) -> dict[str, Any]:
        """Return the scores as a results file holds them."""
        own = {"validation": self.validation, "test": self.test, "settings": self.settings}
        return own | self.more


@dataclass(frozen=True)
class Scaling:
    """Rows of length one (l2), or divided by one number: the mean (none) or rms of their lengths.

    One number for all rows changes no classifier, but makes a weight decay mean the same for all.
    """

    form: str
    length: float

    def rows(self, z: Any, nodes: Nodes) -> Any:
        """Return the scaled rows of some nodes."""
        from sklearn.preprocessing import normalize

        return normalize(z[nodes]) if self.form == "l2" else z[nodes] / self.length


def learn_scaling(z: Any, form: str) -> Scaling:
    """Return how rows of z are to be scaled; z may lie in a file, dense, or be sparse."""
    if form == "l2":
        return Scaling(form, 1.0)
    norm = sparse_norm if sparse.issparse(z) else np.linalg.norm
    lengths = np.concatenate([norm(z[part], axis=1) for part in row_parts(*z.shape)])
    length = np.sqrt(np.mean(lengths**2)) if form == "rms" else lengths.mean()
    return Scaling(form, max(float(length), 1e-12))


def learn_scalings(z: Any, recipe: Probe) -> list[Scaling]:
    """Return the ways to scale rows of z that a recipe asks to be tried."""
    searched = {"auto": ("none", "l2"), "any": ("none", "l2", "rms")}
    forms = searched.get(recipe.normalise, (recipe.normalise,))
    return [learn_scaling(z, form) for form in forms]


@dataclass(frozen=True, eq=False)
class Classifier:
    """A fitted logistic regression and how it was chosen."""

    model: Any
    scaling: Scaling
    weight_decay: float
    validation: float  # accuracy
    validation_loss: float

    @property
    def settings(self) -> dict[str, Any]:
        """What validation chose, as a results file holds it."""
        return {"normalise": self.scaling.form, "weight_decay": self.weight_decay}

    def predict(self, z: Any, nodes: Array | None = None) -> Array:
        """Return the class of every row of z, or of some of them."""
        count = z.shape[0] if nodes is None else len(nodes)
        found = [
            self.model.predict(self.scaling.rows(z, part if nodes is None else nodes[part]))
            for part in row_parts(count, z.shape[1])
        ]
        return np.concatenate(found) if found else np.zeros(0, self.model.classes_.dtype)


def linear_probe(
    z: Any, labels: Array, split: Split, recipe: Probe | None = None, seed: int = 0
) -> ProbeScores:
    """Score embeddings: everything is chosen on validation, then the test labels are read once.

    Args:
        z: Embeddings, [num_nodes, width], dense or sparse.
        labels: [num_nodes], -1 where unknown.
        split: The nodes of train, validation and test.
        recipe: Which probe, and what it tries; the linear one by default.
        seed: Of the heads that are drawn by the probes of DGI and HeCo.

    Returns:
        Accuracy on validation and test, and what was chosen.

    Example:
        >>> linear_probe(Z, graph.labels, graph.splits[0]).test
    """
    recipe = recipe or Probe()
    refuse_blocks(recipe)
    if recipe.kind == "dgi":
        return _dgi_probe(z, labels, split, seed)
    if recipe.kind == "heco":
        return _heco_probe(z, labels, split, seed)
    chosen = choose_classifier(z, labels, split, recipe)
    predicted = chosen.predict(z)
    # Once more for the test rows alone: a product of other rows may round otherwise.
    predicted[split.test] = chosen.predict(z, split.test)
    right = accuracy(predicted[split.test], labels[split.test])
    return ProbeScores(chosen.validation, right, chosen.settings, predicted)


def refuse_blocks(recipe: Probe) -> None:
    """Refuse to weigh the blocks of rows that are not known to have any."""
    if recipe.blocks:
        raise DGBError(
            "probe.blocks weighs the blocks of vectors that DGB has trained, which rows of other "
            "systems and of files do not have; it goes with `dgb train` and `dgb evaluate`, leave "
            "it out here"
        )


def choose_classifier(z: Any, labels: Array, split: Split, recipe: Probe) -> Classifier:
    """Return the classifier with the best validation accuracy; never reads a test label.

    The problem is convex and solved to the end, so there is no number of steps to choose and no
    start to draw. Accuracies on a few hundred nodes tie often: the smaller loss decides. Of more
    than 100,000 train nodes, or validation nodes, a sample of as many is taken (`sample_split`).
    """
    split = sample_split(split, labels)
    candidates = [
        _classifier(rows, labels, split, scaling, weight_decay)
        for scaling in learn_scalings(z, recipe)
        # Once for all weight decays: of a large graph a copy takes long.
        for rows in [tuple(scaling.rows(z, part) for part in (split.train, split.validation))]
        for weight_decay in recipe.weight_decays
    ]
    return max(candidates, key=lambda c: (c.validation, -c.validation_loss))


def accuracy(predicted: Array, labels: Array) -> float:
    """Return the share of right predictions."""
    return float(np.mean(predicted == labels))


def _dgi_probe(z: Any, labels: Array, split: Split, seed: int) -> ProbeScores:
    validation, test = dgi_accuracies(z, labels, split, seed)
    settings = {"std_over_heads": float(np.std(test))}
    return ProbeScores(float(np.mean(validation)), float(np.mean(test)), settings)


def _heco_probe(z: Any, labels: Array, split: Split, seed: int) -> ProbeScores:
    found = heco_scores(z, labels, split, seed)
    settings = {"learning_rate": found.learning_rate, "std_over_heads": found.std_over_heads}
    more = {"macro_f1": found.macro_f1, "micro_f1": found.micro_f1}
    if found.auc is not None:
        more["auc"] = found.auc
    # Accuracy here too, so that validation and test stay the same measure for every probe.
    more["validation_macro_f1"] = found.validation
    return ProbeScores(found.validation_accuracy, found.micro_f1, settings, more=more)


def fit_logistic(rows: Any, labels: Array, weight_decay: float, steps: int = 1000) -> Any:
    """Return the logistic regression on these rows, solved to the end."""
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    # scikit-learn sums the loss over rows where weight decay is meant against its mean.
    model = LogisticRegression(C=1 / (weight_decay * rows.shape[0]), max_iter=steps)
    # One thread: those that share such small products wait for each other longer than they take.
    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
        warnings.simplefilter("ignore")  # a fit that is cut short is still a candidate
        return model.fit(rows, labels)


def _classifier(
    rows: tuple[Any, ...], labels: Array, split: Split, scaling: Scaling, weight_decay: float
) -> Classifier:
    train, validation = rows
    model = fit_logistic(train, labels[split.train], weight_decay)
    truth = labels[split.validation]
    seen = np.isin(truth, model.classes_)
    loss = mean_log_loss(truth[seen], model.predict_proba(validation)[seen], model.classes_)
    right = accuracy(model.predict(validation), truth)
    return Classifier(model, scaling, weight_decay, right, loss)


def mean_log_loss(truth: Array, probability: Array, classes: Array) -> float:
    """Return what scikit-learn's `log_loss` does, which takes a fifth of the probe to check it."""
    own = probability[np.arange(len(truth)), np.searchsorted(classes, truth)]
    least = np.finfo(own.dtype).eps
    return float(np.mean(-np.log(np.clip(own, least, 1 - least))))
