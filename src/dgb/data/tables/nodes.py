"""Node rows from a table: ids, features, and labels, which a table of their own may hold too."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from dgb.arrays import Array
from dgb.data.graph import Split
from dgb.data.ids import find_positions, id_cells, repeated_rows
from dgb.data.tables.columns import describe_rows, find_column, find_columns
from dgb.data.tables.labels import LabelColumns, find_labels, read_labels, read_split
from dgb.data.tables.table import Cells, Table
from dgb.errors import DGBError
from dgb.recipe import Data

ID_NAMES = ("id", "node_id", "node")
_INDEX = ("", "Unnamed: 0")  # what pandas calls the numbers of rows that it has written


@dataclass(frozen=True, eq=False)
class NodeRows:
    """A table without its dropped columns, with what its other columns are."""

    table: Table
    id_name: str
    ids: Cells  # int64 or text, each once
    labels: LabelColumns
    features: list[str]


def read_nodes(
    table: Table, reading: Data, notes: list[str], run: Collection[str] = ()
) -> NodeRows:
    """Read ids and sort out the columns; `run` holds the names of features that a run has seen."""
    dropped = find_columns(table, reading.drop, "data.drop")
    table = without(table, dropped)
    id_name = find_id_column(table, reading, notes)
    ids = unique_ids(table, id_name)
    labels = find_labels(without(table, [id_name]), reading, run)
    taken = {id_name, *labels.names()}
    features = [name for name in table.names if name not in taken]
    kept = [name for name in features if name not in _INDEX]
    if len(kept) < len(features):
        notes.append(f"{table.source}: a column that only counts the rows is not used")
    return NodeRows(table, id_name, ids, labels, kept)


def find_id_column(table: Table, reading: Data, notes: list[str]) -> str:
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
    import pyarrow as pa
    from pyarrow import compute

    return bool(compute.any(compute.equal(ids.cast(pa.large_string()), name)).as_py())


def unique_ids(table: Table, name: str) -> Cells:
    """Return the ids of a table, refusing one that stands in two rows."""
    ids = id_cells(table, name)
    rows = repeated_rows(ids)
    if len(rows):
        words = [f"{name} {ids[int(row)].as_py()!r} again" for row in rows[:5]]
        raise DGBError(
            f"rows that repeat an id, {len(rows):,} in all: {describe_rows(table, rows, words)}; "
            "keep one of each, or name another column of ids with --id COLUMN"
        )
    return ids


def without_missing(
    reading: Data, names: Collection[str], keys: Collection[str] = ("label", "split")
) -> Data:
    """Return settings that ask only for columns which a table has; `keys` name one column each."""
    present = {name.lower() for name in names}
    asked = {key: getattr(reading, key) for key in keys}
    kept = {key: name if name.lower() in present else "" for key, name in asked.items()}
    dropped = [name for name in reading.drop.split(",") if name.strip().lower() in present]
    return replace(reading, **kept, drop=",".join(dropped))


def without(table: Table, names: Collection[str]) -> Table:
    """Return a table without some of its columns."""
    kept = [name for name in table.content.column_names if name not in names]
    return replace(table, content=table.content.select(kept))


Labelling = tuple[Array | None, tuple[str, ...], tuple[Split, ...]]


@dataclass(frozen=True, eq=False)
class LabelRows:
    """A table with columns of labels or split, and the node of each of its rows."""

    table: Table
    columns: LabelColumns
    nodes: Array


def read_label_rows(table: Table, ids: Cells, reading: Data, notes: list[str]) -> LabelRows:
    """Find the columns of a table of labels, and the nodes of its rows."""
    id_name = find_id_column(table, reading, notes)
    refuse_nameless(table, id_name, reading, ids)
    nodes = find_positions(unique_ids(table, id_name), ids)
    rows = np.flatnonzero(nodes < 0)
    if len(rows):
        cells = table.content.column(id_name)
        words = [f"node {str(cells[int(row)].as_py())!r}" for row in rows[:5]]
        raise DGBError(
            f"labels for nodes that the graph does not have, {len(rows):,} in all: "
            f"{describe_rows(table, rows, words)}; remove these rows, or add the nodes"
        )
    table = without(table, [id_name])
    columns = find_labels(table, reading)
    others = [name for name in table.names if name not in columns.names()]
    if columns.label is None and others:
        columns = replace(columns, label=others[0])
    if not columns.names():
        raise DGBError(f"{table.source} has no column next to {id_name!r}; add one of labels")
    return LabelRows(table, columns, nodes)


def join_labels(
    rows: NodeRows | None, label_rows: LabelRows | None, num_nodes: int, notes: list[str]
) -> Labelling:
    """Return labels, their names and splits, refusing what two tables say at once."""
    sources = [label_rows] if label_rows else []
    if rows is not None:
        sources.append(LabelRows(rows.table, rows.labels, np.arange(num_nodes)))
    _refuse_two(sources)
    labels: Array | None = None
    names: tuple[str, ...] = ()
    splits: tuple[Split, ...] = ()
    for source in sources:
        table, columns, nodes = source.table, source.columns, source.nodes
        if columns.label:
            labels, names = read_labels(table, columns.label, nodes, num_nodes, notes)
        if columns.split:
            splits = read_split(table, columns.split, nodes)
    return labels, names, splits


def _refuse_two(sources: list[LabelRows]) -> None:
    for kind in ("label", "split"):
        having = [source for source in sources if getattr(source.columns, kind)]
        if len(having) == 2:
            name = getattr(having[1].columns, kind)
            raise DGBError(
                f"{having[0].table.source} and column {name!r} of {having[1].table.source} both "
                f"give the {kind} of nodes; leave one out with --drop {name}"
            )
