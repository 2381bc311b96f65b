"""What a column of a table becomes in x: its kind, its scale, its levels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.encoding import Column
from dgb.data.graph import Features
from dgb.data.ids import find_positions
from dgb.data.tables.columns import describe_rows
from dgb.data.tables.numbers import are_dates, no_feature, read_numbers
from dgb.data.tables.table import Cells, Table
from dgb.errors import DGBError

WORDS = 256  # columns that words are hashed to
_FEW, _MOST, _SHARE = 20, 200, 0.05  # levels of a category: always, at most, of the nodes

Values = Array | Cells  # numbers, one or a vector a row, or cells of text


def learn_column(table: Table, name: str, text: str) -> tuple[Column, Values]:
    """Return what a column becomes, with its values; `text` is the recipe's data.text."""
    cells = table.content.column(name)
    values = read_vectors(table, name) if is_list(cells) else read_numbers(table, name)
    if values is not None:
        return replace(_scale_column(name, values), unit="days" if are_dates(cells) else ""), values
    if text == "category" or (text == "auto" and _has_few_values(cells)):
        return Column(name, "category", levels=_levels(cells)), cells
    return Column(name, "words", width=WORDS), cells


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


def _has_few_values(cells: Cells) -> bool:
    from pyarrow import compute

    limit = max(_FEW, min(_MOST, int(_SHARE * len(cells))))
    return len(compute.unique(cells.drop_null())) <= limit


def _levels(cells: Cells) -> tuple[str, ...]:
    from pyarrow import compute

    counts = compute.value_counts(cells.drop_null())
    by_count = sorted(
        zip(counts.field("counts").to_pylist(), counts.field("values").to_pylist(), strict=True),
        key=lambda pair: (-pair[0], pair[1]),
    )
    return tuple(sorted(level for _, level in by_count[:_MOST]))


_SPARSE = 0.25  # share of x that is filled, below which x is sparse

Part = Any  # numpy array or scipy sparse array, float32 [rows, columns]


def encode_numbers(column: Column, values: Array) -> Part:
    """Shift and scale numbers or vectors; mostly zeros are kept sparse."""
    scaled = ((values - column.shift) / column.scale).astype(np.float32)
    scaled = scaled.reshape(len(values), -1)
    is_sparse = np.count_nonzero(scaled) < _SPARSE * scaled.size
    return sparse.csc_array(scaled) if is_sparse else scaled


def encode_text(column: Column, cells: Cells) -> tuple[Part, int]:
    """Return zeros and ones for levels, or hashed words, and how many cells have no level."""
    if column.kind == "words":
        return _hash_words(column, cells), 0
    import pyarrow as pa

    found = find_positions(cells, pa.array(column.levels, pa.large_string()))
    rows = np.flatnonzero(found >= 0)
    ones = np.ones(len(rows), np.float32)
    shape = (len(cells), len(column.levels))
    part = sparse.csc_array((ones, (rows, found[rows])), shape=shape)
    return part, len(cells) - cells.null_count - len(rows)


def join_parts(parts: Sequence[Part]) -> Features:
    """Put parts side by side: CSR where less than a quarter is filled, else dense."""
    widths = [part.shape[1] for part in parts]
    size = parts[0].shape[0] * sum(widths)
    filled = sum(part.nnz if sparse.issparse(part) else np.count_nonzero(part) for part in parts)
    if filled < _SPARSE * size:
        return sparse.csr_array(sparse.hstack([sparse.csc_array(part) for part in parts]))
    x = np.empty((parts[0].shape[0], sum(widths)), np.float32)
    ends = np.cumsum(widths)
    for part, width, end in zip(parts, widths, ends, strict=True):
        x[:, end - width : end] = part.toarray() if sparse.issparse(part) else part
    return x


def _hash_words(column: Column, cells: Cells) -> Part:
    from sklearn.feature_extraction.text import HashingVectorizer

    # With signs, words that share a column cancel on average, so that texts stay as alike as
    # their words are.
    hashing = HashingVectorizer(n_features=column.width, dtype=np.float32, alternate_sign=True)
    return sparse.csc_array(hashing.transform([text or "" for text in cells.to_pylist()]))


def read_vectors(table: Table, name: str) -> Array:
    """Return a column of lists, all of the same length, as float64 [rows, length]."""
    import pyarrow as pa
    from pyarrow import compute

    width = _common_length(table, name)
    try:
        flat = compute.list_flatten(table.content.column(name)).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise no_feature(table, name) from None
    values = np.asarray(flat.to_numpy()).reshape(-1, width)
    rows = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(rows):
        words = [f"{name} holds a gap, NaN or infinity"] * len(rows[:5])
        raise DGBError(
            f"{describe_rows(table, rows, words)}; fill it in, or leave it out with --drop {name}"
        )
    return values


def _common_length(table: Table, name: str) -> int:
    from pyarrow import compute

    cells = table.content.column(name)
    lengths = np.asarray(compute.fill_null(compute.list_value_length(cells), -1).to_numpy())
    width = int(np.max(lengths, initial=0))
    rows = np.flatnonzero(lengths != width)
    if not width:
        raise DGBError(f"{table.source}: the lists of column {name!r} are empty; fill them in")
    if len(rows):
        words = [f"{name} has {max(int(lengths[row]), 0)}" for row in rows[:5]]
        raise DGBError(
            f"the lists of column {name!r} must all have one length, here {width}: "
            f"{describe_rows(table, rows, words)}; fix them, or leave the column out with --drop "
            f"{name}"
        )
    return width


def is_list(cells: Cells) -> bool:
    """Tell whether the cells of a column are lists."""
    from pyarrow import types

    kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(is_kind(cells.type) for is_kind in kinds)
