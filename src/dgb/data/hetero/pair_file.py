"""A text file of two columns of positions, without names."""

from pathlib import Path

import numpy as np

from dgb.data.graph import Array
from dgb.data.tables.columns import tell_cells
from dgb.data.tables.table import Table, read_table
from dgb.errors import DGBError

_POSITION = r"^\d{1,18}$"


def read_pairs(path: Path) -> Array:
    """Return the positions of a file of pairs, int64 [2, pairs], naming the line of a bad one."""
    table = read_table(path, has_names=False)
    if len(table.names) != 2:
        raise DGBError(f"{table.place(0)}: {len(table.names)} columns; a file of pairs has two")
    return np.stack([_positions(table, name) for name in table.names])


def _positions(table: Table, name: str) -> Array:
    import pyarrow as pa
    from pyarrow import compute

    cells = table.content.column(name)
    is_right = compute.fill_null(compute.match_substring_regex(cells, _POSITION), False)
    rows = np.flatnonzero(~np.asarray(is_right.to_numpy()))
    if len(rows):
        raise DGBError(
            f"cells that are no positions 0, 1, 2 …, {len(rows):,} in all: "
            f"{tell_cells(table, rows, name)}; mend them"
        )
    return np.asarray(cells.cast(pa.int64()).to_numpy())
