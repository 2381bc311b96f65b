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
    "in blanks or marks that are not seen": lambda ids: compute.replace_substring_regex(
        ids, r"[\s\x{00ad}\x{200b}-\x{200f}\x{2060}\x{feff}]+", ""
    ),
    "in how their letters are stored": lambda ids: compute.utf8_normalize(ids, "NFKC"),
    "in commas": lambda ids: compute.replace_substring(ids, ",", ""),
}
_SHORTENED = r"^\d([.,]\d+)?[eE]\+?\d+$"
_ADVICE = "add rows for these nodes, let data.unknown=add do so, or leave such edges out with "


def tell_unknown(table: Table, ends: Pair, ids: Pair, positions: Array, reading: Data) -> str:
    """Return a note on edges that are left out; they are refused where data.unknown is not drop.

    `positions` are those of the ends among the ids, -1 where they are unknown.
    """
    groups: list[tuple[Sequence[Cells], Cells]] = [((ends[i],), ids[i]) for i in range(2)]
    groups = [(ends, ids[0])] if ids[0] is ids[1] else groups
    reasons = ["; ".join(filter(None, starmap(find, groups))) for find in _REASONS]
    rows, problem = np.flatnonzero((positions < 0).any(axis=0)), "edges to nodes without a row"
    if reading.unknown == "drop":
        told = "".join(f"; {reason}" for reason in reasons if reason)
        return f"{table.source}: {problem}, left out: {len(rows):,}{told}"
    unknown = (ends[int(positions[0, row] >= 0)][int(row)].as_py() for row in rows)
    words = (f"node {str(end)!r}" for end in unknown)
    advice = _advise(reasons, reading)
    if (
        not any(reasons)
        and not reading.ends
        and len(table.names) > 2
        and len(rows) == positions.shape[1]
    ):
        advice += "; name the columns of the ends with data.ends=A,B if they are others"
    found = describe_rows(table, rows, words)
    raise DGBError(f"{problem}, {len(rows):,} in all: {found}; {advice}")


def _advise(reasons: Sequence[str], reading: Data) -> str:
    shift, spelling, shortened = reasons
    if shift:
        return f"{shift}; number both alike"
    alike = "spell them alike"
    if reading.unknown != "match":
        alike += ", or take them for the same with data.unknown=match; of others, "
    else:
        alike += ", since several rows are so; of others, "
    advice = (f"{shortened}; " if shortened else "") + (f"{spelling}; {alike}" if spelling else "")
    return f"{advice}{_ADVICE}data.unknown=drop"


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


def find_shortened(ends: Sequence[Cells], ids: Cells) -> str:
    """Say that ids are written as spreadsheets write large numbers, "" where none is."""
    used, known = (
        values.cast(pa.large_string()) for values in (ids_of_ends(ends, is_text_file=False), ids)
    )
    short = used.filter(compute.match_substring_regex(used, _SHORTENED))
    short = short.filter(pa.array(find_positions(short, known) < 0))
    if not len(short):
        return ""
    return (
        f"{len(short):,} unknown ids look shortened by a spreadsheet, as {short[0].as_py()!r} "
        "does, which loses digits: export them as text"
    )


def match_ends(table: Table, ends: Pair, ids: Pair, notes: list[str]) -> Pair:
    """Return the ends with the ids of rows that they differ from in spelling alone."""
    counts = dict.fromkeys(_SPELT, 0)
    one, other = (_match(end, known, counts) for end, known in zip(ends, ids, strict=True))
    told = [f"{how}: {count:,}" for how, count in counts.items() if count]
    if told:
        problem = "ends of edges that differ from ids of rows were taken for these"
        notes.append(f"{table.source}: {problem}, {'; '.join(told)}")
    return one, other


def _match(end: Cells, ids: Cells, counts: dict[str, int]) -> Cells:
    cells, known = (values.cast(pa.large_string()) for values in (end, compute.unique(ids)))
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


_REASONS = (find_shift, find_spelling, find_shortened)


def add_rows(rows: NodeRows, ends: Sequence[Cells], notes: list[str]) -> NodeRows:
    """Return the rows with a row of missing values for every node that only edges name."""
    used = ids_of_ends(ends, is_text_file=False)
    new = used.filter(pa.array(find_positions(used, rows.ids) < 0))
    if not len(new):
        return rows
    source, content = rows.table.source, rows.table.content
    notes.append(f"{source}: rows of missing values added for nodes that edges name: {len(new):,}")
    notes += [note for note in (find(ends, rows.ids) for find in _REASONS) if note]
    kind = new.type if new.type == rows.ids.type else pa.large_string()
    place = content.column_names.index(rows.id_name)
    content = content.set_column(place, rows.id_name, rows.ids.cast(kind))
    more = pa.table({rows.id_name: new.cast(kind)})
    content = pa.concat_tables([content, more], promote_options="default")
    table = replace(rows.table, content=content)
    nodes = np.arange(content.num_rows)
    labels = replace(rows.labels, table=without(table, {rows.id_name}), nodes=nodes)
    return replace(rows, table=table, labels=labels)
