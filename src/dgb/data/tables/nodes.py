"""Node rows from a table: ids, features, and labels, which a table of their own may hold too."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyarrow import compute

from dgb.arrays import Array
from dgb.data.encoding import Encoding
from dgb.data.ids import find_positions, find_repeats, id_cells
from dgb.data.spelling import explain_spelling, match_spelling
from dgb.data.tables.labels import USUAL, LabelRows, find_labels, looks_like_label, names_each
from dgb.data.tables.rows import blank_cells, keep_rows, without, without_copies
from dgb.data.tables.suspects import note_drawing, note_total
from dgb.data.tables.table import Cells, Table, find_column, refuse_rows
from dgb.errors import DGBError
from dgb.recipe import Data
from dgb.settings import listed_names

ID_NAMES = ("id", "node_id", "node")
_INDEX = ("", "Unnamed: 0")  # what pandas calls the numbers of rows that it has written


@dataclass(frozen=True, eq=False)
class NodeRows:
    """A table without its dropped columns, with what its other columns are."""

    table: Table
    id_name: str
    labels: LabelRows
    features: list[str]

    @cached_property
    def ids(self) -> Cells:
        """Ids, int64 or text, each once; looked at late, for faults of columns to be named too."""
        return _unique_ids(self.table, self.id_name)


def read_nodes(
    table: Table, reading: Data, encoding: Encoding | None, notes: list[str]
) -> NodeRows:
    """Sort out the columns of a table; those that a run has as features are not guessed."""
    notes += table.tell_skipped()
    id_name = _find_id_column(table, reading, [])
    table = without_copies(blank_cells(table, reading, [id_name]), id_name, notes)
    drop = listed_names(reading.drop)
    table = without(table, {find_column(table, name, (), "data.drop") for name in drop})
    id_name = _find_id_column(table, reading, notes)
    run = [column.name for column in encoding.columns] if encoding else []
    labels = find_labels(without(table, {id_name}), np.arange(table.content.num_rows), reading, run)
    taken = {id_name, *labels.names()}
    features = [name for name in table.names if name not in taken]
    kept = [name for name in features if name not in _INDEX]
    if len(kept) < len(features):
        notes.append(f"{table.source}: a column that only counts the rows is not used")
    others = [] if labels.label or encoding else kept
    for name in others:
        if name.lower() in USUAL and names_each(table, name):
            notes.append(
                f"{table.source}: column {name!r} has another value in every row, and is used as a "
                f"feature and not as labels; say data.drop={name}, or data.label={name}"
            )
    if not encoding:
        notes += note_drawing(table, kept) + note_total(table, id_name)
    for name in [name for name in others if looks_like_label(table, name)]:
        notes.append(
            f"{table.source}: column {name!r} looks like labels and is used as a feature; if it is "
            f"what you want to know of nodes, say data.label={name}, or data.drop={name}"
        )
    return NodeRows(table, id_name, labels, kept)


def read_label_rows(table: Table, ids: Cells, reading: Data, notes: list[str]) -> LabelRows:
    """Find the columns of a table of labels, and the nodes of its rows."""
    notes += table.tell_skipped()
    id_name = _find_id_column(table, reading, notes)
    table = without_copies(blank_cells(table, reading, [id_name]), id_name, notes)
    refuse_nameless(table, id_name, reading, ids)
    table, nodes = _find_labelled(table, id_name, ids, reading, notes)
    found = find_labels(without(table, {id_name}), nodes, reading)
    others = [name for name in found.table.names if name not in found.names()]
    if found.label is None and others:
        found = replace(found, label=others[0])
    if not found.names():
        raise DGBError(f"{table.source} has no column next to {id_name!r}; add one of labels")
    return found


def _find_labelled(
    table: Table, id_name: str, ids: Cells, reading: Data, notes: list[str]
) -> tuple[Table, Array]:
    """Return the rows of labels with their nodes; those of others are refused or left out."""
    cells = _unique_ids(table, id_name)
    if reading.unknown == "match":
        what = f"{table.source}: ids of labels that differ from ids of nodes"
        (cells,) = match_spelling([cells], [ids], what, notes)
    nodes = find_positions(cells, ids)
    is_known, problem = nodes >= 0, "labels for nodes that the graph does not have"
    if reading.unknown == "drop":
        return keep_rows(table, is_known, problem, notes), nodes[is_known]
    rows = np.flatnonzero(~is_known)
    words = (f"node {str(cells[int(row)].as_py())!r}" for row in rows)
    refuse_rows(table, rows, problem, words, _advise(cells, ids, reading) if len(rows) else "")
    if reading.unknown == "match":  # what was spelt in two ways may be one now
        refuse_repeats(table, id_name, cells)
    return table, nodes


def _advise(cells: Cells, ids: Cells, reading: Data) -> str:
    spelling = explain_spelling(cells, ids)
    match = "; spell them alike, or take them for the same with data.unknown=match"
    alike = f"{spelling}{match if reading.unknown != 'match' else ''}; " if spelling else ""
    return f"{alike}add the nodes, or leave such labels out with data.unknown=drop"


def _find_id_column(table: Table, reading: Data, notes: list[str]) -> str:
    """Find the column of ids; where no name says so it is the first, and a note says so."""
    name = find_column(table, reading.id, ID_NAMES, "data.id")
    if name is None:
        if not table.names:
            raise DGBError(f"{table.source} has no columns; it needs one of ids")
        name = table.names[0]
        notes.append(f"{table.source}: the first column, {name!r}, is taken for the ids")
    return name


def refuse_nameless(table: Table, id_name: str, reading: Data, *others: Cells) -> None:
    """Refuse a text file whose first row is a node: its first cell is an id in other tables."""
    if not table.text or reading.id or id_name.lower() in ID_NAMES:
        return
    is_node = any(_holds(ids, id_name) for ids in others)
    if is_node and not _holds(table.content.column(id_name), id_name):
        place = replace(table, skipped=0).place(0)
        raise DGBError(
            f"{place}: starts with the node {id_name!r}; add a first row that names the columns, "
            "such as id,label"
        )


def _holds(ids: Cells, name: str) -> bool:
    return bool(compute.any(compute.equal(ids.cast(pa.large_string()), name)).as_py())


def _unique_ids(table: Table, name: str) -> Cells:
    """Return the ids of a table, refusing one that stands in two rows."""
    ids = id_cells(table, name)
    refuse_repeats(table, name, ids)
    return ids


def refuse_repeats(table: Table, name: str, ids: Cells) -> None:
    """Refuse ids of rows that stand in two of them."""
    rows, _ = find_repeats(ids)
    words = (f"{name} {ids[int(row)].as_py()!r} again" for row in rows)
    advice = "keep one of each, or name another column of ids with data.id=COLUMN"
    refuse_rows(table, rows, "rows that repeat an id", words, advice)
