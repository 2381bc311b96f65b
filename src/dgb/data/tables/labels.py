"""Labels from a table of their own, or from the rows of nodes, but never from both."""

from dataclasses import dataclass, replace

import numpy as np

from dgb.data.graph import Array, Split
from dgb.data.tables.columns import tell
from dgb.data.tables.ids import find_positions
from dgb.data.tables.node_labels import LabelColumns, find_labels, read_labels, read_split
from dgb.data.tables.nodes import NodeRows, id_column, refuse_nameless, unique_ids, without
from dgb.data.tables.table import Cells, Table
from dgb.errors import DGBError
from dgb.recipe import Data

Labelling = tuple[Array | None, tuple[str, ...], tuple[Split, ...]]


@dataclass(frozen=True, eq=False)
class LabelRows:
    """A table with columns of labels or split, and the node of each of its rows."""

    table: Table
    columns: LabelColumns
    nodes: Array


def read_label_rows(table: Table, ids: Cells, reading: Data, notes: list[str]) -> LabelRows:
    """Find the columns of a table of labels, and the nodes of its rows."""
    id_name = id_column(table, reading, notes)
    refuse_nameless(table, id_name, reading, ids)
    nodes = find_positions(unique_ids(table, id_name), ids)
    rows = np.flatnonzero(nodes < 0)
    if len(rows):
        cells = table.content.column(id_name)
        words = [f"node {str(cells[int(row)].as_py())!r}" for row in rows[:5]]
        raise DGBError(
            f"labels for nodes that the graph does not have, {len(rows):,} in all: "
            f"{tell(table, rows, words)}; remove these rows, or add the nodes"
        )
    table = without(table, [id_name])
    columns = find_labels(table, reading)
    others = [name for name in table.names if name not in columns.names()]
    if columns.label is None and others:
        columns = replace(columns, label=others[0])
    if not columns.names():
        raise DGBError(f"{table.source} has no column beside {id_name!r}; add one of labels")
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
