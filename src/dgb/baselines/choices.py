"""Settings of a method: its defaults, then those of the graph, then what the user sets."""

import hashlib
import json
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

from dgb.baselines.methods import METHODS
from dgb.cookbook import recipe_hash, split_override
from dgb.errors import DGBError
from dgb.recipe import Probe, Recipe
from dgb.settings import hashed_values, make_section, plain_values

# The probe of results whose hash names none; written out, so that it stays when a default changes.
USUAL_PROBE = Probe("linear", (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5), "auto")


def settings_of(key: str, graph: str, recipe: Recipe, overrides: Iterable[str] = ()) -> Any:
    """Return the settings of a method on a graph; overrides are such as gat.dropout=0.5.

    DGB, the untrained encoder and the raw features take the recipe.
    """
    method = METHODS[key]
    own = {name: value for section, name, value in map(split_override, overrides) if section == key}
    if method.file.Settings is Recipe:
        if own:
            raise DGBError(f"{key} takes a recipe: use --set section.key=… without {key}")
        return recipe
    for name in own:
        if name in method.fixed:
            raise DGBError(f"{key}.{name} is what makes it {key}: it cannot be set")
    chosen: dict[str, Any] = _chosen().get(key, {}).get(graph, {})
    return make_section(method.file.Settings, key, chosen | own | dict(method.fixed))


def settings_hash(key: str, settings: Any, probe: Probe | None = None) -> str:
    """Return a short hash of a method's settings and of a probe other than the usual one.

    The hash of a recipe, which has its probe, is the one that runs carry.
    """
    if isinstance(settings, Recipe):
        return recipe_hash(settings)
    values = {"method": key} | hashed_values(settings)
    if METHODS[key].task == "represent" and probe not in (None, USUAL_PROBE):
        values["probe"] = plain_values(probe)
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


@cache
def _chosen() -> dict[str, Any]:
    text = resources.files("dgb.baselines").joinpath("settings.toml").read_text("utf-8")
    return tomllib.loads(text)
