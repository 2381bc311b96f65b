"""Settings of a method: its defaults, then those of the graph, then what the user sets."""

import hashlib
import json
import tomllib
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from importlib import resources
from typing import Any

from dgb.baselines.methods import METHODS
from dgb.cookbook import recipe_hash, split_override
from dgb.recipe import Recipe
from dgb.settings import make_section


def settings_of(key: str, graph: str, recipe: Recipe, overrides: Iterable[str] = ()) -> Any:
    """Return the settings of a method on a graph; overrides are such as gat.dropout=0.5.

    DGB, the untrained encoder and the raw features take the recipe.
    """
    method = METHODS[key]
    if method.file.Settings is Recipe:
        return recipe
    values: dict[str, Any] = dict(_chosen().get(key, {}).get(graph, {}))
    for section, name, value in map(split_override, overrides):
        if section == key:
            values[name] = value
    return make_section(method.file.Settings, key, values | dict(method.fixed))


def settings_hash(key: str, settings: Any) -> str:
    """Return a short hash of a method's settings; of a recipe, the one that runs carry."""
    if isinstance(settings, Recipe):
        return recipe_hash(settings)
    text = json.dumps({"method": key} | asdict(settings), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def _chosen() -> dict[str, Any]:
    text = resources.files("dgb.baselines").joinpath("settings.toml").read_text("utf-8")
    return tomllib.loads(text)
