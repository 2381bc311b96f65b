"""Cells that are lists of numbers, such as the embedding of a text."""

import numpy as np

from dgb.data.graph import Array
from dgb.data.tables.columns import tell
from dgb.data.tables.numbers import no_feature
from dgb.data.tables.table import Cells, Table
from dgb.errors import DGBError


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
            f"{tell(table, rows, words)}; fill it in, or leave it out with --drop {name}"
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
            f"{tell(table, rows, words)}; mend them, or leave the column out with --drop {name}"
        )
    return width


def is_list(cells: Cells) -> bool:
    """Tell whether the cells of a column are lists."""
    from pyarrow import types

    kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(is_kind(cells.type) for is_kind in kinds)
