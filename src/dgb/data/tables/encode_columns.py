"""Values of a column to columns of x, by what a Column says of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.encoding import Column
from dgb.data.graph import Array, Features
from dgb.data.tables.ids import find_positions
from dgb.data.tables.table import Cells

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
        return _hashed_words(column, cells), 0
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


def _hashed_words(column: Column, cells: Cells) -> Part:
    from sklearn.feature_extraction.text import HashingVectorizer

    # With signs, words that share a column cancel on average, so that texts stay as alike as
    # their words are.
    hashing = HashingVectorizer(n_features=column.width, dtype=np.float32, alternate_sign=True)
    return sparse.csc_array(hashing.transform([text or "" for text in cells.to_pylist()]))
