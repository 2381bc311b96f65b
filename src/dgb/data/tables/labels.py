"""Labels and splits from the columns of a table whose rows stand at given nodes."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from dgb.arrays import Array
from dgb.data.graph import Split
from dgb.data.ids import as_integers, find_positions
from dgb.data.tables.numbers import read_amounts
from dgb.data.tables.rows import MAYBE, NOTHING, hold
from dgb.data.tables.table import (
    Cells,
    Table,
    find_column,
    is_text,
    keep_where,
    refuse_rows,
    text_cells,
)
from dgb.data.tables.written import FORMS, count_true
from dgb.errors import DGBError
from dgb.recipe import Data

USUAL = ("label", "class", "y", "target")
_WORDS = {*USUAL, "labels", "classes", "outcome", "churn", "churned", "fraud", "defaulted"}
_WORDS |= {"community", "team"}  # in names of columns that are mostly to be predicted
_FEW = 20  # nodes, which may all be of different classes, and classes that a label has
_PARTS = {"train": 0, "val": 1, "valid": 1, "validation": 1, "test": 2}

Labelling = tuple[Array | None, tuple[str, ...], tuple[Split, ...]]


@dataclass(frozen=True, eq=False)
class LabelRows:
    """A table, the node of each of its rows, and its columns of labels and of the split, if any."""

    table: Table
    nodes: Array
    label: str | None
    split: str | None

    def names(self) -> list[str]:
        """Return the names of the columns that there are."""
        return [name for name in (self.label, self.split) if name]


def find_labels(
    table: Table, nodes: Array, reading: Data, features: Collection[str] = ()
) -> LabelRows:
    """Find the columns of labels and split; names that are features of a run are not guessed."""
    # Next to a column x, y is a place on a map and not a class.
    is_map = "x" in [name.lower() for name in table.names]
    usual = [name for name in USUAL if not (is_map and name == "y")]
    label = find_column(table, reading.label, usual, "data.label")
    if label and not reading.label and (label in features or names_each(table, label)):
        label = None
    split = find_column(table, reading.split, ("split",), "data.split")
    return LabelRows(table, nodes, label, split if reading.split or split not in features else None)


def looks_like_label(table: Table, name: str) -> bool:
    """Tell whether a column has few values, and a usual name of labels or mostly empty cells."""
    cells = table.content.column(name)
    if not (is_text(cells) or types.is_primitive(cells.type)):
        return False
    if not 2 <= compute.count_distinct(cells).as_py() <= _FEW:
        return False
    words = set(re.findall(r"[^\W_]+", name.lower()))
    return bool(words & _WORDS) or 2 * int(cells.null_count) > len(cells)


def names_each(table: Table, name: str) -> bool:
    """Tell whether a column of labels has another text for every node: Gephi's display names."""
    cells = table.content.column(name)
    filled = len(cells) - cells.null_count
    if not is_text(cells) or filled <= _FEW or compute.count_distinct(cells).as_py() < filled:
        return False
    has_point = compute.match_substring_regex(cells, r"^\W{0,3}\d*[.,]\d*[1-9]\d*\W{0,3}$")
    return bool(2 * count_true(has_point) <= filled)  # else they are measured


def join_labels(sources: Iterable[LabelRows | None], num_nodes: int, notes: list[str]) -> Labelling:
    """Return labels, their names and splits, refusing what two tables say at once."""
    given = [source for source in sources if source is not None]
    labels, splits = (_only_source(given, kind) for kind in ("label", "split"))
    y, names = _read_labels(labels, num_nodes, notes) if labels else (None, ())
    return y, names, _read_split(splits) if splits else ()


def _only_source(sources: list[LabelRows], kind: str) -> LabelRows | None:
    having = [source for source in sources if getattr(source, kind)]
    if len(having) == 2:
        name = getattr(having[1], kind)
        raise DGBError(
            f"{having[0].table.source} and column {name!r} of {having[1].table.source} both "
            f"give the {kind} of nodes; leave one out with data.drop={name}"
        )
    return having[0] if having else None


def _read_labels(
    rows: LabelRows, num_nodes: int, notes: list[str]
) -> tuple[Array | None, tuple[str, ...]]:
    """Return a class for every node, -1 where its cell is empty, and the names of the classes."""
    table, name = rows.table, str(rows.label)
    text = text_cells(table, name, "choose another with data.label=COLUMN")
    if types.is_floating(table.content.column(name).type):
        text = keep_where(compute.not_equal(text, "nan"), text)
    text = _plain_labels(table, name, _without_marks(table, name, text, notes), notes)
    # pandas writes integers with a gap among them as 1.0, 2.0.
    cells = as_integers(compute.replace_substring_regex(text, r"^(-?\d+)\.0*$", r"\1"))
    classes = compute.unique(cells.drop_null())
    classes = classes.take(compute.sort_indices(classes))
    names = tuple(str(value) for value in classes.to_pylist())
    if not names:
        notes.append(f"{table.source}: column {name!r} holds no label: all its cells are empty")
        return None, ()
    labels = np.full(num_nodes, -1, np.int64)
    labels[rows.nodes] = find_positions(cells, classes)
    labels[rows.nodes[np.asarray(cells.is_null().to_numpy())]] = -1
    notes.append(f"{table.source}: column {name!r} holds the labels, classes: {len(names):,}")
    if "-1" in names:
        notes.append(f"{table.source}: label -1 is a class; leave the cell of no label empty")
    if maybe := [value for value in names if value.lower() in MAYBE]:
        note = f"{table.source}: classes that may mean that there is no label: {', '.join(maybe)}"
        notes.append(f"{note}; say data.empty={','.join(maybe)} if they do")
    return labels, names


def _without_marks(table: Table, name: str, cells: Cells, notes: list[str]) -> Cells:
    """Return labels without those that can only mean that there is none, such as ?."""
    is_mark = hold(cells, NOTHING)
    if not compute.any(is_mark).as_py():
        return cells
    marks = sorted(set(cells.filter(is_mark).to_pylist()))
    count = int(compute.sum(is_mark).as_py())
    notes.append(f"{table.source}: {name} is {' or '.join(marks)}, read as no label: {count:,}")
    return keep_where(compute.invert(is_mark), cells)


def _plain_labels(table: Table, name: str, cells: Cells, notes: list[str]) -> Cells:
    """Return labels such as 3,5 and €7, of which there are many, as other numbers are written."""
    if not is_text(table.content.column(name)) or compute.count_distinct(cells).as_py() <= _FEW:
        return cells
    found = read_amounts(table, cells, ())
    if found is None or not (found.form or found.mark):
        return cells
    is_known = np.asarray(cells.is_valid().to_numpy())
    if np.isnan(found.values[is_known]).any():
        return cells
    what = FORMS[found.form] if found.form else f"numbers read without {found.mark}"
    notes.append(f"{table.source}: {what}: {name}")
    pairs = zip(found.values.tolist(), is_known, strict=True)
    texts = [repr(value) if is_such else None for value, is_such in pairs]
    return pa.chunked_array([pa.array(texts, pa.large_string())])


def _read_split(rows: LabelRows) -> tuple[Split, ...]:
    """Return the split that a column of train, val and test makes, none where all is empty."""
    name = str(rows.split)
    cells = text_cells(rows.table, name, "choose another with data.split=COLUMN")
    known = pa.array(list(_PARTS), pa.large_string())
    found = find_positions(compute.utf8_lower(compute.utf8_trim_whitespace(cells)), known)
    wrong = np.flatnonzero((found < 0) & np.asarray(cells.is_valid().to_numpy()))
    advice = f"use {', '.join(_PARTS)}, or leave the cell empty"
    refuse_rows(rows.table, wrong, "cells that are not a part of a split", name, advice)
    part = np.append(list(_PARTS.values()), -1)[found]
    if (part < 0).all():
        return ()
    return (Split(*(np.sort(rows.nodes[part == number]) for number in range(3))),)
