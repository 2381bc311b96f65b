"""Columns of lists, such as embeddings of texts: Parquet's own, or written as [0.1, 0.2]."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from dgb.data.tables.numbers import Numbers, no_feature
from dgb.data.tables.table import Cells, Table, describe_rows, is_text
from dgb.errors import DGBError

_NUMBERS = r"^\[\s*[-+.\deE]+(?:(?:\s*,\s*|\s+)[-+.\deE]+)+\s*\]$"
_LOOKED_AT = 100


def with_lists(table: Table, name: str) -> Table:
    """Return the table with lists in place of text such as [0.1, 0.2] or [0.1 0.2]."""
    cells = table.content.column(name)
    filled = cells.drop_null().slice(0, _LOOKED_AT) if is_text(cells) else []
    if not len(filled) or not compute.all(compute.match_substring_regex(filled, _NUMBERS)).as_py():
        return table
    bare = compute.utf8_trim(compute.replace_substring_regex(cells, r"[\[\],\s]+", " "), " ")
    try:
        lists = compute.split_pattern(bare, " ").cast(pa.large_list(pa.float64()))
    except pa.ArrowInvalid:
        return table
    place = table.content.column_names.index(name)
    return replace(table, content=table.content.set_column(place, name, lists))


def read_vectors(table: Table, name: str) -> Numbers:
    """Return a column of lists, all of the same length; a missing list is a row of NaN."""
    cells, advice = table.content.column(name), f"or leave the column out with data.drop={name}"
    lengths = np.asarray(compute.fill_null(compute.list_value_length(cells), -1).to_numpy())
    width = int(np.max(lengths, initial=0))
    if not width:
        raise DGBError(f"{table.source}: the lists of column {name!r} are empty; fill them in")
    if ((lengths != width) & (lengths >= 0)).any():
        rows = np.flatnonzero(lengths != width)
        found = describe_rows(table, rows, (f"{name} has {max(int(lengths[r]), 0)}" for r in rows))
        problem = f"the lists of column {name!r} must all have one length, here {width}"
        raise DGBError(f"{problem}: {found}; fix them, {advice}")
    try:
        flat = compute.list_flatten(cells.drop_null()).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise no_feature(table, name) from None
    values = np.full((len(cells), width), np.nan)
    values[lengths == width] = np.asarray(flat.to_numpy()).reshape(-1, width)
    rows = np.flatnonzero(~np.isfinite(values).all(axis=1) & (lengths == width))
    if len(rows):
        found = describe_rows(table, rows, (f"{name} holds a gap, NaN or infinity" for _ in rows))
        raise DGBError(f"{found}; fill it in, {advice}")
    return Numbers(values)


def is_list(cells: Cells) -> bool:
    """Tell whether the cells of a column are lists."""
    kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(is_kind(cells.type) for is_kind in kinds)
