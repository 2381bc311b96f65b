"""Node ids: integers or text, matched without a loop, and nodes found by them."""

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from dgb.arrays import Array
from dgb.data.tables.table import Cells, Table, is_text, refuse_rows, text_cells
from dgb.errors import DGBError
from dgb.terminal import some

_WHOLE = r"^(0|-?[1-9]\d{0,18})$"  # written as Python writes it, so that "007" stays text
SEARCHED = 20_000  # ids that are looked through for one like an unknown id


def id_cells(table: Table, name: str, advice: str = "") -> Cells:
    """Return a column of ids as int64 or as text, refusing empty cells and broken numbers.

    `advice` is what else can be done about empty ones.
    """
    cells = table.content.column(name)
    is_float = types.is_floating(cells.type)  # what pandas makes of integers with a gap
    rows = np.flatnonzero(compute.is_null(cells, nan_is_null=is_float).to_numpy())
    fix = f"fill them in, or remove these rows{advice}"
    refuse_rows(table, rows, "rows without an id", name, fix)
    if is_text(cells):
        return cells
    if is_float and not compute.all(compute.equal(compute.floor(cells), cells)).as_py():
        raise DGBError(
            f"{table.source}: column {name!r} holds fractions, not ids; "
            "choose another with data.id=COLUMN"
        )
    try:
        return cells.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return text_cells(table, name, "give ids that are integers or text")


def find_positions(cells: Cells, ids: Cells) -> Array:
    """Return the position of every cell among the ids, -1 where it is none of them."""
    if cells.type != ids.type:
        cells, ids = cells.cast(pa.large_string()), ids.cast(pa.large_string())
    ids = ids.combine_chunks() if hasattr(ids, "combine_chunks") else ids
    found = compute.index_in(cells, value_set=ids)
    return np.asarray(compute.fill_null(found, -1).to_numpy(), dtype=np.int64)


def find_repeats(cells: Cells) -> tuple[Array, Array]:
    """Return the rows whose cell stands in an earlier one, and the first that has it."""
    places = find_positions(cells, compute.unique(cells))
    firsts = np.unique(places, return_index=True)[1]
    rows = np.delete(np.arange(len(cells)), firsts)
    return rows, firsts[places[rows]]


def as_integers(ids: Cells) -> Cells:
    """Turn ids of a text file into integers where that changes none of them, else leave them."""
    if not is_text(ids) or not compute.all(compute.match_substring_regex(ids, _WHOLE)).as_py():
        return ids
    try:
        return ids.cast(pa.int64())
    except pa.ArrowInvalid:  # beyond 64 bits
        return ids


def ids_of_ends(ends: Sequence[Cells], *, is_text_file: bool = False) -> Cells:
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


def id_array(ids: Cells, *, is_text_file: bool = False) -> Array:
    """Return ids as a numpy array, int64 or Python's text; a text file's as integers if all are."""
    ids = as_integers(ids) if is_text_file else ids
    return np.asarray(ids.to_numpy()) if not is_text(ids) else np.array(ids.to_pylist(), object)


def arrow_ids(node_ids: Array) -> Any:
    """Return ids as an Arrow array, as text where Arrow has no type for them."""
    # Numbers as they are: Python's own are taken for signed ones, and a hash may be larger.
    cells = node_ids if node_ids.dtype.kind in "iu" else node_ids.tolist()
    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OverflowError):
        return pa.array([str(node) for node in node_ids.tolist()])


def find_nodes(node_ids: Array, wanted: Array) -> Array:
    """Return the positions of the wanted ids among a graph's ids; an unknown id is refused.

    Ids of different types are compared as text.
    """
    found = find_positions(_cells(wanted), _cells(node_ids))
    if (found >= 0).all():
        return found
    unknown = wanted[found < 0].tolist()
    text, names = str(unknown[0]), some([repr(node) for node in unknown])
    known = [str(node) for node in node_ids[:: max(len(node_ids) // SEARCHED, 1)].tolist()]
    near = difflib.get_close_matches(text, known, n=3) or [t for t in known if text in t][:3]
    hint = f"ids like it: {', '.join(near)}" if near else f"ids look like {', '.join(known[:3])}"
    raise DGBError(f"there is no node {names}; {hint}")


def find_common(node_ids: Array, others: Array) -> tuple[Array, Array]:
    """Return where nodes that are among both stand, in the order of the first."""
    found = find_positions(_cells(node_ids), _cells(others))
    rows = np.flatnonzero(found >= 0)
    return rows, found[rows]


def _cells(ids: Array) -> Any:
    is_whole = ids.dtype.kind == "f" and bool((ids == np.floor(ids)).all())
    # Whole numbers with a point are what frames make of integers.
    return pa.chunked_array([arrow_ids(ids.astype(np.int64) if is_whole else ids)])
