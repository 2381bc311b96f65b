"""Large arrays some rows at a time, so that nothing made on the way is as large as they are."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBERS = 2**25  # of a matrix at a time
NONZEROS = 2**22  # of a sparse matrix at a time: each takes some float64 on the way


def row_parts(num_rows: int, width: int) -> list[slice]:
    """Return slices of rows that hold at most 2²⁵ numbers each; together they are all rows."""
    step = max(NUMBERS // max(width, 1), 1)
    return [slice(i, min(i + step, num_rows)) for i in range(0, num_rows, step)]


def nonzero_parts(starts: NDArray[Any]) -> list[slice]:
    """Return slices of rows that hold about 2²² non-zeros each, by the row starts of a CSR."""
    count = -(-int(starts[-1]) // NONZEROS)
    wanted = np.arange(1, count) * NONZEROS
    cuts = np.unique(np.concatenate([[0], np.searchsorted(starts, wanted), [len(starts) - 1]]))
    return [slice(int(i), int(j)) for i, j in pairwise(cuts)]


def are_finite(values: NDArray[Any]) -> bool:
    """Tell whether an array holds neither NaN nor infinity."""
    # By its ends: NaN comes through both, and no array of answers is made.
    return values.size == 0 or bool(np.isfinite(values.min()) and np.isfinite(values.max()))
