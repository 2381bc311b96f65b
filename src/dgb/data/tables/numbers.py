"""Cells as numbers: text that reads as numbers, booleans or dates, typed columns, and lists."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from dgb.arrays import Array
from dgb.data.tables.table import NUMBER, Cells, Table, describe_rows, is_text, keep_where
from dgb.errors import DGBError

_DATE = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$"
_DAY = 86_400_000_000  # microseconds
_LARGEST = float(np.finfo(np.float32).max)


def read_numbers(table: Table, name: str) -> Array | None:
    """Return a column as float64, None where it holds text; faults are refused by their line."""
    cells = table.content.column(name)
    values = number_cells(cells)
    values = _other_numbers(cells) if values is None else values
    if values is None:
        if not is_text(cells):
            raise _no_feature(table, name)
        return None
    rows = np.flatnonzero(~(np.abs(values) <= _LARGEST))
    if len(rows):
        raise DGBError(
            f"cells of {name!r} that are not finite numbers, {len(rows):,} of {len(values):,}: "
            f"{describe_rows(table, rows, name)}; fill them in, or leave the column out with "
            f"--drop {name}"
        )
    return values


def read_vectors(table: Table, name: str) -> Array:
    """Return a column of lists, all of the same length, as float64 [rows, length]."""
    cells, advice = table.content.column(name), f"or leave the column out with --drop {name}"
    lengths = np.asarray(compute.fill_null(compute.list_value_length(cells), -1).to_numpy())
    width = int(np.max(lengths, initial=0))
    if not width:
        raise DGBError(f"{table.source}: the lists of column {name!r} are empty; fill them in")
    rows = np.flatnonzero(lengths != width)
    if len(rows):
        found = describe_rows(table, rows, (f"{name} has {max(int(lengths[r]), 0)}" for r in rows))
        problem = f"the lists of column {name!r} must all have one length, here {width}"
        raise DGBError(f"{problem}: {found}; fix them, {advice}")
    try:
        flat = compute.list_flatten(cells).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _no_feature(table, name) from None
    values = np.asarray(flat.to_numpy()).reshape(-1, width)
    rows = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(rows):
        found = describe_rows(table, rows, (f"{name} holds a gap, NaN or infinity" for _ in rows))
        raise DGBError(f"{found}; fill it in, {advice}")
    return values


def is_list(cells: Cells) -> bool:
    """Tell whether the cells of a column are lists."""
    kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(is_kind(cells.type) for is_kind in kinds)


def are_dates(cells: Cells) -> bool:
    """Tell whether cells are dates, which are read as days."""
    if not is_text(cells):
        return bool(types.is_date(cells.type) or types.is_timestamp(cells.type))
    return _are_most(compute.match_substring_regex(cells, _DATE))


def has_commas(cells: Cells) -> bool:
    """Tell whether most cells are text such as 1,5, which is a number only to a person."""
    pattern = r"^[+-]?\d+(,\d+)+(\.\d+)?$"
    return is_text(cells) and _are_most(compute.match_substring_regex(cells, pattern))


def number_cells(cells: Cells) -> Array | None:
    """Return cells as float64, NaN where one is not a number, None where most are not."""
    if not is_text(cells):
        kinds = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
        return _as_floats(cells) if any(is_kind(cells.type) for is_kind in kinds) else None
    # Most cells decide, so that a slip such as 1,5 or n/a is refused and not taken for a category.
    is_number = compute.match_substring_regex(cells, NUMBER)
    if not _are_most(is_number):
        return None
    numbers = keep_where(is_number, cells)
    try:
        return _as_floats(numbers)
    except pa.ArrowInvalid:  # 1e999, which Python reads as infinite
        return np.array([np.nan if c is None else float(c) for c in numbers.to_pylist()])


def _other_numbers(cells: Cells) -> Array | None:
    if types.is_boolean(cells.type):
        return _as_floats(cells)
    if not is_text(cells):
        return _days(cells) if are_dates(cells) else None
    lowered = compute.utf8_lower(cells)
    is_true = compute.equal(lowered, "true")
    if compute.all(compute.or_(is_true, compute.equal(lowered, "false"))).as_py():
        return _as_floats(is_true)
    if not are_dates(cells):
        return None
    dates = keep_where(compute.match_substring_regex(cells, _DATE), cells)
    for zone in (None, "UTC"):
        try:
            return _days(dates.cast(pa.timestamp("us", zone)))
        except pa.ArrowInvalid:
            continue
    # Some with a zone and some without, or a 31st of June: one by one.
    return np.array([_day(cell) for cell in dates.to_pylist()])


def _are_most(is_such: Cells) -> bool:
    return 2 * int(compute.sum(is_such).as_py() or 0) > len(is_such) - int(is_such.null_count)


def _day(cell: str | None) -> float:
    try:
        moment = datetime.fromisoformat(cell or "")
    except ValueError:
        return np.nan
    return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1e6 / _DAY


def _days(cells: Cells) -> Array:
    zone = getattr(cells.type, "tz", None)
    return _as_floats(cells.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64())) / _DAY


def _as_floats(cells: Cells) -> Array:
    numbers = cells.cast(pa.float64(), safe=False)
    return np.asarray(compute.fill_null(numbers, np.nan).to_numpy())


def _no_feature(table: Table, name: str) -> DGBError:
    return DGBError(
        f"{table.source}: column {name!r} holds {table.content.column(name).type}, which is not a "
        f"feature; leave it out with --drop {name}"
    )
