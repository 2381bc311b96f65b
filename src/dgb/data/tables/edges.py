"""Edges from a table: the two ends, weights, and ends that are not nodes."""

import re
from dataclasses import dataclass

import numpy as np
from pyarrow import compute

from dgb.arrays import Array
from dgb.data.ids import id_cells
from dgb.data.tables.edge_names import refuse_square, settle_names
from dgb.data.tables.ends import COUNTERS, Ends, end_columns
from dgb.data.tables.numbers import Numbers, advise_comma, read_amounts
from dgb.data.tables.rows import blank_cells, note_nothing, without, without_loose_ends
from dgb.data.tables.table import Cells, Table, find_column, refuse_rows
from dgb.data.tables.written import FORMS
from dgb.errors import DGBError, Faults
from dgb.recipe import Data

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
    ends = end_columns(table, known, reading.ends, weight, notes)
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
            told = f"{table.source}: column {others[0]} looks like times and is not used"
            notes.append(f"{told}; data.weight={others.pop(0)} takes it for the weights")
        elif found is not None:
            weight = others.pop(0)
        if weight:
            column = "the third column" if weight == "3" else f"column {weight}"
            notes.append(f"{table.source}: {column} is taken for the weights of edges")
    if others:
        names = ", ".join(name or "one without a name" for name in others)
        notes.append(f"{table.source}: columns that are not used: {names}")
    others = [name for name in others if name.lower() not in COUNTERS]
    is_open = has_weights and table.has_names and not weight
    if is_open and (named := _first_numbers(table, others, reading)):
        notes.append(f"{table.source}: data.weight={named} would take {named!r} for the weights")
    return weight


def _are_times(values: Array) -> bool:
    """Tell whether numbers are seconds or thousandths since 1970, of 1980 to 2100."""
    is_time = [(unit * 315e6 < values) & (values < unit * 4_102e6) for unit in (1, 1000)]
    return bool((values % 1 == 0).all() and (is_time[0].all() or is_time[1].all()))


def _first_numbers(table: Table, names: list[str], reading: Data) -> str | None:
    return next((name for name in names if _amounts(table, name, reading) is not None), None)


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
    problem = "weights that are not finite numbers of at least 0"
    comma = advise_comma(table.content.column(name), rows)
    fix = f"fix them{comma}, or let all edges weigh the same with data.weights=none"
    refuse_rows(table, rows, problem, name, fix)
    if found is not None and found.mark:
        notes.append(f"{table.source}: weights read without what stands at them: {found.mark}")
    if found is not None and found.form:
        notes.append(f"{table.source}: {FORMS[found.form]}: {name}")
    return weight
