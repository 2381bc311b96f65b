"""A knob: one recipe key with the values that a search may give it."""

import json
from dataclasses import dataclass
from typing import Any

from dgb.cookbook import plain
from dgb.recipe import Recipe


@dataclass(frozen=True)
class Knob:
    """A recipe key with the values that it may take: choices, else a range."""

    key: str
    choices: tuple[str, ...] = ()  # as an override writes them
    low: float = 0
    high: float = 0
    is_log: bool = False

    def __str__(self) -> str:
        """Return the text that this knob can be parsed from."""
        if self.choices:
            return f"{self.key}={','.join(self.choices)}"
        return f"{self.key}={self.low!r}:{self.high!r}" + (":log" if self.is_log else "")


Space = tuple[Knob, ...]


def suggest(trial: Any, space: Space) -> list[str]:
    """Return overrides for `load_recipe`, with values that an Optuna trial proposes."""
    return [f"{knob.key}={_suggested(trial, knob)}" for knob in space]


def starting_point(recipe: Recipe, space: Space) -> dict[str, Any]:
    """Return the recipe's own values, as Optuna's parameters, of the knobs that can take them."""
    start: dict[str, Any] = {}
    for knob in space:
        value = own_value(recipe, knob.key)
        if knob.choices and as_text(value) in knob.choices:
            start[knob.key] = as_text(value)
        elif not knob.choices and knob.low <= value <= knob.high:
            start[knob.key] = value
    return start


def own_value(recipe: Recipe, key: str) -> Any:
    """Return what a recipe has at `section.key`."""
    section, name = key.split(".", 1)
    return plain(recipe)[section][name]


def as_text(value: Any) -> str:
    """Return a value as an override writes it."""
    return value if isinstance(value, str) else json.dumps(value)


def _suggested(trial: Any, knob: Knob) -> str:
    if knob.choices:
        return str(trial.suggest_categorical(knob.key, knob.choices))
    if isinstance(knob.low, int):
        return str(trial.suggest_int(knob.key, knob.low, knob.high, log=knob.is_log))
    value = trial.suggest_float(knob.key, knob.low, knob.high, log=knob.is_log)
    # Four digits say all that a search can find, and can be read in the recipe it writes.
    return repr(min(max(float(f"{value:.4g}"), knob.low), knob.high))
