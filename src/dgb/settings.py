"""Checked settings: a dataclass field that carries its own documentation and limits."""

import difflib
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import Field, field, fields
from typing import Any, TypeVar

from dgb.errors import DGBError

Section = TypeVar("Section")
ALWAYS = object()  # as `before`: the key was there from the beginning, its value is always hashed


def setting(
    default: Any,
    doc: str,
    *,
    among: tuple[str, ...] = (),
    low: float = -math.inf,
    high: float = math.inf,
    before: Any = ALWAYS,
    is_hashed: bool = True,
    is_whole: bool = False,
) -> Any:
    """Declare a setting: its default, one line of documentation, and what it may be.

    Args:
        default: The value of a recipe that does not name the key.
        doc: One line for `dgb info` and the report.
        among: The words that it may be, or that a list of them may hold; numbers are from `low` to
            `high`.
        low: The smallest number.
        high: The largest number.
        before: For a key that is added later: the value that means "as before this key existed".
            Recorded once; it stays when the default changes, so that old results keep their hash
            and results of a new default get another.
        is_hashed: False where the value changes no result.
        is_whole: Whether the numbers of a list are whole; of a single number its default says it.

    Returns:
        A dataclass field.
    """
    limits = {"among": among, "low": low, "high": high}
    metadata = {"doc": doc, "before": before, "is_hashed": is_hashed, "is_whole": is_whole} | limits
    return field(default=default, metadata=metadata)


def plain_values(section: Any) -> dict[str, Any]:
    """Return the settings of a section as TOML and JSON write them."""
    values = {f.name: getattr(section, f.name) for f in fields(section)}
    return {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}


def hashed_values(section: Any) -> dict[str, Any]:
    """Return what of a section tells results apart: not what means "as before this key existed"."""
    values = plain_values(section)
    return {
        f.name: values[f.name]
        for f in fields(section)
        if f.metadata["is_hashed"] and getattr(section, f.name) != f.metadata["before"]
    }


def make_section(kind: type[Section], name: str, values: Mapping[str, Any]) -> Section:
    """Build one recipe section from plain values, refusing unknown keys and impossible values."""
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    for key in values:
        if key not in known:
            raise DGBError(f"unknown key {name}.{key}{_did_you_mean(key, list(known))}")
    return kind(**{key: _check(known[key], name, value) for key, value in values.items()})


def split_list(names: str) -> tuple[str, ...]:
    """Return the names of a list such as dgi,gcn, each once."""
    return tuple(dict.fromkeys(name.lower() for name in listed_names(names)))


def listed_names(names: str) -> tuple[str, ...]:
    """Return the names of a list as they are written."""
    return tuple(name.strip() for name in names.split(",") if name.strip())


def listed_pairs(pairs: str) -> list[tuple[str, str]]:
    """Return the keys and values of a list such as a=1,b=2."""
    found = [pair.partition("=") for pair in listed_names(pairs)]
    return [(key.strip(), value.strip()) for key, _, value in found]


def check_names(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a name that is not among the known ones."""
    known = list(dict.fromkeys(known))
    for name in names:
        if name not in known:
            raise unknown_name(what, name, known)


def unknown_name(what: str, given: str, known: list[str]) -> DGBError:
    """Return the error for a name that is not among the known ones, with the nearest one."""
    return DGBError(f"unknown {what} {given!r}{_did_you_mean(given, known)}")


def _did_you_mean(given: str, known: list[str]) -> str:
    near = difflib.get_close_matches(given, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    return f"{hint} Known: {', '.join(sorted(known))}"


def _check(spec: Field[Any], section: str, value: Any) -> Any:
    key, meta = f"{section}.{spec.name}", spec.metadata
    default: Any = spec.default
    if meta["among"] and isinstance(default, tuple):
        return _words(key, value, meta["among"])
    if meta["among"]:
        if value not in meta["among"]:
            raise DGBError(f"{key} must be one of {', '.join(meta['among'])}, not {value!r}")
        return value
    if isinstance(default, tuple):
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            raise DGBError(f"{key} must be a list of numbers, not {value!r}")
        return tuple(_number(key, 0 if meta["is_whole"] else 0.0, item, meta) for item in value)
    if isinstance(default, bool | str):
        if type(value) is not type(default):
            wanted = "true or false" if isinstance(default, bool) else "text"
            raise DGBError(f"{key} must be {wanted}, not {value!r}")
        return value
    return _number(key, default, value, meta)


def _words(key: str, value: Any, among: tuple[str, ...]) -> tuple[str, ...]:
    """Return words of a list, or of a text with commas, each once and in the order of `among`."""
    words = listed_names(value) if isinstance(value, str) else value
    if not isinstance(words, list | tuple) or not words or any(w not in among for w in words):
        raise DGBError(f"{key} must list some of {', '.join(among)}, not {value!r}")
    return tuple(word for word in among if word in words)


def _number(key: str, default: float, value: Any, meta: Mapping[str, Any]) -> float:
    is_whole, low, high = isinstance(default, int), meta["low"], meta["high"]
    largest = 2**63 - 1 if is_whole else sys.float_info.max  # of an integer of a tensor, of a float
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_possible = is_number and low <= value <= high and abs(value) <= largest
    if is_possible and (not is_whole or value == int(value)):
        return int(value) if is_whole else float(value)
    limits = f" of at least {low:g}" if math.isinf(high) else f" from {low:g} to {high:g}"
    limits = "" if math.isinf(low) and math.isinf(high) else limits
    raise DGBError(f"{key} must be a {'whole ' * is_whole}number{limits}, not {value!r}")
