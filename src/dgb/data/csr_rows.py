"""The rows of a CSR matrix: each place once, and their sums."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dgb.data.parts import nonzero_parts


def canonical_rows(matrix: Any) -> Any:
    """Return the matrix in CSR with sorted places and float values, itself where it is so."""
    is_float = matrix.dtype in (np.float32, np.float64)
    rows = sparse.csr_array(matrix if is_float else matrix.astype(np.float64))
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def row_sums(rows: Any) -> NDArray[Any]:
    """Return the sum of every row in float64, without a copy of all values."""
    return np.concatenate([_part_sums(rows, part) for part in nonzero_parts(rows.indptr)])


def _part_sums(rows: Any, part: slice) -> NDArray[Any]:
    starts = rows.indptr[part.start : part.stop + 1]
    here = slice(starts[0], starts[-1])
    block = (rows.data[here].astype(np.float64), rows.indices[here], starts - starts[0])
    shape = (part.stop - part.start, rows.shape[1])
    return np.asarray(sparse.csr_array(block, shape=shape).sum(axis=1)).ravel()
