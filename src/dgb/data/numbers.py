"""Cells as numbers: text that reads as numbers, booleans or dates, typed columns, vectors."""

import numpy as np

from dgb.data.columns import tell, tell_cells
from dgb.data.graph import Array
from dgb.data.tables import NUMBER, Cells, Table, is_text
from dgb.errors import DGBError

_DATE = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$"
_DAY = 86_400_000_000  # microseconds


def read_numbers(table: Table, name: str) -> Array | None:
    """Return a column as float64, None where it holds text; faults are refused by their line."""
    values = parse_numbers(table, name)
    if values is None:
        return None
    rows = np.flatnonzero(~np.isfinite(values))
    if len(rows):
        raise DGBError(
            f"cells of {name!r} that are no finite numbers, {len(rows):,} of {len(values):,}: "
            f"{tell_cells(table, rows, name)}; fill them in, or leave the column out with "
            f"--set data.drop={name}"
        )
    return values


def parse_numbers(table: Table, name: str) -> Array | None:
    """Return a column as float64, NaN where a cell is no number, None where most are not."""
    cells = table.content.column(name)
    return _text_numbers(cells) if is_text(cells) else _typed_numbers(table, name)


def read_vectors(table: Table, name: str) -> Array:
    """Return a column of lists, all of the same length, as float64 [rows, length]."""
    import pyarrow as pa
    from pyarrow import compute

    cells = table.content.column(name)
    lengths = np.asarray(compute.fill_null(compute.list_value_length(cells), -1).to_numpy())
    width = int(np.max(lengths, initial=0))
    rows = np.flatnonzero(lengths != width)
    if len(rows) or not width:
        words = [f"{name} has {max(int(lengths[row]), 0)}" for row in rows[:5]]
        raise DGBError(
            f"the lists of column {name!r} must all have one length, here {width}: "
            f"{tell(table, rows, words)}; mend them, or --set data.drop={name}"
        )
    try:
        flat = compute.list_flatten(cells).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _no_feature(table, name) from None
    values = np.asarray(flat.to_numpy()).reshape(-1, width)
    rows = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(rows):
        words = [f"{name} holds a gap, NaN or infinity"] * len(rows[:5])
        raise DGBError(f"{tell(table, rows, words)}; fill it in, or --set data.drop={name}")
    return values


def is_list(cells: Cells) -> bool:
    """Tell whether the cells of a column are lists."""
    from pyarrow import types

    kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(is_kind(cells.type) for is_kind in kinds)


def _text_numbers(cells: Cells) -> Array | None:
    from pyarrow import compute

    filled = len(cells) - cells.null_count
    lowered = compute.utf8_lower(cells)
    if filled and compute.all(compute.is_in(lowered, value_set=_true_false())).as_py() is True:
        return _as_floats(compute.equal(lowered, "true"))
    # Most cells decide, so that a slip such as 1,5 or n/a is told and not taken for a category.
    for pattern, convert in ((NUMBER, _parsed), (_DATE, _days_of_text)):
        is_such = compute.match_substring_regex(cells, pattern)
        if 2 * (compute.sum(is_such).as_py() or 0) > filled:
            return convert(compute.if_else(is_such, cells, None))
    return None


def _typed_numbers(table: Table, name: str) -> Array:
    import pyarrow as pa
    from pyarrow import types

    cells = table.content.column(name)
    if types.is_date(cells.type) or types.is_timestamp(cells.type):
        return _days(cells)
    try:
        return _as_floats(cells.cast(pa.float64(), safe=False))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _no_feature(table, name) from None


def _true_false() -> Cells:
    import pyarrow as pa

    # An empty cell is a gap among true and false, not a third answer.
    return pa.array(["true", "false", None], pa.large_string())


def _parsed(cells: Cells) -> Array:
    import pyarrow as pa

    try:
        return _as_floats(cells.cast(pa.float64()))
    except pa.ArrowInvalid:  # 1e999, which Python reads as infinite
        return np.array([np.nan if c is None else float(c) for c in cells.to_pylist()])


def _days_of_text(cells: Cells) -> Array | None:
    import pyarrow as pa

    for zone in (None, "UTC"):
        try:
            return _days(cells.cast(pa.timestamp("us", zone)))
        except pa.ArrowInvalid:
            continue
    return None


def _days(cells: Cells) -> Array:
    import pyarrow as pa

    zone = getattr(cells.type, "tz", None)
    moments = cells.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64())
    return _as_floats(moments.cast(pa.float64(), safe=False)) / _DAY


def _as_floats(cells: Cells) -> Array:
    import pyarrow as pa
    from pyarrow import compute

    return np.asarray(compute.fill_null(cells.cast(pa.float64()), np.nan).to_numpy())


def _no_feature(table: Table, name: str) -> DGBError:
    kind = table.content.column(name).type
    return DGBError(
        f"{table.source}: column {name!r} holds {kind}, which is no feature; "
        f"leave it out with --set data.drop={name}"
    )
