"""MatrixMarket files, one entry a line: read here, for scipy's reader dies of broken ones."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.formats.arrays import Matrix, refuse_unless
from dgb.data.graph import Array
from dgb.data.packed import read_whole
from dgb.data.room import refuse_nodes
from dgb.data.tables.text_file import single_spaced
from dgb.data.tables.text_rows import BLOCK
from dgb.errors import refusing

_ADVICE = "get it again or write it with scipy.io.mmwrite"
# The banner, comments and empty lines, then rows, columns and entries.
_HEAD = re.compile(
    rb"%%MatrixMarket[ \t]++matrix[ \t]++(\w++)[ \t]++([\w-]++)[ \t]++([\w-]++)[ \t]*+\r?\n"
    rb"(?:[ \t]*+(?:%[^\n]*+)?+\r?\n)*+"
    rb"[ \t]*+(\d{1,18})[ \t]++(\d{1,18})[ \t]++(\d{1,18})[ \t]*+(?:\r?\n|\Z)",
    re.IGNORECASE,
)
_NUMBERS = ("real", "double", "integer", "unsigned-integer")


def read_market(path: Path) -> Matrix:
    """Read a sparse matrix; of a symmetric one, only the half that the file holds."""
    with refusing(path, "not a readable MatrixMarket file", _ADVICE):
        content = read_whole(path)
        head = _HEAD.match(content)
        if head is None:
            raise ValueError("no head of `%%MatrixMarket matrix coordinate …`, rows, columns")
        form, kind, *_ = (word.decode("ascii").lower() for word in head.groups()[:3])
        refuse_unless(form == "coordinate", f"the form must be coordinate, not {form}")
        is_known = kind == "pattern" or kind in _NUMBERS
        refuse_unless(is_known, f"edge weights must be real numbers, not {kind}")
        rows, columns, entries = (int(size) for size in head.groups()[3:])
        refuse_nodes(max(rows, columns))
        places, values = _entries(content[head.end() :], has_values=kind != "pattern")
        if len(values) != entries:
            raise ValueError(f"{entries:,} entries declared, {len(values):,} there")
        return _matrix(places, values, (rows, columns))


def _entries(body: bytes, *, has_values: bool) -> tuple[Array, Array]:
    """Return the positions [2, entries], counted from 1 as they stand there, and the values."""
    import pyarrow as pa
    from pyarrow import csv

    types: dict[str, Any] = {"row": pa.int64(), "column": pa.int64()}
    types |= {"value": pa.float64()} if has_values else {}
    if not body or body.isspace():
        return np.zeros((2, 0), np.int64), np.zeros(0)
    table = csv.read_csv(
        BytesIO(single_spaced(body)),
        csv.ReadOptions(column_names=list(types), block_size=BLOCK),
        csv.ParseOptions(delimiter=" ", quote_char=False),
        csv.ConvertOptions(column_types=types, null_values=[]),
    )
    found = [np.asarray(column.to_numpy()) for column in table.columns]
    values = found[2] if has_values else np.ones(table.num_rows)
    return np.stack(found[:2]), values


def _matrix(places: Array, values: Array, shape: tuple[int, int]) -> Matrix:
    for end, size in zip(places, shape, strict=True):
        if len(end) and not 1 <= end.min() <= end.max() <= size:
            raise ValueError(f"positions must be from 1 to {size}")
    return sparse.coo_array((values, tuple(places - 1)), shape=shape)
