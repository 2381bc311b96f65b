"""Values that are probably not what they seem: shown, never changed.

Of categories and ids, one that is spelt in several ways; of numbers, a code for a missing one.
"""

import difflib
import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyarrow import compute
from scipy import sparse

from dgb.data.encoding import Column
from dgb.data.graph import Features, Graph
from dgb.data.ids import arrow_ids, explain_twins
from dgb.terminal import some

_BOOLEAN = {"yes": "yes", "y": "yes", "true": "yes", "t": "yes", "1": "yes", "on": "yes"}
_BOOLEAN |= {"no": "no", "n": "no", "false": "no", "f": "no", "0": "no", "off": "no"}
_NOTHING = ("", "na", "nan", "none", "null", "unknown", "missing", "notavailable")
_LONG = 5  # letters from which two words may be one with a slip
_SLIP = 0.8  # likeness of such words, by difflib
_AGAIN = 3  # times that a code occurs, and other values that there are
_GAP = 0.1  # of the range of all others, between these and a code
_CODE = re.compile(r"-?(9{2,}|8{2,})|-[189]|(1900|1970)-01-01|9999-12-31")
_LOOKED_AT = 100_000
_RARE = 0.1  # how often a slip occurs, of how often the word does


def id_trouble(graph: Graph) -> Iterator[str]:
    """Yield a sentence on ids that are spelt in several ways, or have lost letters."""
    if graph.node_ids.dtype != object:
        return
    ids = pa.chunked_array([arrow_ids(graph.node_ids)])
    twins = explain_twins(ids)
    if twins:
        yield f"{twins}, and are nodes of their own; spell them alike if they are the same"
    lost = ids.filter(compute.match_substring(ids, "\ufffd"))
    if len(lost):
        yield (
            f"{len(lost):,} ids have \ufffd where letters were lost, as {lost[0].as_py()!r} does: "
            "different ones may be the same now; export them again as UTF-8"
        )


def spelling_trouble(graph: Graph) -> Iterator[str]:
    """Yield a sentence on each column whose values are spelt in several ways, or are none."""
    columns = graph.encoding.columns if graph.encoding is not None else ()
    x = sparse.csc_array(graph.x) if sparse.issparse(graph.x) else graph.x
    codes: dict[str, str] = {}
    place = 0
    for column in columns:
        width = len(column.names())
        if column.kind == "category":
            sizes = np.asarray(x[:, place : place + width].sum(axis=0)).ravel()
            yield from _column_trouble(
                column, dict(zip(column.levels, sizes.tolist(), strict=True))
            )
        elif column.kind == "number" and not column.width:
            codes |= _find_codes(column, x[:, [place]])
        place += width
    if codes:
        yield (
            "Values that are repeated and far from all others of their column may be codes for "
            f"missing ones: {some(list(codes))}; if they are, leave such cells empty, or say "
            f"--set data.empty={','.join(sorted(set(codes.values())))}"
        )


def _find_codes(column: Column, scaled: Features) -> dict[str, str]:
    """Return the ends of a column that may be codes, in words and as they are written."""
    x = (scaled.toarray() if sparse.issparse(scaled) else scaled).ravel().astype(np.float64)
    values = np.round(x * column.scale + column.shift, 0 if column.unit else 4)
    found = {}
    for end in (values.min(), values.max()):
        others = values[values != end]
        count = len(values) - len(others)
        if count >= _AGAIN and len(np.unique(others[:_LOOKED_AT])) >= _AGAIN:
            text = str(np.datetime64(int(end), "D")) if column.unit else f"{end:.6g}"
            gap, span = np.abs(others - end).min(), others.max() - others.min()
            is_known = _CODE.fullmatch(text) is not None
            is_odd = text.startswith("-") and others.min() >= 0  # -1 next to counts
            if end and (gap > span or (is_known and (is_odd or gap > _GAP * span))):
                found[f"{column.name} {text} ({count:,})"] = text
    return found


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
    grade = re.search(r"(?<=\w)[+-]+\s*$", value)  # A+ is not A-
    return re.sub(r"[\W_]+", "", value.casefold()) + (grade[0].strip() if grade else "")
