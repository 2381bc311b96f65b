"""Edges from a table: which of its columns are the two ends, and the weights."""

import re
from dataclasses import dataclass

import numpy as np
from pyarrow import compute, types

from dgb.arrays import Array
from dgb.data.ids import find_positions, id_cells
from dgb.data.tables.edge_names import (
    Ends,
    find_by_words,
    find_ends,
    refuse_square,
    settle_names,
)
from dgb.data.tables.numbers import Numbers, advise_comma, read_amounts
from dgb.data.tables.rows import blank_cells, note_nothing, without, without_loose_ends
from dgb.data.tables.table import NUMBER, Cells, Table, find_column, is_text, refuse_rows
from dgb.data.tables.written import FORMS, count_true
from dgb.errors import DGBError, Faults
from dgb.recipe import Data
from dgb.settings import listed_names

_COUNTERS = ("", "unnamed: 0", "id", "edge_id")  # what columns that only count edges are called
_DATE = r"^\d{1,4}[-./]\d\d?[-./]\d{1,4}(?:$|[T ])"
_LOOKED_AT = 10_000  # rows
_LOOSE = ", or leave such edges out with data.unknown=drop"


@dataclass(frozen=True, eq=False)
class Edges:
    """The table with its names settled, the ids at the two ends, and a weight for each edge."""

    table: Table
    source: Cells
    target: Cells
    weight: Array


def read_edges(table: Table, known: Ends, reading: Data, notes: list[str]) -> Edges:
    """Read ends and weights of edges, with notes on what was guessed or not used."""
    if table.content.num_columns > 1:
        table = _without_arrows(table, notes)
        refuse_square(table)
        table = settle_names(table, known, reading, notes)
    if table.content.num_columns < 2:
        raise DGBError(f"{table.source} has one column; edges need two, a source and a target")
    weight = find_column(table, reading.weight, ("weight",), "data.weight")
    ends = _end_columns(table, known, reading.ends, weight, notes)
    weight = _settle_weight(table, ends, weight, reading, notes)
    of_rows = [name for name, ids in zip(ends, known.ids, strict=True) if ids is not None]
    table = without_loose_ends(blank_cells(table, reading, of_rows), ends, reading, notes)
    faults = Faults()
    with faults:
        source = id_cells(table, ends[0], _LOOSE)
    with faults:
        target = id_cells(table, ends[1], _LOOSE)
    with faults:
        weights = _weights(table, weight, reading, notes)
    faults.refuse()
    for name, ids in zip(ends, known.ids, strict=True):
        if ids is None:
            note_nothing(table, name, notes)
    return Edges(table, source, target, weights)


def _without_arrows(table: Table, notes: list[str]) -> Table:
    """Return a text file of edges such as `a -> b` without the column of arrows."""
    if table.text is None or table.has_names or table.content.num_columns < 3:
        return table
    cells = table.content.column(1)
    arrow = cells[0].as_py() or ""
    if not re.fullmatch(r"[^\w\s]+", arrow) or compute.count_distinct(cells).as_py() > 1:
        return table
    notes.append(f"{table.source}: {arrow} between the ends of edges is not read")
    return without(table, {table.names[1]})


def _settle_weight(
    table: Table, ends: tuple[str, ...], weight: str | None, reading: Data, notes: list[str]
) -> str | None:
    """Return the column of weights, if any, with notes on it and on columns that are not used."""
    has_weights = reading.weights != "none"
    weight = weight if has_weights else None
    others = [name for name in table.names if name not in (*ends, weight)]
    if has_weights and not table.has_names:
        found = _amounts(table, others[0], reading) if others and not weight else None
        if found is not None and _are_times(found.values):
            note = f"{table.source}: column {others[0]} looks like times and is not used"
            notes.append(f"{note}; data.weight={others.pop(0)} takes it for the weights")
        elif found is not None:
            weight = others.pop(0)
        if weight:
            column = "the third column" if weight == "3" else f"column {weight}"
            notes.append(f"{table.source}: {column} is taken for the weights of edges")
    if others:
        names = ", ".join(name or "one without a name" for name in others)
        notes.append(f"{table.source}: columns that are not used: {names}")
    others = [name for name in others if name.lower() not in _COUNTERS]
    numbers = (name for name in others if _amounts(table, name, reading) is not None)
    is_open = has_weights and table.has_names and not weight
    if is_open and (named := next(numbers, "")):
        notes.append(f"{table.source}: data.weight={named} would take {named!r} for the weights")
    return weight


def _are_times(values: Array) -> bool:
    """Tell whether numbers are seconds or thousandths since 1970, of 1980 to 2100."""
    is_time = [(unit * 315e6 < values) & (values < unit * 4_102e6) for unit in (1, 1000)]
    return bool((values % 1 == 0).all() and (is_time[0].all() or is_time[1].all()))


def _amounts(table: Table, name: str, reading: Data) -> Numbers | None:
    return read_amounts(table, table.content.column(name), (reading.decimal,))


def _weights(table: Table, name: str | None, reading: Data, notes: list[str]) -> Array:
    if name is None:
        return np.ones(table.content.num_rows, np.float32)
    found = _amounts(table, name, reading)
    values = np.full(table.content.num_rows, np.nan) if found is None else found.values
    with np.errstate(over="ignore"):
        weight = values.astype(np.float32)
    rows = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    problem = "weights that are not numbers from 0 to 3.4e38"
    comma = advise_comma(table.content.column(name), rows)
    fix = f"fix them{comma}, or let all edges weigh the same with data.weights=none"
    refuse_rows(table, rows, problem, name, fix)
    if found is not None and found.mark:
        notes.append(f"{table.source}: weights read without what stands at them: {found.mark}")
    if found is not None and found.form:
        notes.append(f"{table.source}: {FORMS[found.form]}: {name}")
    return weight


def _end_columns(
    table: Table, known: Ends, asked: str, weight: str | None, notes: list[str]
) -> tuple[str, ...]:
    """Return the columns of the two ends: those asked for, else those whose names say so.

    Without such names they are the first two columns that can be ends, and not the weight.
    """
    if asked:
        return _asked_columns(table, asked)
    ends = find_ends(table.names, known.types)
    if ends is None and table.has_names:
        # Not before: a first row of ids such as paper_7 and author_3 would pass for names.
        ends = find_by_words(table.names, known.types)
    if ends is not None:
        return ends
    has_hints = table.has_names or known.ids[0] is not None
    one, other = _ends_by_content(table, known, weight) if has_hints else table.names[:2]
    if table.has_names and known.types[0] != known.types[1]:
        notes.append(
            f"{table.source}: column {one!r} is taken for {known.types[0]}, and {other!r} for "
            f"{known.types[1]}"
        )
    elif [one, other] != table.names[:2] or (table.has_names and len(table.names) > 2):
        note = f"{table.source}: columns {one!r} and {other!r} are taken for the ends of edges"
        notes.append(f"{note}; data.ends=A,B names others")
    return one, other


def _asked_columns(table: Table, asked: str) -> tuple[str, ...]:
    found = [find_column(table, name, (), "data.ends") for name in listed_names(asked)]
    ends = tuple(name for name in found if name is not None)
    if len(ends) != 2 or ends[0] == ends[1]:
        raise DGBError(f"data.ends={asked} must name two columns, such as data.ends=buyer,seller")
    return ends


def _ends_by_content(table: Table, known: Ends, weight: str | None) -> list[str]:
    """Return the first two columns that can be ends, judged by the ids of nodes where known."""
    ids, head = known.ids[0], table.content.slice(0, _LOOKED_AT)
    can_be = [name for name in table.names if name != weight and _can_be_ids(head.column(name))]
    named = [name for name in can_be if name.lower() not in _COUNTERS]
    rows = [n for n in named if ids is not None and _are_nodes(head.column(n), ids)]
    same_type = known.types[0] == known.types[1]
    found = (found for found in (rows if same_type else [], named, can_be) if len(found) > 1)
    return next(found, table.names)[:2]


def _are_nodes(cells: Cells, ids: Cells) -> bool:
    """Tell whether most cells are ids of nodes."""
    return bool(2 * np.count_nonzero(find_positions(cells, ids) >= 0) > len(cells))


def _can_be_ids(cells: Cells) -> bool:
    """Tell whether a column is neither of dates nor of numbers with fractions, nor empty."""
    cells = cells.drop_null()
    if not is_text(cells):
        is_whole = not types.is_floating(cells.type) or (
            compute.all(compute.equal(compute.floor(cells), cells)).as_py()
        )
        return bool(len(cells) and is_whole and not types.is_temporal(cells.type))
    is_other = compute.match_substring_regex(cells, _DATE)
    has_point = compute.match_substring_regex(cells, r"[.,]\d*[1-9]\d*$")
    is_number = compute.match_substring_regex(cells, NUMBER)
    is_other = compute.or_(is_other, compute.and_(is_number, has_point))
    return 2 * count_true(is_other) < len(cells)
