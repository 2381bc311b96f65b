"""Edges from a table: the two ends, weights, and ends that are not nodes."""

from dataclasses import dataclass

import numpy as np

from dgb.arrays import Array
from dgb.data.ids import find_positions, id_cells
from dgb.data.tables.edge_names import Ends, end_columns, settle_names
from dgb.data.tables.numbers import Numbers, read_amounts
from dgb.data.tables.table import Cells, Table, find_column, refuse_rows
from dgb.data.tables.unknown import tell_unknown
from dgb.data.tables.written import FORMS
from dgb.errors import DGBError, Faults
from dgb.recipe import Data


@dataclass(frozen=True, eq=False)
class Edges:
    """The table with its names settled, the ids at the two ends, and a weight for each edge."""

    table: Table
    source: Cells
    target: Cells
    weight: Array


def read_edges(table: Table, known: Ends, reading: Data, notes: list[str]) -> Edges:
    """Read ends and weights of edges, with notes on what was guessed or not used."""
    if table.content.num_columns < 2:
        raise DGBError(f"{table.source} has one column; edges need two, a source and a target")
    table = settle_names(table, known, notes)
    ends = end_columns(table, known.types, notes)
    weight = find_column(table, reading.weight, ("weight",), "data.weight")
    if weight is None and not table.has_names and table.content.num_columns > 2:
        third = next(name for name in table.names if name not in ends)
        weight = third if _amounts(table, third, reading) is not None else None
    if weight and not table.has_names:
        notes.append(f"{table.source}: the third column is taken for the weights of edges")
    others = [name for name in table.names if name not in (*ends, weight)]
    if others:
        notes.append(f"{table.source}: columns that are not used: {', '.join(others)}")
    if not weight and table.has_names and (named := _first_numbers(table, others, reading)):
        notes.append(f"{table.source}: data.weight={named} would take {named!r} for the weights")
    faults = Faults()
    with faults:
        source = id_cells(table, ends[0])
    with faults:
        target = id_cells(table, ends[1])
    with faults:
        weights = _weights(table, weight, reading, notes)
    faults.refuse()
    return Edges(table, source, target, weights)


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
    fix = "fix them, or say by data.decimal=comma or point what a comma means"
    has_comma = len(rows) and "," in str(table.content.column(name)[int(rows[0])])
    problem = "weights that are not finite numbers of at least 0"
    refuse_rows(table, rows, problem, name, fix if has_comma else "fix them")
    if found is not None and found.form:
        notes.append(f"{table.source}: {FORMS[found.form]}: {name}")
    return weight


def edges_between(
    edges: Edges, ids: tuple[Cells, Cells], reading: Data, notes: list[str]
) -> tuple[Array, Array]:
    """Return positions [2, edges] and weights; edges to other nodes are refused or left out.

    `ids` are those of the nodes at the two ends, the same object where both are of one type.
    """
    both = (edges.source, edges.target)
    ends = np.stack([find_positions(end, known) for end, known in zip(both, ids, strict=True)])
    loops = int(((ends[0] == ends[1]) & (ends[0] >= 0)).sum())
    if loops and ids[0] is ids[1]:
        notes.append(f"{edges.table.source}: edges from a node to itself, left out: {loops:,}")
    is_known = (ends >= 0).all(axis=0)
    if is_known.all():
        return ends, edges.weight
    notes.append(tell_unknown(edges.table, both, ids, ends, reading))
    return ends[:, is_known], edges.weight[is_known]
