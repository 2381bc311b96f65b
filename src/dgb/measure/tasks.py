"""What a comparison consists of: trainings and the splits they are scored on, or why not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dgb.baselines.choices import settings_hash
from dgb.baselines.methods import METHODS, lacks
from dgb.cookbook import with_seed
from dgb.data.graph import Graph
from dgb.evaluate.scores import why_not_scored, without_test_labels
from dgb.recipe import Recipe
from dgb.settings import check_names

DEFAULT = ("dgb", "dgi", "bgrl", "gcn", "sgc", "random", "raw")


@dataclass(frozen=True)
class Repeats:
    """How often: trainings, and splits that each of them is scored on."""

    runs: int = 5
    splits: int = 1

    def of(self, graph: Graph) -> "Repeats":
        """Return the repeats that a graph has splits for; one with labels alone draws them."""
        most = 1 if graph.labels is None else len(graph.splits) or self.splits
        return Repeats(self.runs, min(self.splits, most))


@dataclass(frozen=True)
class Task:
    """One training of one system, and the splits that it is scored on."""

    method: str
    settings: Any
    recipe: Recipe  # whose graph, seed and probe hold for every system
    splits: tuple[int, ...]  # seeds of splits

    @property
    def seed(self) -> int:
        """The seed of the training."""
        return self.recipe.train.seed

    @property
    def hash(self) -> str:
        """A short hash of the system's settings and of what scores it."""
        return settings_hash(self.method, self.settings, self.recipe.probe)


def choose_methods(names: Sequence[str]) -> tuple[str, ...]:
    """Return the methods asked for; `all` is every one, nothing is a choice of them."""
    if "all" in names:
        return tuple(METHODS)
    check_names("method", names, METHODS)
    return tuple(names) or DEFAULT


def leave_out(methods: Iterable[str], graph: Graph, split: int) -> dict[str, str]:
    """Return which methods cannot run on this graph or say nothing about it, and why."""
    shown = without_test_labels(graph, split)
    reasons = {key: lacks(METHODS[key], shown) for key in methods}
    if why := why_not_scored(graph, split):
        for key in (key for key in reasons if METHODS[key].task == "classify"):
            reasons[key] = reasons[key] or f"it returns classes, which nothing can score: {why}"
    return {key: reason for key, reason in reasons.items() if reason}


def make_tasks(
    graph: Graph, chosen: Mapping[str, Any], recipe: Recipe, repeats: Repeats
) -> list[Task]:
    """Return the trainings of systems with the settings chosen for them, seed after seed."""
    return [
        Task(key, settings, with_seed(recipe, seed), splits)
        for number in range(repeats.runs)
        for key, settings in chosen.items()
        if METHODS[key].is_random or _has_new_splits(graph, number * repeats.splits)
        for seed, splits in _seeds(key, recipe.train.seed + number, repeats)
    ]


def _has_new_splits(graph: Graph, used: int) -> bool:
    """Tell whether the same result is still to be scored on splits that have not been used."""
    return used == 0 or (graph.labels is not None and used < (len(graph.splits) or used + 1))


def _seeds(key: str, seed: int, repeats: Repeats) -> list[tuple[int, tuple[int, ...]]]:
    """Return the seeds of a run's trainings, each with its splits.

    What is learnt without labels serves all splits; a classifier is trained for each of them.
    """
    splits = tuple(seed * repeats.splits + k for k in range(repeats.splits))
    if METHODS[key].task == "classify":
        return [(split, (split,)) for split in splits]
    return [(seed, splits)]


def why_no_accuracy(graph: Graph, tasks: Iterable[Task]) -> str | None:
    """Return why the labels of a graph allow no accuracy on some split, None where they do."""
    splits = dict.fromkeys(split for task in tasks for split in task.splits)
    return next((reason for split in splits if (reason := why_not_scored(graph, split))), None)
