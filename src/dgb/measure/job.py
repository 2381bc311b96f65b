"""One line to measure: a training, its seed, and where its graph and its score have their place."""

import os
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from dgb.baselines.methods import METHODS, settings_hash
from dgb.data.load import read_graph
from dgb.data.typed.graph import AnyGraph
from dgb.recipe import Data, Embed, Probe, Recipe

Line = dict[str, Any]
GRAPHS = 5  # kept in memory: a table takes a seed of every data set before the next


@dataclass(frozen=True)
class Place:
    """Where results go, where data comes from, and how many trainings run at once."""

    results: Path = Path("results")
    data_folder: str | None = None
    jobs: int = 1
    offline: bool = False
    threads: int = 0  # CPU threads of one training; 0: OMP_NUM_THREADS, else a share of the cores

    def __post_init__(self) -> None:
        """Share the cores, unless the user has said how many threads a process has."""
        chosen = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        shared = int(chosen) if chosen.isdecimal() else (cores or 1) // max(self.jobs, 1)
        object.__setattr__(self, "threads", self.threads or max(1, shared))


@dataclass(frozen=True)
class Job:
    """What one line of results is measured by."""

    table: str  # the file of the line
    method: str  # the row
    dataset: str
    system: str  # what makes the embeddings or the classes: one of METHODS
    recipe: Recipe  # with the seed and the probe, also of a system that has other settings
    settings: Any = None  # of a system that takes other settings than the recipe
    split: int | None = None  # the number of the split, where it is not the seed's

    @property
    def seed(self) -> int:
        """The seed of the training."""
        return self.recipe.train.seed

    @property
    def hash(self) -> str:
        """A short hash of all that changes the result, but the seed."""
        return settings_hash(self.system, self.settings or self.recipe, self.recipe.probe)

    @property
    def is_random(self) -> bool:
        """Whether another seed gives another result."""
        return METHODS[self.system].is_random

    @property
    def data(self) -> Data:
        """Where the graph is read from: the recipe's own files, else the data set."""
        return self.recipe.data if self.recipe.data.graph else Data(graph=self.dataset)

    @property
    def training(self) -> Hashable:
        """What two jobs have in common when one training serves both."""
        recipe = replace(self.recipe, probe=Probe())
        if self.system == "dgb":  # of whose encoder several rows may be made
            recipe = replace(recipe, embed=Embed())
        return self.dataset, self.system, self.settings, recipe

    def facts(self) -> Line:
        """Return what tells this job from others, by the keys of its line."""
        names = ("table", "method", "dataset", "system", "seed", "split")
        return {name: getattr(self, name) for name in names} | {"recipe": self.hash}


def load(data: str | Data, place: Place) -> AnyGraph:
    """Return a data set or a recipe's graph, kept for the next job in this process."""
    data = Data(graph=data) if isinstance(data, str) else data
    return _load(data, place.data_folder, place.offline)


@lru_cache(maxsize=GRAPHS)
def _load(data: Data, data_folder: str | None, offline: bool) -> AnyGraph:
    return read_graph(data, data_folder=data_folder, offline=offline)
