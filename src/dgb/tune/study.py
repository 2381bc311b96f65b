"""The search: trials of recipes, pruned by their scores so far, resumable; writes the best one.

A candidate is trained with several seeds side by side and scored every few epochs.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.cookbook import load_recipe, recipe_hash
from dgb.data.fingerprint import fingerprint
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.evaluate.labels import without_test_labels
from dgb.evaluate.links import links_of
from dgb.evaluate.probe import choose_classifier
from dgb.files.atomic import locked
from dgb.measure.job import Line
from dgb.measure.measure import train_lengths
from dgb.recipe import Probe, Recipe
from dgb.run.machine import choose_device, git_hash, set_threads, versions
from dgb.run.resolve import resolve_recipe
from dgb.run.setup import Setup, make_setup
from dgb.terminal import log, progress_bar
from dgb.tune.criteria import AUC, NO_AUC, VALIDATION, choose_criterion, label_free_scores
from dgb.tune.folder import (
    Found,
    Search,
    best_line,
    finished_trials,
    import_optuna,
    next_trial,
    open_study,
    write_found,
)
from dgb.tune.space import Space, starting_point, suggest

LINE = "line"  # the attribute of a trial that holds its line of trials.jsonl
Scores = dict[str, float]
Epochs = Iterator[tuple[int, Scores]]


@dataclass(frozen=True)
class Plan:
    """How to search: criterion and epochs between two scores are chosen where they are None."""

    trials: int = 30  # in all, those of an earlier call counted
    seeds: int = 1  # trainings a trial, of which the mean counts
    criterion: str | None = None
    every: int | None = None


def tune(graph: AnyGraph, recipe: Recipe, space: Space, folder: Path, plan: Plan) -> Found:
    """Search for the recipe with the best score, or resume the search; no test label is ever read.

    A trial's score is the best validation accuracy at any epoch up to the recipe's `train.epochs`;
    label-free criteria are compared after the last, as most of them fall while training helps.
    Writes recipe.toml and trials.jsonl into the folder after every trial.
    """
    search = _make_search(without_test_labels(graph, recipe.train.seed), recipe, space, plan)
    start = starting_point(search.recipe, space)
    with locked(folder):
        study = open_study(
            folder, _describe_search(search), warm_up=search.recipe.train.epochs // 4
        )
        lines = [trial.user_attrs[LINE] for trial in finished_trials(study)]
        if lines:
            log(f"{len(lines)} of {plan.trials} trials taken from {folder}")
        total = max(plan.trials, len(lines))
        with progress_bar(None, "tune", unit="trial", initial=len(lines), total=total) as bar:
            while len(lines) < total:
                if best := best_line(lines):
                    bar.set_postfix({"best": f"{best['score']:.4f}"})
                trial = next_trial(study, search.recipe.train.seed, start)
                lines.append(_try(study, trial, search, len(lines)))
                write_found(lines, search, folder)
                bar.update()
        found = write_found(lines, search, folder)
    if found is None:
        reasons = [line["reason"] for line in lines if "reason" in line]
        raise DGBError(f"no trial came to its end; the last one: {reasons[-1]}")
    return found


def _make_search(graph: AnyGraph, recipe: Recipe, space: Space, plan: Plan) -> Search:
    recipe = resolve_recipe(graph, recipe)
    epochs, seed = recipe.train.epochs, recipe.train.seed
    every = max(1, epochs // 8) if plan.every is None else plan.every
    for name, value in (("--trials", plan.trials), ("--seeds", plan.seeds)):
        if value < 1:
            raise DGBError(f"{name} must be at least 1, not {value}")
    if epochs < 1:
        raise DGBError("a search needs epochs to train: --set train.epochs=N with N of at least 1")
    if not 1 <= every <= epochs:
        raise DGBError(f"--every must be from 1 to train.epochs={epochs}, not {every}")
    # The epoch to stop at is what a trial finds, so that no other rule may stop it before.
    recipe = replace(recipe, train=replace(recipe.train, patience=0))
    criterion = choose_criterion(plan.criterion, graph, recipe)
    return Search(graph, recipe, space, criterion, range(seed, seed + plan.seeds), every)


def _describe_search(search: Search) -> dict[str, Any]:
    """Return what two searches must share for their trials to be compared."""
    return {
        "graph": fingerprint(search.graph),
        "recipe": recipe_hash(search.recipe),
        "space": sorted(map(str, search.space)),
        "criterion": search.criterion,
        "choice of seeds": [search.seeds.start, search.seeds.stop],
        "choice of epochs to score": search.every,
    }


def _try(study: Any, trial: Any, search: Search, number: int) -> Line:
    """Train and score one candidate until it is not worth continuing; return its line."""
    start = time.perf_counter()
    overrides = suggest(trial, search.space)
    history: list[Line] = []
    line: Line = {"number": number, "state": "complete", "overrides": overrides}
    line |= {"git": git_hash(), "versions": versions()}
    try:
        recipe = load_recipe(search.recipe, overrides)
        for epoch, scores in mean_scores(search.graph, recipe, search.seeds, search.every):
            if search.criterion not in scores:  # links.held_out is 0 in this trial alone
                raise DGBError(NO_AUC)
            history.append({"epoch": epoch} | scores)
            trial.report(scores[search.criterion], epoch)
            if epoch < recipe.train.epochs and trial.should_prune():
                line["state"] = "pruned"
                break
    except DGBError as error:  # NaN, or settings that do not go together
        line |= {"state": "failed", "reason": str(error)}
    line |= _best_of(history, search.criterion) | {"history": history}
    line["seconds"] = round(time.perf_counter() - start, 2)
    trial.set_user_attr(LINE, line)
    if line["state"] == "complete":
        study.tell(trial, line["score"])
    else:  # a failed one as well: Optuna learns from what was pruned, and forgets what failed
        study.tell(trial, state=import_optuna().trial.TrialState.PRUNED)
    return line


def _best_of(history: list[Line], criterion: str) -> Line:
    if not history:
        return {"epoch": None, "score": None, "scores": {}}
    best = history[-1]
    if criterion == VALIDATION:
        # The latest of equals: few validation nodes give ties, and an epoch hardly trains at all.
        best = max(reversed(history), key=lambda point: point[criterion])
    scores = {name: value for name, value in best.items() if name != "epoch"}
    return {"epoch": best["epoch"], "score": best[criterion], "scores": scores}


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


def validation_accuracy(z: Array, graph: AnyGraph, probe: Probe) -> float:
    """Return the accuracy on validation of a probe that is learnt from the train nodes.

    This is the convex probe whatever `probe.kind` says: the others want test labels.
    """
    assert graph.labels is not None
    return choose_classifier(z, graph.labels, graph.splits[0], probe).validation
