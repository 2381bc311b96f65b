"""Edges between nodes by their rows: what becomes of ends without a row, and why there are such."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import starmap

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from dgb.arrays import Array
from dgb.data.ids import as_integers, find_positions, ids_of_ends
from dgb.data.spelling import explain_spelling, match_spelling
from dgb.data.tables.edges import Edges
from dgb.data.tables.nodes import NodeRows
from dgb.data.tables.rows import without
from dgb.data.tables.table import Cells, Table, is_text, refuse_rows
from dgb.recipe import Data

Pair = tuple[Cells, Cells]

_SHORTENED = r"^\d([.,]\d+)?[eE]\+?\d+$"
_ADVICE = "add rows for these nodes, let data.unknown=add do so, or leave such edges out with "


def edges_between(
    edges: Edges, ids: tuple[Cells, Cells], reading: Data, notes: list[str]
) -> tuple[Array, Array]:
    """Return positions [2, edges] and weights; edges to other nodes are refused or left out.

    `ids` are those of the nodes at the two ends, the same object where both are of one type.
    """
    both: Sequence[Cells] = (edges.source, edges.target)
    if reading.unknown == "match":
        what = f"{edges.table.source}: ends of edges that differ from ids of rows"
        both = match_spelling(both, ids, what, notes)
    ends = np.stack([find_positions(end, known) for end, known in zip(both, ids, strict=True)])
    loops = int(((ends[0] == ends[1]) & (ends[0] >= 0)).sum())
    if loops and ids[0] is ids[1]:
        notes.append(f"{edges.table.source}: edges from a node to itself, left out: {loops:,}")
    is_known = (ends >= 0).all(axis=0)
    if is_known.all():
        return ends, edges.weight
    notes.append(_tell_unknown(edges.table, both, ids, ends, reading))
    return ends[:, is_known], edges.weight[is_known]


def _tell_unknown(
    table: Table, ends: Sequence[Cells], ids: Pair, positions: Array, reading: Data
) -> str:
    """Return a note on edges that are left out; they are refused where data.unknown is not drop.

    `positions` are those of the ends among the ids, -1 where they are unknown.
    """
    is_one = ids[0] is ids[1]
    groups = [(ends, ids[0])] if is_one else [((ends[i],), ids[i]) for i in range(2)]
    groups = [(ids_of_ends(of_type), known) for of_type, known in groups]
    reasons = ["; ".join(filter(None, starmap(find, groups))) for find in _REASONS]
    rows, problem = np.flatnonzero((positions < 0).any(axis=0)), "edges to nodes without a row"
    if reading.unknown != "drop":
        unknown = (ends[int(positions[0, row] >= 0)][int(row)].as_py() for row in rows)
        advice = _advise(reasons, reading)
        are_all = len(rows) == positions.shape[1] and not any(reasons)
        if are_all and len(table.names) > 2 and not reading.ends:
            advice += "; name the columns of the ends with data.ends=A,B if they are others"
        refuse_rows(table, rows, problem, (f"node {str(end)!r}" for end in unknown), advice)
    why = "".join(f"; {reason}" for reason in reasons if reason)
    return f"{table.source}: {problem}, left out: {len(rows):,}{why}"


def _advise(reasons: Sequence[str], reading: Data) -> str:
    shift, spelling, shortened = reasons
    if shift:
        return f"{shift}; number both alike"
    match = "or take them for the same with data.unknown=match"
    match = "since several rows are so" if reading.unknown == "match" else match
    alike = f"{spelling}; spell them alike, {match}; of others, " if spelling else ""
    return f"{shortened}{'; ' if shortened else ''}{alike}{_ADVICE}data.unknown=drop"


def _find_shift(used: Cells, ids: Cells) -> str:
    """Say that edges count from another number than rows do, "" where they do not seem to.

    One id of the edges is unknown, next to the ids of the rows, and the one at their other end
    has no edge.
    """
    used, known = (as_integers(cells) for cells in (used, compute.unique(ids)))
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


def _find_shortened(used: Cells, ids: Cells) -> str:
    """Say that ids are written as spreadsheets write large numbers, "" where none is."""
    used, known = (values.cast(pa.large_string()) for values in (used, ids))
    short = used.filter(compute.match_substring_regex(used, _SHORTENED))
    short = short.filter(pa.array(find_positions(short, known) < 0))
    if not len(short):
        return ""
    return (
        f"{len(short):,} unknown ids look shortened by a spreadsheet, as {short[0].as_py()!r} "
        "does, which loses digits: export them as text"
    )


_REASONS = (_find_shift, explain_spelling, _find_shortened)


def add_rows(rows: NodeRows, ends: Sequence[Cells], notes: list[str]) -> NodeRows:
    """Return the rows with a row of missing values for every node that only edges name."""
    used = ids_of_ends(ends)
    new = used.filter(pa.array(find_positions(used, rows.ids) < 0))
    if not len(new):
        return rows
    source, content = rows.table.source, rows.table.content
    notes.append(f"{source}: rows of missing values added for nodes that edges name: {len(new):,}")
    reasons = [*(find(used, rows.ids) for find in _REASONS), find_other_ids(rows, used)]
    notes += filter(None, reasons)
    kind = new.type if new.type == rows.ids.type else pa.large_string()
    place = content.column_names.index(rows.id_name)
    content = content.set_column(place, rows.id_name, rows.ids.cast(kind))
    more = pa.table({rows.id_name: new.cast(kind)})
    content = pa.concat_tables([content, more], promote_options="default")
    table = replace(rows.table, content=content)
    nodes = np.arange(content.num_rows)
    labels = replace(rows.labels, table=without(table, {rows.id_name}), nodes=nodes)
    return replace(rows, table=table, labels=labels)


def find_other_ids(rows: NodeRows, used: Cells) -> str:
    """Say which other column of the rows holds most of what edges name, "" where none does."""
    table = rows.table
    if 2 * np.count_nonzero(find_positions(used, rows.ids) >= 0) > len(used):
        return ""
    for name in table.names:
        cells = table.content.column(name)
        if name == rows.id_name or not (is_text(cells) or types.is_integer(cells.type)):
            continue
        if 2 * np.count_nonzero(find_positions(used, compute.unique(cells)) >= 0) > len(used):
            return (
                f"{table.source}: column {name!r} holds what edges name, where {rows.id_name!r} "
                f"was taken for the ids; say data.id={name}"
            )
    return ""
