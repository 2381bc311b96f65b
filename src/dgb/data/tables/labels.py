"""Labels and splits from the columns of a table whose rows stand at given nodes."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from dgb.arrays import Array
from dgb.data.graph import Split
from dgb.data.ids import as_integers, find_positions
from dgb.data.tables.columns import describe_cells, find_column, text_cells
from dgb.data.tables.table import Cells, Table, is_text, keep_where
from dgb.errors import DGBError
from dgb.recipe import Data

_USUAL = ("label", "class", "y", "target")
_FEW = 20  # nodes, which may all be of different classes
_PARTS = {"train": 0, "val": 1, "valid": 1, "validation": 1, "test": 2}


@dataclass(frozen=True)
class LabelColumns:
    """The names of the columns of labels and of the split, where there are such."""

    label: str | None = None
    split: str | None = None

    def names(self) -> list[str]:
        """Return the names that there are."""
        return [name for name in (self.label, self.split) if name]


def find_labels(table: Table, reading: Data, features: Collection[str] = ()) -> LabelColumns:
    """Find the columns of labels and split; names that are features of a run are not guessed."""
    # Next to a column x, y is a place on a map and no class.
    is_map = "x" in [name.lower() for name in table.names]
    usual = [name for name in _USUAL if not (is_map and name == "y")]
    label = find_column(table, reading.label, usual, "data.label")
    if label and not reading.label and (label in features or _names_each(table, label)):
        label = None
    split = find_column(table, reading.split, ("split",), "data.split")
    return LabelColumns(label, split if reading.split or split not in features else None)


def read_labels(
    table: Table, name: str, nodes: Array, num_nodes: int, notes: list[str]
) -> tuple[Array | None, tuple[str, ...]]:
    """Return a class for every node, -1 where its cell is empty, and the names of the classes."""
    from pyarrow import compute

    cells = as_integers(_label_text(table, name))
    classes = compute.unique(cells.drop_null())
    classes = classes.take(compute.sort_indices(classes))
    names = tuple(str(value) for value in classes.to_pylist())
    if not names:
        return None, ()
    labels = np.full(num_nodes, -1, np.int64)
    labels[nodes] = find_positions(cells, classes)
    labels[nodes[np.asarray(cells.is_null().to_numpy())]] = -1
    notes.append(f"{table.source}: column {name!r} holds the labels, classes: {len(names):,}")
    if "-1" in names:
        notes.append(f"{table.source}: label -1 is a class; leave the cell of no label empty")
    return labels, names


def read_split(table: Table, name: str, nodes: Array) -> tuple[Split, ...]:
    """Return the split that a column of train, val and test makes, none where all is empty."""
    import pyarrow as pa
    from pyarrow import compute

    cells = text_cells(table, name, "choose another with --set data.split=COLUMN")
    known = pa.array(list(_PARTS), pa.large_string())
    found = find_positions(compute.utf8_lower(compute.utf8_trim_whitespace(cells)), known)
    rows = np.flatnonzero((found < 0) & np.asarray(cells.is_valid().to_numpy()))
    if len(rows):
        raise DGBError(
            f"cells that are not a part of a split, {len(rows):,} in all: "
            f"{describe_cells(table, rows, name)}; "
            f"use {', '.join(_PARTS)}, or leave the cell empty"
        )
    part = np.append(list(_PARTS.values()), -1)[found]
    if (part < 0).all():
        return ()
    return (Split(*(np.sort(nodes[part == number]) for number in range(3))),)


def _names_each(table: Table, name: str) -> bool:
    # Gephi calls the display name of a node its label.
    from pyarrow import compute

    cells = table.content.column(name)
    filled = len(cells) - cells.null_count
    return is_text(cells) and filled > _FEW and compute.count_distinct(cells).as_py() == filled


def _label_text(table: Table, name: str) -> Cells:
    from pyarrow import compute, types

    text = text_cells(table, name, "choose another with --label COLUMN")
    if types.is_floating(table.content.column(name).type):
        text = keep_where(compute.not_equal(text, "nan"), text)
    # pandas writes integers with a gap among them as 1.0, 2.0.
    return compute.replace_substring_regex(text, r"^(-?\d+)\.0*$", r"\1")
