"""Edges from a table: the two ends, weights, and ends that are not nodes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import compute

from dgb.arrays import Array
from dgb.data.ids import as_integers, find_positions, id_cells
from dgb.data.tables.edge_names import Ends, end_columns, settle_names
from dgb.data.tables.numbers import number_cells
from dgb.data.tables.table import Cells, Table, find_column, is_text, refuse_rows
from dgb.errors import DGBError
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
        weight = third if number_cells(table.content.column(third)) is not None else None
    if weight and not table.has_names:
        notes.append(f"{table.source}: the third column is taken for the weights of edges")
    others = [name for name in table.names if name not in (*ends, weight)]
    if others:
        notes.append(f"{table.source}: columns that are not used: {', '.join(others)}")
    if not weight and table.has_names and (named := _first_numbers(table, others)):
        notes.append(f"{table.source}: data.weight={named} would take {named!r} for the weights")
    source, target = (id_cells(table, end) for end in ends)
    return Edges(table, source, target, _weights(table, weight))


def _first_numbers(table: Table, names: list[str]) -> str | None:
    columns = ((name, table.content.column(name)) for name in names)
    return next((name for name, cells in columns if number_cells(cells) is not None), None)


def _weights(table: Table, name: str | None) -> Array:
    if name is None:
        return np.ones(table.content.num_rows, np.float32)
    values = number_cells(table.content.column(name))
    values = np.full(table.content.num_rows, np.nan) if values is None else values
    with np.errstate(over="ignore"):
        weight = values.astype(np.float32)
    rows = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    refuse_rows(table, rows, "weights that are not finite numbers of at least 0", name, "fix them")
    return weight


def ids_of_ends(ends: Sequence[Cells], *, is_text_file: bool) -> Cells:
    """Return the ids that occur at ends: integers sorted, text in the order of appearance."""
    if len({end.type for end in ends}) > 1:
        ends = [end.cast(pa.large_string()) for end in ends]
    cells = pa.chunked_array([chunk for end in ends for chunk in end.chunks], ends[0].type)
    ids = compute.unique(cells)
    whole = as_integers(ids) if is_text_file else ids
    if not is_text(whole):
        return whole.take(compute.sort_indices(whole))
    # Row by row: the ends of the first row come before those of the second.
    places = [len(ends) * np.arange(len(end), dtype=np.int64) + i for i, end in enumerate(ends)]
    seen = np.full(len(ids), np.iinfo(np.int64).max)
    np.minimum.at(seen, find_positions(cells, ids), np.concatenate(places))
    return ids.take(pa.array(np.argsort(seen)))


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
    rows = np.flatnonzero(~is_known)
    if not len(rows):
        return ends, edges.weight
    problem = "edges to nodes without a row"
    if reading.unknown == "refuse":
        unknown = (both[int(ends[0, row] >= 0)][int(row)].as_py() for row in rows)
        words = (f"node {str(end)!r}" for end in unknown)
        advice = "add rows for these nodes, or leave such edges out with --set data.unknown=drop"
        refuse_rows(edges.table, rows, problem, words, advice)
    notes.append(f"{edges.table.source}: {problem}, left out: {len(rows):,}")
    return ends[:, is_known], edges.weight[is_known]
