"""Edges that name nodes without a row: why that may be so, and rows that are added for them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import starmap

import numpy as np
import pyarrow as pa
from pyarrow import compute

from dgb.arrays import Array
from dgb.data.ids import as_integers, find_positions, ids_of_ends
from dgb.data.tables.nodes import NodeRows, without
from dgb.data.tables.table import Cells, Table, describe_rows, is_text
from dgb.errors import DGBError
from dgb.recipe import Data

Pair = tuple[Cells, Cells]  # of the sources and of the targets

_SPELT: dict[str, Callable[[Cells], Cells]] = {
    "in case": lambda ids: compute.utf8_lower(ids),
    "in leading zeros": lambda ids: compute.replace_substring_regex(ids, r"^0+(\d)", r"\1"),
    "in a .0 behind them": lambda ids: compute.replace_substring_regex(ids, r"^(\d+)\.0$", r"\1"),
}


def tell_unknown(table: Table, ends: Pair, ids: Pair, positions: Array, reading: Data) -> str:
    """Return a note on edges that are left out; they are refused where data.unknown is not drop.

    `positions` are those of the ends among the ids, -1 where they are unknown.
    """
    groups: list[tuple[Sequence[Cells], Cells]] = [((ends[i],), ids[i]) for i in range(2)]
    groups = [(ends, ids[0])] if ids[0] is ids[1] else groups
    shift, spelling = ("; ".join(filter(None, starmap(find, groups))) for find in _REASONS)
    rows, problem = np.flatnonzero((positions < 0).any(axis=0)), "edges to nodes without a row"
    if reading.unknown == "drop":
        reasons = "".join(f"; {reason}" for reason in (shift, spelling) if reason)
        return f"{table.source}: {problem}, left out: {len(rows):,}{reasons}"
    unknown = (ends[int(positions[0, row] >= 0)][int(row)].as_py() for row in rows)
    words = (f"node {str(end)!r}" for end in unknown)
    advice = f"{spelling}; spell them alike, or " if spelling else ""
    advice += "add rows for these nodes, let data.unknown=add do so, or leave such edges out with "
    advice = f"{shift}; number both alike" if shift else f"{advice}data.unknown=drop"
    found = describe_rows(table, rows, words)
    raise DGBError(f"{problem}, {len(rows):,} in all: {found}; {advice}")


def find_shift(ends: Sequence[Cells], ids: Cells) -> str:
    """Say that edges count from another number than rows do, "" where they do not seem to.

    One id of the edges is unknown, next to the ids of the rows, and the one at their other end
    has no edge.
    """
    used, known = (
        as_integers(cells) for cells in (ids_of_ends(ends, is_text_file=False), compute.unique(ids))
    )
    if is_text(used) or is_text(known) or not len(known):
        return ""
    whole = np.asarray(known.to_numpy())
    low, high = int(whole.min()), int(whole.max())
    unknown = np.setdiff1d(np.asarray(used.to_numpy()), whole).tolist()
    named = {int(end) for end in (low, high) if end in set(used.to_pylist())}
    for first, beyond, idle in ((low + 1, high + 1, low), (low - 1, low - 1, high)):
        if high - low + 1 == len(whole) and unknown == [beyond] and idle not in named:
            return (
                f"edges seem to count nodes from {first} where rows count them from {low}: all ids "
                f"of edges are known but {beyond}, and {idle} has no edge"
            )
    return ""


def find_spelling(ends: Sequence[Cells], ids: Cells) -> str:
    """Say how unknown ids differ from those of rows where only the spelling does, else ""."""
    used, known = (
        cells.cast(pa.large_string())
        for cells in (ids_of_ends(ends, is_text_file=False), compute.unique(ids))
    )
    unknown = used.filter(pa.array(find_positions(used, known) < 0))
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


_REASONS = (find_shift, find_spelling)


def add_rows(rows: NodeRows, ends: Sequence[Cells], notes: list[str]) -> NodeRows:
    """Return the rows with a row of missing values for every node that only edges name."""
    used = ids_of_ends(ends, is_text_file=False)
    new = used.filter(pa.array(find_positions(used, rows.ids) < 0))
    if not len(new):
        return rows
    source, content = rows.table.source, rows.table.content
    notes.append(f"{source}: rows of missing values added for nodes that edges name: {len(new):,}")
    notes += [note for note in (find_shift(ends, rows.ids), find_spelling(ends, rows.ids)) if note]
    kind = new.type if new.type == rows.ids.type else pa.large_string()
    place = content.column_names.index(rows.id_name)
    content = content.set_column(place, rows.id_name, rows.ids.cast(kind))
    more = pa.table({rows.id_name: new.cast(kind)})
    content = pa.concat_tables([content, more], promote_options="default")
    table = replace(rows.table, content=content)
    nodes = np.arange(content.num_rows)
    labels = replace(rows.labels, table=without(table, {rows.id_name}), nodes=nodes)
    return replace(rows, table=table, labels=labels)
