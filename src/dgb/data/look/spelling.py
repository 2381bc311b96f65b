"""Values of categories that are probably one value spelt in several ways: shown, never changed."""

import difflib
import re
from collections.abc import Iterator

import numpy as np

from dgb.data.encoding import Column
from dgb.data.graph import Graph
from dgb.terminal import some

_BOOLEAN = {"yes": "yes", "y": "yes", "true": "yes", "t": "yes", "1": "yes", "on": "yes"}
_BOOLEAN |= {"no": "no", "n": "no", "false": "no", "f": "no", "0": "no", "off": "no"}
_NOTHING = ("", "na", "nan", "none", "null", "unknown", "missing", "notavailable")
_LONG = 5  # letters from which two words may be one with a slip
_SLIP = 0.8  # likeness of such words, by difflib
_RARE = 0.1  # how often a slip occurs, of how often the word does


def spelling_trouble(graph: Graph) -> Iterator[str]:
    """Yield a sentence on each column whose values are spelt in several ways, or are none."""
    columns = graph.encoding.columns if graph.encoding is not None else ()
    place = 0
    for column in columns:
        width = len(column.names())
        if column.kind == "category":
            sizes = np.asarray(graph.x[:, place : place + width].sum(axis=0)).ravel()
            yield from _column_trouble(
                column, dict(zip(column.levels, sizes.tolist(), strict=True))
            )
        place += width


def _column_trouble(column: Column, counts: dict[str, float]) -> Iterator[str]:
    shown = [
        " = ".join(f"{v!r} ({counts[v]:.0f})" for v in group) for group in group_values(counts)
    ]
    if shown:
        yield (
            f"Values of {column.name!r} that may be the same, and are different categories: "
            f"{some(shown)}; spell them alike if they are"
        )
    empty = {v: f"{v!r} ({counts[v]:.0f})" for v in counts if _bare(v) in _NOTHING}
    if empty:
        yield (
            f"Values of {column.name!r} that may mean that there is none, and are categories: "
            f"{some(list(empty.values()))}; leave such cells empty if they do, or say "
            f"--set data.empty={','.join(empty)}"
        )


def group_values(counts: dict[str, float]) -> list[list[str]]:
    """Return the values that differ in case and signs, or by a slip; the most frequent first."""
    is_boolean = len({_BOOLEAN.get(_bare(value), value) for value in counts}) <= 2
    groups: dict[str, list[str]] = {}
    for value in sorted(counts, key=lambda value: (-counts[value], value)):
        bare = _bare(value)
        key = _BOOLEAN.get(bare, bare) if is_boolean else bare
        near = difflib.get_close_matches(bare, groups, 1, _SLIP) if len(bare) >= _LONG else []
        is_slip = bool(near) and _is_slip(near[0], bare)
        if key not in groups and is_slip and counts[value] <= _RARE * counts[groups[near[0]][0]]:
            key = near[0]
        groups.setdefault(key, []).append(value)
    return [group for key, group in groups.items() if len(group) > 1 and key not in _NOTHING]


def _is_slip(word: str, other: str) -> bool:
    # Not of numbers: room 1024 is another room than 1025.
    return sorted(re.findall(r"\d", word)) == sorted(re.findall(r"\d", other))


def _bare(value: str) -> str:
    return re.sub(r"[\W_]+", "", value.casefold())
