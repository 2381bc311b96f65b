"""One line to measure: a training, its seed, and the place in a table that its score goes to."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from dgb.baselines.methods import METHODS, settings_hash
from dgb.data.load import read_graph
from dgb.data.typed.graph import AnyGraph
from dgb.measure.place import Place
from dgb.recipe import Data, Embed, Probe, Recipe

Line = dict[str, Any]
GRAPHS = 5  # kept in memory: a table takes a seed of every data set before the next


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
