"""x from the columns of a table: learned from it, or in the form that a run has learned."""

from collections.abc import Sequence

import numpy as np

from dgb.arrays import Array
from dgb.data.encoding import Column, Encoding
from dgb.data.graph import Features
from dgb.data.tables.column_kinds import (
    Part,
    Values,
    encode_numbers,
    encode_text,
    is_list,
    join_parts,
    learn_column,
    read_vectors,
)
from dgb.data.tables.columns import describe_cells, text_cells
from dgb.data.tables.numbers import are_dates, has_commas, read_numbers
from dgb.data.tables.table import Table
from dgb.errors import DGBError
from dgb.terminal import some


def learn_features(
    table: Table, names: Sequence[str], text: str, notes: list[str]
) -> tuple[Features | None, Encoding | None]:
    """Return x and its encoding, nothing where no column is a feature; `text` is data.text."""
    columns, parts = [], []
    names = _filled_columns(table, names, notes)
    for name in names:
        column, values = learn_column(table, name, text)
        if column.kind == "number" or text != "drop":
            columns.append(column)
            parts.append(_encode(table, column, values, notes))
    _note_text(table, names, columns, notes)
    return (join_parts(parts), Encoding(tuple(columns))) if parts else (None, None)


def encode_features(
    table: Table, names: Sequence[str], encoding: Encoding, notes: list[str]
) -> Features:
    """Return x in the columns that a run has learned, found by their names."""
    wanted = [column.name for column in encoding.columns]
    present, known = set(table.names), set(wanted)
    missing = [name for name in wanted if name not in present]
    if missing:
        raise DGBError(
            f"{table.source} lacks {len(missing)} of the {len(wanted)} columns that the run was "
            f"trained on: {some(missing)}; add them"
        )
    extra = [name for name in names if name not in known]
    if extra:
        notes.append(
            f"{table.source}: columns that the run does not know, left out: {some(extra, 10)}"
        )
    return join_parts([_encode(table, c, _values_for(table, c), notes) for c in encoding.columns])


def _encode(table: Table, column: Column, values: Values, notes: list[str]) -> Part:
    if column.kind == "number":
        return encode_numbers(column, values)
    part, unseen = encode_text(column, values)
    if unseen:
        notes.append(f"{table.source}: values of {column.name!r} that have no column: {unseen:,}")
    return part


def _values_for(table: Table, column: Column) -> Values:
    cells = table.content.column(column.name)
    if column.kind != "number":
        return text_cells(table, column.name, "the run was trained on text there")
    if is_list(cells) != (column.width > 0):
        raise _other_form(table, column)
    if column.width:
        vectors = read_vectors(table, column.name)
        if vectors.shape[1] != column.width:
            raise _other_form(table, column)
        return vectors
    return _numbers(table, column)


def _numbers(table: Table, column: Column) -> Array:
    name, wanted = column.name, "dates" if column.unit else "numbers"
    values = read_numbers(table, name)
    is_other = are_dates(table.content.column(name)) != bool(column.unit)
    if values is None or is_other:
        rows = np.arange(table.content.num_rows)
        raise DGBError(
            f"column {name!r} held {wanted} when the run was trained: "
            f"{describe_cells(table, rows, name)}; give {wanted}"
        )
    return values


def _other_form(table: Table, column: Column) -> DGBError:
    wanted = f"lists of {column.width} numbers" if column.width else "a number a row"
    kind = table.content.column(column.name).type
    return DGBError(f"{table.source}: column {column.name!r} must hold {wanted}, not {kind}")


def _filled_columns(table: Table, names: Sequence[str], notes: list[str]) -> list[str]:
    rows = table.content.num_rows
    is_empty = {name: table.content.column(name).null_count == rows for name in names}
    empty = [name for name in names if is_empty[name]]
    if empty:
        notes.append(f"{table.source}: columns without any value are not used: {some(empty, 10)}")
    return [name for name in names if not is_empty[name]]


def _note_text(table: Table, names: Sequence[str], columns: list[Column], notes: list[str]) -> None:
    kinds = {column.name: column.kind for column in columns}
    for kind, what in (("category", "read as categories"), ("words", "read as words")):
        such = [name for name in names if kinds.get(name) == kind]
        if such:
            notes.append(f"{table.source}: text {what}: {some(such, 10)}")
    commas = [name for name in names if kinds.get(name) and has_commas(table.content.column(name))]
    if commas:
        notes.append(
            f"{table.source}: numbers with a comma were read as text: {some(commas, 10)}; "
            "write them with a point"
        )
    dropped = [name for name in names if name not in kinds]
    if dropped:
        notes.append(f"{table.source}: columns of text that are not used: {some(dropped, 10)}")
