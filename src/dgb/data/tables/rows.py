"""Rows, cells and columns of a table that are not used: what says nothing, and copies."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from dgb.arrays import Array
from dgb.data.ids import find_positions
from dgb.data.tables.table import Cells, Table, is_number, is_text, keep_where
from dgb.recipe import Data
from dgb.settings import listed_names

# What people and programs write where there is no number.
ERRORS = (  # of spreadsheets, in some of their languages
    *("#n/a", "#ref!", "#value!", "#div/0!", "#name?", "#null!", "#num!"),
    *("#nv", "#wert!", "#bezug!", "#n/d", "#valeur!", "#nom?"),
)
NOTHING = (*ERRORS, "n/a", "(n/a)", "nan", "nat", "null", "(null)", "<na>", "\\n", "?", "(blank)")
# What may mean nothing, and does in a column of numbers.
MAYBE = (
    *("na", "n.a.", "k.a.", "none", "nil", "-", "--", ".", "missing", "unknown", "undefined"),
    *("\u2013", "\u2014", "..", "...", "\u2026", "n.d.", "n/k", "not available"),
)


def are_missing(cells: Cells) -> Array:
    """Tell which cells are empty, NaN, or text such as n/a."""
    is_missing = compute.is_null(cells, nan_is_null=types.is_floating(cells.type))
    if is_text(cells):
        is_missing = compute.or_(is_missing, hold(cells, (*NOTHING, *MAYBE)))
    return np.asarray(is_missing.to_numpy())


def hold(cells: Cells, marks: Sequence[str]) -> Cells:
    """Tell which cells of text are one of some marks, in small or capital letters; none is null."""
    return compute.is_in(compute.utf8_lower(cells), pa.array(marks, pa.large_string()))


def blank_cells(table: Table, reading: Data, ids: Collection[str]) -> Table:
    """Return a table without what the settings say means nothing, but for columns of ids."""
    marks = [mark.lower() for mark in listed_names(reading.empty)]
    content = table.content
    for place, name in enumerate(content.column_names if marks else ()):
        cells = content.column(name)
        if name not in ids and (is_text(cells) or types.is_primitive(cells.type)):
            is_mark = _hold_text(cells, marks) if is_text(cells) else _hold_numbers(cells, marks)
            content = content.set_column(place, name, keep_where(compute.invert(is_mark), cells))
    return replace(table, content=content)


def _hold_text(cells: Cells, marks: list[str]) -> Cells:
    if any(map(is_number, marks)):  # -999 is written -999.0 too
        cells = compute.replace_substring_regex(cells, r"^([+-]?\d+)\.0+$", r"\1")
    return hold(cells, marks)


def _hold_numbers(cells: Cells, marks: list[str]) -> Cells:
    numbers = [float(mark) for mark in marks if is_number(mark)]
    if types.is_temporal(cells.type) or types.is_boolean(cells.type) or not numbers:
        return pa.array(np.zeros(len(cells), bool))
    return compute.is_in(cells.cast(pa.float64(), safe=False), pa.array(numbers))


def without_missing(
    reading: Data, names: Collection[str], keys: Collection[str] = ("label", "split")
) -> Data:
    """Return settings that ask only for columns which a table has; `keys` name one column each."""
    present = {name.lower() for name in names}
    asked = {key: getattr(reading, key) for key in keys}
    kept = {key: name if name.lower() in present else "" for key, name in asked.items()}
    dropped = [name for name in listed_names(reading.drop) if name.lower() in present]
    return replace(reading, **kept, drop=",".join(dropped))


def without(table: Table, names: Collection[str | None]) -> Table:
    """Return a table without some of its columns."""
    kept = [name for name in table.content.column_names if name not in names]
    return replace(table, content=table.content.select(kept))


def without_copies(table: Table, name: str, notes: list[str]) -> Table:
    """Return a table without rows that repeat an earlier one in every cell."""
    cells = table.content.column(name)
    if not (is_text(cells) or types.is_primitive(cells.type)):
        return table
    if compute.count_distinct(cells, mode="all").as_py() == len(cells):
        return table
    places = find_positions(cells, compute.unique(cells))
    rows = np.flatnonzero(np.bincount(places[places >= 0])[places] > 1)
    texts = list(map(repr, table.content.take(pa.array(rows)).to_pylist()))
    firsts = dict(zip(reversed(texts), rows[::-1].tolist(), strict=True))
    is_kept = np.ones(len(cells), bool)
    is_kept[rows] = [firsts[text] == row for text, row in zip(texts, rows, strict=True)]
    return keep_rows(table, is_kept, "rows that repeat an earlier one", notes)


def without_loose_ends(table: Table, ends: Sequence[str], reading: Data, notes: list[str]) -> Table:
    """Return a table of edges without those that lack an end, where unknown ends are dropped."""
    if reading.unknown != "drop":
        return table
    is_known = np.ones(table.content.num_rows, bool)
    for name in ends:
        cells = table.content.column(name)
        is_missing = compute.is_null(cells, nan_is_null=types.is_floating(cells.type))
        is_known &= ~np.asarray(is_missing.to_numpy())
    return keep_rows(table, is_known, "edges without an id at one of their ends", notes)


def keep_rows(table: Table, is_kept: Array, what: str, notes: list[str]) -> Table:
    """Return the rows that something is true of, with a note on others, if any."""
    if is_kept.all():
        return table
    notes.append(f"{table.source}: {what}, left out: {int((~is_kept).sum()):,}")
    return table.take_rows(is_kept)


def note_nothing(table: Table, name: str, notes: list[str]) -> None:
    """Note ids of edges that say that there is none, such as nan, and would be a node."""
    cells = table.content.column(name)
    if not is_text(cells):
        return
    held = cells.filter(hold(cells, NOTHING))
    if len(held):
        text = held[0].as_py()
        notes.append(
            f"{table.source}: {name!r} is {text!r}, which is read as a node: {len(held):,}; say "
            f"data.empty={text} and data.unknown=drop to leave such edges out"
        )
