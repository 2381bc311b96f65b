"""Settings and values as text for the terminal."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from dgb.recipe import Recipe


def setting_lines(recipe: Recipe) -> list[str]:
    """Return every setting of a recipe with its value and its line of documentation."""
    sections = [(field.name, getattr(recipe, field.name)) for field in fields(recipe)]
    return [
        f"{f'{name}.{f.name}':26}{readable(getattr(section, f.name)):12}  {f.metadata['doc']}"
        + (f" ({' | '.join(f.metadata['among'])})" if f.metadata["among"] else "")
        for name, section in sections
        for f in fields(section)
    ]


def some(names: Sequence[str], most: int = 5) -> str:
    """Return the first names of a list, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def readable(value: Any) -> str:
    """Return a number, text, list or mapping as one would write it down."""
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {readable(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(readable(part) for part in value)
    return str(value)
