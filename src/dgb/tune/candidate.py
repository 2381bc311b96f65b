"""One candidate: trained with several seeds side by side, scored every few epochs."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dgb.arrays import Array
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.evaluate.links import links_of
from dgb.evaluate.probe import choose_classifier
from dgb.recipe import Probe, Recipe
from dgb.run.lengths import train_lengths
from dgb.run.machine import choose_device, set_threads
from dgb.run.resolve import resolve_recipe
from dgb.run.setup import Setup, make_setup
from dgb.settings import unknown_name
from dgb.tune.criteria import CRITERIA, label_free_scores

Scores = dict[str, float]
Epochs = Iterator[tuple[int, Scores]]


def mean_scores(graph: AnyGraph, recipe: Recipe, seeds: range, every: int) -> Epochs:
    """Train a candidate once a seed, all in step; yield epochs with the means of their scores."""
    recipe = resolve_recipe(graph, recipe)
    set_threads(recipe.train.threads)
    setup = make_setup(graph, recipe, choose_device(recipe.train.device))
    # The loop's own measures of health are for people who watch, and take as long as an epoch.
    unwatched = replace(recipe.train, monitor_every=recipe.train.epochs + 1)
    recipes = [replace(recipe, train=replace(unwatched, seed=seed)) for seed in seeds]
    runs = [scored_epochs(graph, setup, recipe, every) for recipe in recipes]
    for steps in zip(*runs, strict=True):
        epoch, first = steps[0]
        yield epoch, {name: float(np.mean([scores[name] for _, scores in steps])) for name in first}


def scored_epochs(graph: AnyGraph, setup: Setup, recipe: Recipe, every: int) -> Epochs:
    """Train with one seed; yield every few epochs, and after the last, what its scores are."""
    last = recipe.train.epochs
    lengths = [epoch for epoch in range(1, last + 1) if epoch % every == 0 or epoch == last]
    for epoch, encoder, auc in train_lengths(setup, recipe, lengths):
        z = setup.embed(encoder, "embeddings")[setup.labelled]
        yield epoch, score(z, graph, recipe) | ({} if auc is None else {AUC: auc})


def score(z: Array, graph: AnyGraph, recipe: Recipe) -> Scores:
    """Return all criteria of embeddings, and validation accuracy where the graph has labels."""
    if not np.isfinite(z).all():  # a last step can break weights after a loss that was fine
        raise DGBError("the embeddings became infinite; lower train.learning_rate")
    scores = label_free_scores(z, links_of(graph))
    if graph.labels is not None:
        scores[VALIDATION] = validation_accuracy(z, graph, recipe.probe)
    return scores


VALIDATION = "validation"
AUC = "auc"  # of links.held_out, which not every recipe has
NO_AUC = "the criterion auc is of edges held out; set some aside: --set links.held_out=0.05"
# For graphs without labels: of all criteria the one whose least agreement with validation accuracy
# was highest over five searches, of the paper's settings and the default's (docs/results.md).
DEFAULT_CRITERION = "edge_auc"


def validation_accuracy(z: Array, graph: AnyGraph, probe: Probe) -> float:
    """Return the accuracy on validation of a probe that is learnt from the train nodes.

    This is the convex probe whatever `probe.kind` says: the others want test labels.
    """
    assert graph.labels is not None
    return choose_classifier(z, graph.labels, graph.splits[0], probe).validation


def choose_criterion(name: str | None, graph: AnyGraph, recipe: Recipe) -> str:
    """Return the criterion asked for, else validation accuracy where labels allow it."""
    if name is None:
        return DEFAULT_CRITERION if graph.labels is None else VALIDATION
    if name not in (known := [VALIDATION, *CRITERIA, AUC]):
        raise unknown_name("criterion", name, known)
    if name == AUC and not recipe.links.held_out:
        raise DGBError(NO_AUC)
    if name == VALIDATION and graph.labels is None:
        raise DGBError(
            f"{graph.name} has no labels for a validation accuracy, which takes train nodes of two "
            f"classes and validation nodes; use --criterion {DEFAULT_CRITERION}, which needs none"
        )
    return name
