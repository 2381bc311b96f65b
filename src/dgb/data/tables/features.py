"""x from the columns of a table: learned from it, or in the form that a run has learned."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute
from scipy import sparse

from dgb.arrays import Array
from dgb.data.encoding import Column, Encoding
from dgb.data.graph import Features
from dgb.data.ids import find_positions
from dgb.data.tables.numbers import are_dates, has_commas, is_list, read_numbers, read_vectors
from dgb.data.tables.table import Cells, Table, describe_rows, text_cells
from dgb.errors import DGBError
from dgb.terminal import some

WORDS = 256  # columns that words are hashed to
_FEW, _MOST, _SHARE = 20, 200, 0.05  # levels of a category: always, at most, of the nodes
_SPARSE = 0.25  # share of x that is filled, below which x is sparse

Values = Any  # an array of numbers, one or a vector a row, or cells of text
Part = Any  # numpy array or scipy sparse array, float32 [rows, columns]


def learn_features(
    table: Table, names: Sequence[str], text: str, notes: list[str]
) -> tuple[Features | None, Encoding | None]:
    """Return x and its encoding, nothing where no column is a feature; `text` is data.text."""
    rows = table.content.num_rows
    is_filled = {name: table.content.column(name).null_count < rows for name in names}
    empty = [name for name in names if not is_filled[name]]
    if empty:
        notes.append(f"{table.source}: columns without any value are not used: {some(empty, 10)}")
    names = [name for name in names if is_filled[name]]
    columns, parts = [], []
    for name in names:
        column, values = _learn_column(table, name, text)
        if column.kind == "number" or text != "drop":
            columns.append(column)
            parts.append(_encode(table, column, values, notes))
    _note_text(table, names, columns, notes)
    return (_join_parts(parts), Encoding(tuple(columns))) if parts else (None, None)


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
    return _join_parts([_encode(table, c, _values_for(table, c), notes) for c in encoding.columns])


def _learn_column(table: Table, name: str, text: str) -> tuple[Column, Values]:
    """Return what a column becomes, with its values."""
    cells = table.content.column(name)
    values = read_vectors(table, name) if is_list(cells) else read_numbers(table, name)
    if values is not None:
        return replace(_scale_column(name, values), unit="days" if are_dates(cells) else ""), values
    counts = compute.value_counts(cells.drop_null())
    is_few = len(counts) <= max(_FEW, min(_MOST, int(_SHARE * len(cells))))
    if text != "category" and not (text == "auto" and is_few):
        return Column(name, "words", width=WORDS), cells
    pairs = zip(*(counts.field(part).to_pylist() for part in ("counts", "values")), strict=True)
    most = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:_MOST]
    return Column(name, "category", levels=tuple(sorted(level for _, level in most))), cells


def _scale_column(name: str, values: Array) -> Column:
    # A vector is scaled as a whole, so that its directions keep their meaning.
    width = values.shape[1] if values.ndim == 2 else 0
    largest = float(np.abs(values).max(initial=0))
    if largest <= 1:
        return Column(name, width=width)
    if 2 * np.count_nonzero(values) < values.size:
        return Column(name, scale=largest, width=width)  # zeros stay zeros: x can be sparse
    if values.min() == values.max():
        return Column(name, shift=float(values.min()), scale=largest, width=width)
    return Column(name, shift=float(values.mean()), scale=float(values.std()), width=width)


def _values_for(table: Table, column: Column) -> Values:
    """Return the values of a column that a run has learned, refusing those of another form."""
    name, cells = column.name, table.content.column(column.name)
    if column.kind != "number":
        return text_cells(table, name, "the run was trained on text there")
    if column.width and is_list(cells):
        vectors = read_vectors(table, name)
        if vectors.shape[1] == column.width:
            return vectors
    if column.width or is_list(cells):
        wanted = f"lists of {column.width} numbers" if column.width else "a number a row"
        raise DGBError(f"{table.source}: column {name!r} must hold {wanted}, not {cells.type}")
    values = read_numbers(table, name)
    if values is None or are_dates(cells) != bool(column.unit):
        wanted, rows = "dates" if column.unit else "numbers", np.arange(table.content.num_rows)
        raise DGBError(
            f"column {name!r} held {wanted} when the run was trained: "
            f"{describe_rows(table, rows, name)}; give {wanted}"
        )
    return values


def _encode(table: Table, column: Column, values: Values, notes: list[str]) -> Part:
    """Return the columns of x that a column becomes; mostly zeros are kept sparse."""
    if column.kind == "words":
        return _hash_words(column, values)
    if column.kind == "number":
        scaled = ((values - column.shift) / column.scale).astype(np.float32)
        scaled = scaled.reshape(len(values), -1)
        is_sparse = np.count_nonzero(scaled) < _SPARSE * scaled.size
        return sparse.csc_array(scaled) if is_sparse else scaled
    found = find_positions(values, pa.array(column.levels, pa.large_string()))
    rows = np.flatnonzero(found >= 0)
    unseen = len(values) - values.null_count - len(rows)
    if unseen:
        notes.append(f"{table.source}: values of {column.name!r} that have no column: {unseen:,}")
    ones, shape = np.ones(len(rows), np.float32), (len(values), len(column.levels))
    return sparse.csc_array((ones, (rows, found[rows])), shape=shape)


def _hash_words(column: Column, cells: Cells) -> Part:
    from sklearn.feature_extraction.text import HashingVectorizer

    # With signs, words that share a column cancel on average, so that texts stay as alike as
    # their words are.
    hashing = HashingVectorizer(n_features=column.width, dtype=np.float32, alternate_sign=True)
    return sparse.csc_array(hashing.transform([text or "" for text in cells.to_pylist()]))


def _join_parts(parts: Sequence[Part]) -> Features:
    """Put parts side by side: CSR where less than a quarter is filled, else dense."""
    ends = np.cumsum([part.shape[1] for part in parts])
    shape = (parts[0].shape[0], ends[-1])
    filled = sum(part.nnz if sparse.issparse(part) else np.count_nonzero(part) for part in parts)
    if filled < _SPARSE * shape[0] * shape[1]:
        return sparse.csr_array(sparse.hstack([sparse.csc_array(part) for part in parts]))
    x = np.empty(shape, np.float32)
    for part, end in zip(parts, ends, strict=True):
        x[:, end - part.shape[1] : end] = part.toarray() if sparse.issparse(part) else part
    return x


def _note_text(table: Table, names: Sequence[str], columns: list[Column], notes: list[str]) -> None:
    kinds = {column.name: column.kind for column in columns}
    found = [
        ("text read as categories", [n for n in names if kinds.get(n) == "category"], ""),
        ("text read as words", [n for n in names if kinds.get(n) == "words"], ""),
        (
            "numbers with a comma were read as text",
            [n for n in kinds if has_commas(table.content.column(n))],
            "; write them with a point",
        ),
        ("columns of text that are not used", [n for n in names if n not in kinds], ""),
    ]
    notes += [f"{table.source}: {what}: {some(such, 10)}{end}" for what, such, end in found if such]
