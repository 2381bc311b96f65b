"""One number to measure, and what tells it from all others."""

from dataclasses import dataclass
from typing import Any

from dgb.baselines.choices import settings_hash
from dgb.baselines.methods import METHODS
from dgb.recipe import Recipe


@dataclass(frozen=True)
class Measurement:
    """One training with its seed, and the place in a table that its score goes to."""

    table: str
    method: str  # the row
    dataset: str
    system: str  # what makes the embeddings or the classes: one of METHODS
    recipe: Recipe  # with the seed and the probe, also of a system that has other settings
    settings: Any = None  # of a system that takes no recipe

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
