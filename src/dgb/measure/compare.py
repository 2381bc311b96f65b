"""Compare systems on one graph: which can run on it, their trainings, and the splits of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from dgb.baselines.methods import METHODS
from dgb.cookbook import with_seed
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.evaluate.labels import without_test_labels
from dgb.evaluate.scores import why_not_scored
from dgb.measure.job import Job, Line, Place
from dgb.measure.measure import as_line, lacks, score_result, train_jobs
from dgb.measure.runner import Work, run
from dgb.recipe import Recipe
from dgb.run.machine import peak_mb, set_threads
from dgb.run.score import describe
from dgb.settings import check_names
from dgb.train.monitor import SAMPLE, effective_rank

TABLE = "compare"
COMPARISON = f"{TABLE}.jsonl"
KEY = ("graph_hash", "method", "recipe", "seed", "split")
DEFAULT = ("dgb", "dgi", "bgrl", "gcn", "sgc", "diffused", "random", "raw")
DEFAULT_TYPED = ("dgb", "union", "random", "raw")
Failures = dict[str, list[str]]  # what went wrong, by method


@dataclass(frozen=True)
class Repeats:
    """How often: trainings, and splits that each of them is scored on."""

    runs: int = 5
    splits: int = 1

    def of(self, graph: AnyGraph) -> "Repeats":
        """Return the repeats that a graph has splits for; one with labels alone draws them."""
        most = 1 if graph.labels is None else len(graph.splits) or self.splits
        return Repeats(self.runs, min(self.splits, most))


def choose_methods(names: Sequence[str], *, is_typed: bool = False) -> tuple[str, ...]:
    """Return the methods asked for; `all` is every one for such a graph, nothing is a choice."""
    check_names("method", [name for name in names if name != "all"], METHODS)
    kind = "several" if is_typed else "one"
    if "all" in names:
        return tuple(key for key, method in METHODS.items() if kind in method.graphs)
    return tuple(names) or (DEFAULT_TYPED if is_typed else DEFAULT)


def leave_out(methods: Iterable[str], graph: AnyGraph, split: int) -> dict[str, str]:
    """Return which methods cannot run on this graph or say nothing about it, and why."""
    shown = without_test_labels(graph, split)
    reasons = {key: lacks(METHODS[key], shown) for key in methods}
    if why := why_not_scored(graph.target_graph(), split):
        for key in (key for key in reasons if METHODS[key].classifies):
            reasons[key] = reasons[key] or f"it returns classes, which nothing can score: {why}"
    return {key: reason for key, reason in reasons.items() if reason}


def make_jobs(
    graph: AnyGraph, chosen: Mapping[str, Any], recipe: Recipe, repeats: Repeats
) -> list[Job]:
    """Return the trainings of systems with the settings chosen for them, seed after seed.

    What is learnt without labels serves all splits; a classifier is trained for each of them.
    """
    first, count = recipe.train.seed, repeats.splits
    return [
        Job(TABLE, key, graph.name, key, with_seed(recipe, own_seed), settings, split)
        for seed in range(first, first + repeats.runs)
        for key, settings in chosen.items()
        if METHODS[key].is_random or _has_new_splits(graph, (seed - first) * count)
        for split in range(seed * count, (seed + 1) * count)
        for own_seed in [split if METHODS[key].classifies else seed]
    ]


def _has_new_splits(graph: AnyGraph, used: int) -> bool:
    """Tell whether the same result is still to be scored on splits that have not been used."""
    return used == 0 or (graph.labels is not None and used < (len(graph.splits) or used + 1))


def why_no_accuracy(graph: AnyGraph, jobs: Iterable[Job]) -> str | None:
    """Return why the labels of a graph allow no accuracy on some split, None where they do."""
    nodes = graph.target_graph()
    splits = dict.fromkeys(job.split for job in jobs if job.split is not None)
    return next((reason for split in splits if (reason := why_not_scored(nodes, split))), None)


def compare(jobs: list[Job], graph: AnyGraph, place: Place) -> tuple[list[Line], Failures]:
    """Return a line per training and split, and what failed; finished trainings are kept."""
    outcome = run(jobs, {graph.name: graph}, Work(measure_task, KEY), place)
    failed: Failures = {}
    for group, why in outcome.failed.items():
        failed.setdefault(group[0].method, []).append(why)
    return [outcome.lines[job] for job in jobs if job in outcome.lines], failed


def measure_task(jobs: Sequence[Job], graph: AnyGraph, place: Place) -> list[Line]:
    """Return a line per split: the scores, time and memory of a training, and what repeats it."""
    set_threads(place.threads)
    head = describe(graph, jobs[0].recipe) | {"method": jobs[0].method, "recipe": jobs[0].hash}
    results, cost = train_jobs(jobs, graph)
    line = head | cost | {"peak_mb": peak_mb(), "threads": place.threads}
    nodes = graph.target_graph()
    return [line | {"split": job.split} | _score(job, results[0], nodes) for job in jobs]


def _score(job: Job, result: Any, graph: Graph) -> Line:
    method, split = METHODS[job.system], job.split or 0
    why = why_not_scored(graph, split)
    if why is None:
        return as_line(score_result(method, result, graph, split, job.recipe.probe))
    if method.classifies:
        raise DGBError(why)
    rows = result[:: max(1, result.shape[0] // SAMPLE)]  # all it looks at, before they are dense
    dense = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    return {"effective_rank": round(effective_rank(torch.from_numpy(dense)), 1)}
