"""Node rows from a table: ids, features, and labels, which a table of their own may hold too."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyarrow import compute

from dgb.data.encoding import Encoding
from dgb.data.ids import find_positions, id_cells
from dgb.data.tables.labels import USUAL, LabelRows, find_labels, looks_like_label, names_each
from dgb.data.tables.numbers import hold
from dgb.data.tables.table import Cells, Table, find_column, is_text, keep_where, refuse_rows
from dgb.errors import DGBError
from dgb.recipe import Data

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
        """Ids, int64 or text, each once; looked at late, for faults of columns to be told too."""
        return _unique_ids(self.table, self.id_name)


def read_nodes(
    table: Table, reading: Data, encoding: Encoding | None, notes: list[str]
) -> NodeRows:
    """Sort out the columns of a table; those that a run has as features are not guessed."""
    notes += table.tell_title()
    table = blank_cells(table, reading)
    drop = [name.strip() for name in reading.drop.split(",") if name.strip()]
    table = without(table, {find_column(table, name, (), "data.drop") for name in drop})
    id_name = _find_id_column(table, reading, notes)
    run = [column.name for column in encoding.columns] if encoding else []
    labels = find_labels(without(table, {id_name}), np.arange(table.content.num_rows), reading, run)
    taken = {id_name, *labels.names()}
    features = [name for name in table.names if name not in taken]
    kept = [name for name in features if name not in _INDEX]
    if len(kept) < len(features):
        notes.append(f"{table.source}: a column that only counts the rows is not used")
    if not labels.label and not encoding:
        notes += [
            _tell_names(table, n) for n in kept if n.lower() in USUAL and names_each(table, n)
        ]
    taught = [] if labels.label or encoding else [n for n in kept if looks_like_label(table, n)]
    for name in taught:
        notes.append(
            f"{table.source}: column {name!r} looks like labels and is used as a feature; if it is "
            f"what you want to know of nodes, say data.label={name}, or data.drop={name}"
        )
    return NodeRows(table, id_name, labels, kept)


def _tell_names(table: Table, name: str) -> str:
    return (
        f"{table.source}: column {name!r} has another value in every row, and is used as a feature "
        f"and not as labels; say data.drop={name}, or data.label={name}"
    )


def read_label_rows(table: Table, ids: Cells, reading: Data, notes: list[str]) -> LabelRows:
    """Find the columns of a table of labels, and the nodes of its rows."""
    notes += table.tell_title()
    table = blank_cells(table, reading)
    id_name = _find_id_column(table, reading, notes)
    refuse_nameless(table, id_name, reading, ids)
    nodes = find_positions(_unique_ids(table, id_name), ids)
    rows, cells = np.flatnonzero(nodes < 0), table.content.column(id_name)
    words = (f"node {str(cells[int(row)].as_py())!r}" for row in rows)
    problem = "labels for nodes that the graph does not have"
    refuse_rows(table, rows, problem, words, "remove these rows, or add the nodes")
    found = find_labels(without(table, {id_name}), nodes, reading)
    others = [name for name in found.table.names if name not in found.names()]
    if found.label is None and others:
        found = replace(found, label=others[0])
    if not found.names():
        raise DGBError(f"{table.source} has no column next to {id_name!r}; add one of labels")
    return found


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
    firsts = np.unique(find_positions(ids, compute.unique(ids)), return_index=True)[1]
    rows = np.delete(np.arange(len(ids)), firsts)
    words = (f"{name} {ids[int(row)].as_py()!r} again" for row in rows)
    advice = "keep one of each, or name another column of ids with data.id=COLUMN"
    refuse_rows(table, rows, "rows that repeat an id", words, advice)
    return ids


def blank_cells(table: Table, reading: Data) -> Table:
    """Return a table without the texts that the settings say mean nothing."""
    marks = [mark.strip().lower() for mark in reading.empty.split(",") if mark.strip()]
    content = table.content
    for place, name in enumerate(content.column_names if marks else ()):
        cells = content.column(name)
        if is_text(cells):
            is_kept = compute.invert(compute.fill_null(hold(cells, marks), False))
            content = content.set_column(place, name, keep_where(is_kept, cells))
    return replace(table, content=content)


def without_missing(
    reading: Data, names: Collection[str], keys: Collection[str] = ("label", "split")
) -> Data:
    """Return settings that ask only for columns which a table has; `keys` name one column each."""
    present = {name.lower() for name in names}
    asked = {key: getattr(reading, key) for key in keys}
    kept = {key: name if name.lower() in present else "" for key, name in asked.items()}
    dropped = [name for name in reading.drop.split(",") if name.strip().lower() in present]
    return replace(reading, **kept, drop=",".join(dropped))


def without(table: Table, names: Collection[str | None]) -> Table:
    """Return a table without some of its columns."""
    kept = [name for name in table.content.column_names if name not in names]
    return replace(table, content=table.content.select(kept))
