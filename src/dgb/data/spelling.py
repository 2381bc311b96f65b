"""What is spelt in several ways, or is probably not what it seems: ids, categories, numbers.

Ids are matched where that is asked for. All else is shown and never changed: categories, and
numbers that may be codes for missing ones.
"""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
from pyarrow import compute
from scipy import sparse

from dgb.data.encoding import Column
from dgb.data.graph import Features, Graph
from dgb.data.ids import arrow_ids, find_positions, find_repeats
from dgb.data.tables.table import Cells
from dgb.terminal import some

_SPELT: dict[str, Callable[[Cells], Cells]] = {
    "in case": lambda ids: compute.utf8_lower(ids),
    "in leading zeros": lambda ids: compute.replace_substring_regex(ids, r"^0+(\d)", r"\1"),
    "in a .0 behind them": lambda ids: compute.replace_substring_regex(ids, r"^(\d+)\.0$", r"\1"),
    "in blanks or marks that are not seen": lambda ids: compute.replace_substring_regex(
        ids, r"[\s\x{00a0}\x{00ad}\x{200b}-\x{200f}\x{2060}\x{feff}]+", ""
    ),
    "in how their letters are stored": lambda ids: compute.utf8_normalize(ids, "NFKC"),
    "in commas": lambda ids: compute.replace_substring(ids, ",", ""),
    "in quotes or dashes": lambda ids: compute.replace_substring_regex(
        compute.replace_substring_regex(ids, r"^=|[\"'`\x{00b4}\x{2018}-\x{201f}\x{2032}]", ""),
        r"[\x{2010}-\x{2015}\x{2212}]",
        "-",
    ),
}
_SPELT["in several of these"] = lambda ids: reduce(
    lambda cells, change: change(cells), list(_SPELT.values())[-2::-1], ids
)
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


def explain_spelling(cells: Cells, ids: Cells) -> str:
    """Say how those that are no ids differ from ids where only the spelling does, else ""."""
    cells, known = (values.cast(pa.large_string()) for values in (cells, compute.unique(ids)))
    unknown = cells.filter(pa.array(find_positions(cells, known) < 0))
    for how, change in _SPELT.items():
        found = find_positions(change(unknown), change(known))
        rows = np.flatnonzero(found >= 0)
        if len(rows):
            one, other = unknown[int(rows[0])].as_py(), known[int(found[rows[0]])].as_py()
            return (
                f"{len(rows):,} of {len(unknown):,} unknown ids differ from ids of rows only "
                f"{how}, as {one!r} and {other!r} do"
            )
    return ""


def _explain_twins(ids: Cells) -> str:
    """Say which ids differ from another one in spelling alone, "" where none does."""
    for how, change in _SPELT.items():
        rows, firsts = find_repeats(change(ids))
        if len(rows):
            one, other = ids[int(rows[0])].as_py(), ids[int(firsts[0])].as_py()
            return f"{len(rows):,} ids differ from another only {how}, as {one!r} and {other!r} do"
    return ""


def match_spelling(
    cells: Sequence[Cells], ids: Sequence[Cells], what: str, notes: list[str]
) -> list[Cells]:
    """Return cells with the ids that they differ from in spelling alone, and note how many."""
    counts: Counter[str] = Counter()
    pairs = zip(cells, ids, strict=True)
    matched = [_match_spelling(given, known, counts) for given, known in pairs]
    if counts:
        listed = ", ".join(f"{how}: {count:,}" for how, count in counts.items())
        notes.append(f"{what} were taken for these, {listed}")
    return matched


def _match_spelling(cells: Cells, ids: Cells, counts: Counter[str]) -> Cells:
    cells, known = (values.cast(pa.large_string()) for values in (cells, compute.unique(ids)))
    for how, change in _SPELT.items():
        spelt = change(known)
        found = find_positions(change(cells), spelt)
        # Of two rows that differ so as well, none: which of them is meant cannot be told.
        is_one = np.bincount(find_positions(spelt, spelt))[found] == 1
        rows = np.flatnonzero((find_positions(cells, known) < 0) & (found >= 0) & is_one)
        if len(rows):
            places = np.full(len(cells), -1)
            places[rows] = found[rows]
            taken = known.take(pa.array(places, mask=places < 0))
            cells = compute.coalesce(taken, cells)
            counts[how] += len(rows)
    return cells if hasattr(cells, "chunks") else pa.chunked_array([cells])


def id_trouble(graph: Graph) -> Iterator[str]:
    """Yield a sentence on ids that are spelt in several ways, or have lost letters."""
    if graph.node_ids.dtype != object:
        return
    ids = pa.chunked_array([arrow_ids(graph.node_ids)])
    twins = _explain_twins(ids)
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
        # Not of numbers: room 1024 is another room than 1025.
        digits = [sorted(re.findall(r"\d", word)) for word in (bare, *near)]
        is_slip = bool(near) and digits[0] == digits[1]
        if key not in groups and is_slip and counts[value] <= _RARE * counts[groups[near[0]][0]]:
            key = near[0]
        groups.setdefault(key, []).append(value)
    return [group for key, group in groups.items() if len(group) > 1 and key not in _NOTHING]


def _bare(value: str) -> str:
    grade = re.search(r"(?<=\w)[+-]+\s*$", value)  # A+ is not A-
    return re.sub(r"[\W_]+", "", value.casefold()) + (grade[0].strip() if grade else "")
