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
from dgb.recipe import ALL_TYPES, Data, Hetero, Recipe
from dgb.settings import make_section, unknown_name
from dgb.terminal import readable

# What does not change the result of a run, only picks one of its repetitions, or says which graph
# is read and how: the graph has a hash of its own.
NOT_IN_HASH = {
    "train": ("seed", "device", "threads", "checkpoint_every", "columns", "keep", "memory_gb"),
    "data": tuple(f.name for f in fields(Data) if f.name not in ("normalise", "structure")),
}
# Settings that came later, and what they were before: results of then keep their hash.
_TYPED = {"way_drop_rate": 0.0, "types": ""}
LATER: dict[str, dict[str, Any]] = {
    "data": {"structure": "walk"},
    "train": {"bf16": False},
    "view1": _TYPED,
    "view2": _TYPED,
    "hetero": asdict(Hetero()) | {"embeds_all": False},
}


def recipe_names() -> list[str]:
    """Return the names of the recipes that come with the package."""
    folder = resources.files("dgb") / "recipes"
    return sorted(
        f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")
    )


def load_recipe(source: str | Path | Recipe = "default", overrides: Iterable[str] = ()) -> Recipe:
    """Return a recipe by name or from a TOML file, with `section.key=value` overrides applied."""
    values = plain(source) if isinstance(source, Recipe) else _values(str(source))
    for override in overrides:
        _override(values, override)
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
    return {
        name: {k: list(v) if isinstance(v, tuple) else v for k, v in section.items()}
        for name, section in asdict(recipe).items()
    }


def to_toml(recipe: Recipe) -> str:
    """Return a recipe as TOML with every key written out."""
    import tomli_w

    return tomli_w.dumps(plain(recipe))


def recipe_hash(recipe: Recipe) -> str:
    """Return a short hash of all settings that change a result, seed left out."""
    values = plain(recipe)
    # Which type is embedded is the graph's own matter, but not that all are.
    values["hetero"]["embeds_all"] = recipe.data.target == ALL_TYPES
    for section, keys in NOT_IN_HASH.items():
        values[section] = {k: v for k, v in values[section].items() if k not in keys}
    for section, later in LATER.items():
        for key, default in later.items():
            if values[section][key] == default:
                del values[section][key]
    values = {section: keys for section, keys in values.items() if keys}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def _values(source: str) -> dict[str, Any]:
    """Return what a recipe file sets, on top of the recipe that its `base` names."""
    own = _parse(_read(source), source)
    base = own.pop("base", None)
    if base is None:
        return own
    if base not in recipe_names() or base == source:
        raise unknown_name(f"base of {source},", str(base), recipe_names())
    values = _values(base)
    for section, keys in own.items():
        is_section = isinstance(keys, dict) and isinstance(values.get(section, {}), dict)
        values[section] = values.get(section, {}) | keys if is_section else keys
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
        raise DGBError(
            f"cannot read the recipe {source} ({error}); check path and encoding"
        ) from error


def _parse(text: str, source: str) -> dict[str, Any]:
    with refusing(Path(source), "not valid TOML", "mend it; `dgb info default` lists all keys"):
        return tomllib.loads(text)


def _override(values: dict[str, Any], override: str) -> None:
    section, name, value = split_override(override)
    section_values = values.setdefault(section, {})
    if isinstance(section_values, dict):
        section_values[name] = value


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


def setting_lines(recipe: Recipe) -> list[str]:
    """Return every setting of a recipe with its value and its line of documentation."""
    sections = [(field.name, getattr(recipe, field.name)) for field in fields(recipe)]
    return [
        f"{f'{name}.{f.name}':26}{readable(getattr(section, f.name)):12}  {f.metadata['doc']}"
        + (f" ({' | '.join(f.metadata['among'])})" if f.metadata["among"] else "")
        for name, section in sections
        for f in fields(section)
    ]
