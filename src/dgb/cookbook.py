"""Recipes by name, from TOML and back, with overrides such as `train.decay=0.9`."""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

from dgb.errors import DGBError, refusing
from dgb.recipe import ALL_TYPES, Recipe
from dgb.settings import ALWAYS, hashed_values, make_section, plain_values, unknown_name
from dgb.terminal import some

DEFAULT = "default"  # Recipe() itself: there is no file of this name
NOTHING = "nothing"  # as `base`: every key is written out, so that no later default reaches it


def recipe_names() -> list[str]:
    """Return the names of the recipes that come with the package."""
    folder = resources.files("dgb") / "recipes"
    files = [f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")]
    return sorted([DEFAULT, *files])


def load_recipe(source: str | Path | Recipe = DEFAULT, overrides: Iterable[str] = ()) -> Recipe:
    """Load a recipe and change some of its settings.

    Args:
        source: The name of a recipe that comes with the package (`recipe_names()` lists them), the
            path of a TOML file, or a recipe.
        overrides: Settings to change, each `section.key=value`.

    Returns:
        The recipe, every setting checked; an unknown key or an impossible value raises DGBError.

    Example:
        >>> load_recipe("paper-cora", ["train.epochs=20"]).train.epochs
        20
    """
    values = plain(source) if isinstance(source, Recipe) else _values(str(source))
    for override in overrides:
        section, name, value = split_override(override)
        keys = values.setdefault(section, {})
        if isinstance(keys, dict):  # else refused below
            keys[name] = value
    return recipe_from(values)


def recipe_from(values: Mapping[str, Any]) -> Recipe:
    """Build a recipe from nested plain values, refusing unknown sections and keys."""
    defaults = Recipe()
    known = [f.name for f in fields(Recipe)]
    sections: dict[str, Any] = {}
    for name, section in values.items():
        if name not in known:
            raise unknown_name("recipe section", name, known)
        if not isinstance(section, Mapping):
            raise DGBError(f"{name} is a section: write [{name}] with keys below it")
        default = getattr(defaults, name)
        # view2's defaults differ from those of its class, so start from the recipe's own.
        sections[name] = make_section(type(default), name, asdict(default) | dict(section))
    return replace(defaults, **sections)


def with_seed(recipe: Recipe, seed: int) -> Recipe:
    """Return the recipe of another repetition of the same run."""
    return replace(recipe, train=replace(recipe.train, seed=seed))


def plain(recipe: Recipe) -> dict[str, dict[str, Any]]:
    """Return a recipe as nested dictionaries of plain values."""
    return {f.name: plain_values(getattr(recipe, f.name)) for f in fields(recipe)}


def to_toml(recipe: Recipe) -> str:
    """Return a recipe as TOML with every key written out."""
    import tomli_w

    return tomli_w.dumps({"base": NOTHING} | plain(recipe))


def recipe_hash(recipe: Recipe) -> str:
    """Return a short hash of all settings that change a result, seed left out."""
    values = {f.name: hashed_values(getattr(recipe, f.name)) for f in fields(recipe)}
    if recipe.data.target == ALL_TYPES:  # which type is embedded is the graph's own matter
        values["hetero"]["embeds_all"] = True
    values = {section: keys for section, keys in values.items() if keys}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def _values(source: str) -> dict[str, Any]:
    """Return what a recipe file sets, on top of the recipe that its `base` names."""
    if source == DEFAULT:
        return {}
    text = _read(source)
    with refusing(Path(source), "not valid TOML", "fix it; `dgb info default` lists all keys"):
        own = tomllib.loads(text)
    base = own.pop("base", DEFAULT)
    if base not in (known := [NOTHING, *recipe_names()]) or base == source:
        raise unknown_name(f"base of {source},", str(base), known)
    values = _values_as_before(own, source) if base == NOTHING else _values(base)
    for section, keys in own.items():
        is_section = isinstance(keys, dict) and isinstance(values.get(section, {}), dict)
        values[section] = values.get(section, {}) | keys if is_section else keys
    return values


def _values_as_before(own: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return, of the keys that were added later, the values that mean "as before".

    A recipe on top of nothing that leaves another key to the defaults of today is refused.
    """
    values: dict[str, Any] = {}
    left_out = []
    for section in fields(Recipe):
        keys = own.get(section.name, {})
        for f in fields(getattr(Recipe(), section.name)):
            if f.metadata["before"] is not ALWAYS:
                values.setdefault(section.name, {})[f.name] = f.metadata["before"]
            elif f.metadata["is_hashed"] and not (isinstance(keys, dict) and f.name in keys):
                left_out.append(f"{section.name}.{f.name}")
    if left_out:
        raise DGBError(
            f"{source} says base = {NOTHING!r} but leaves out {some(left_out)}; write these keys "
            "out, or leave out the base"
        )
    return values


def _read(source: str) -> str:
    if source in recipe_names():
        return (resources.files("dgb") / "recipes" / f"{source}.toml").read_text("utf-8")
    path = Path(source)
    if path.suffix != ".toml":
        raise unknown_name("recipe", source, recipe_names())
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        advice = "check path and encoding"
        raise DGBError(f"cannot read the recipe {source} ({error}); {advice}") from error


def split_override(override: str) -> tuple[str, str, Any]:
    """Return section, key and value of an override such as train.decay=0.9."""
    key, equals, text = override.partition("=")
    section, dot, name = key.strip().partition(".")
    if not equals or not dot or not name:
        raise DGBError(f"--set takes section.key=value such as train.decay=0.9, not {override!r}")
    return section, name, _value(text.strip())


def _value(text: str) -> Any:
    """Read a value as TOML does, and what people type besides: bare words, and .5 for 0.5."""
    if re.fullmatch(r"[+-]?\.\d+(e[+-]?\d+)?", text, re.IGNORECASE):
        return float(text)
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, KeyError, RecursionError):  # a number may be too long to be one
        return text
