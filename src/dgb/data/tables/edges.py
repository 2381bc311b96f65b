"""Edges from a table: the two ends, weights, and ends that are not nodes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dgb.arrays import Array
from dgb.data.ids import as_integers, find_positions, id_cells
from dgb.data.tables.columns import describe_cells, describe_rows, find_column
from dgb.data.tables.edge_names import (
    Ends,
    end_columns,
    find_ends,
    first_row,
    is_alone,
    starts_with_names,
)
from dgb.data.tables.numbers import number_cells
from dgb.data.tables.table import Cells, Table, is_text
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
    """Read ends and weights; the ids of nodes, where known, part a row of names from an edge."""
    if table.content.num_columns < 2:
        raise DGBError(f"{table.source} has one column; edges need two, a source and a target")
    if not table.has_names and starts_with_names(table, known):
        names = first_row(table)
        if find_ends(names, known.types) is None:
            notes.append(f"{table.place(0)}: taken for names of columns: {', '.join(names)}")
        table = table.with_names()
    elif not table.has_names and not known.has_nodes() and is_alone(table):
        first = " and ".join(first_row(table)[:2])
        notes.append(
            f"{table.place(0)}: {first} was read as an edge, and occurs nowhere else; if it names "
            "the columns, call them source and target"
        )
    ends = end_columns(table, known.types, notes)
    weight = _weight_column(table, ends, reading)
    _note_columns(table, ends, weight, notes)
    source, target = (id_cells(table, end) for end in ends)
    return Edges(table, source, target, _weights(table, weight))


def ids_of_ends(ends: Sequence[Cells], *, is_text_file: bool) -> Cells:
    """Return the ids that occur at ends: integers sorted, text in the order of appearance."""
    import pyarrow as pa
    from pyarrow import compute

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
    found = zip((edges.source, edges.target), ids, strict=True)
    ends = np.stack([find_positions(end, known) for end, known in found])
    loops = int(((ends[0] == ends[1]) & (ends[0] >= 0)).sum())
    if loops and ids[0] is ids[1]:
        notes.append(f"{edges.table.source}: edges from a node to itself, left out: {loops:,}")
    is_known = (ends >= 0).all(axis=0)
    rows = np.flatnonzero(~is_known)
    if not len(rows):
        return ends, edges.weight
    if reading.unknown == "refuse":
        both = (edges.source, edges.target)
        unknown = [both[int(ends[0, row] >= 0)][int(row)].as_py() for row in rows[:5]]
        words = [f"node {str(end)!r}" for end in unknown]
        raise DGBError(
            f"edges to nodes without a row, {len(rows):,} in all: "
            f"{describe_rows(edges.table, rows, words)}; add rows for these nodes, or leave such "
            "edges out with --set data.unknown=drop"
        )
    notes.append(f"{edges.table.source}: edges to nodes without a row, left out: {len(rows):,}")
    return ends[:, is_known], edges.weight[is_known]


def _weight_column(table: Table, ends: tuple[str, ...], reading: Data) -> str | None:
    name = find_column(table, reading.weight, ("weight",), "data.weight")
    if name or table.has_names or table.content.num_columns < 3:
        return name
    third = next(other for other in table.names if other not in ends)
    return third if number_cells(table.content.column(third)) is not None else None


def _note_columns(
    table: Table, ends: tuple[str, ...], weight: str | None, notes: list[str]
) -> None:
    others = [name for name in table.names if name not in (*ends, weight)]
    if weight and not table.has_names:
        notes.append(f"{table.source}: the third column is taken for the weights of edges")
    if others:
        notes.append(f"{table.source}: columns that are not used: {', '.join(others)}")


def _weights(table: Table, name: str | None) -> Array:
    if name is None:
        return np.ones(table.content.num_rows, np.float32)
    values = number_cells(table.content.column(name))
    values = np.full(table.content.num_rows, np.nan) if values is None else values
    with np.errstate(over="ignore"):
        weight = values.astype(np.float32)
    rows = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(rows):
        raise DGBError(
            f"weights that are not finite numbers of at least 0, {len(rows):,} in all: "
            f"{describe_cells(table, rows, name)}; fix them"
        )
    return weight
