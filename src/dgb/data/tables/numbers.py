"""Cells as numbers: text that reads as numbers, booleans or dates, and typed columns."""

from datetime import UTC, datetime

import numpy as np

from dgb.arrays import Array
from dgb.data.tables.columns import describe_cells
from dgb.data.tables.table import NUMBER, Cells, Table, is_text, keep_where
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
            raise no_feature(table, name)
        return None
    rows = np.flatnonzero(~(np.abs(values) <= _LARGEST))
    if len(rows):
        raise DGBError(
            f"cells of {name!r} that are not finite numbers, {len(rows):,} of {len(values):,}: "
            f"{describe_cells(table, rows, name)}; fill them in, or leave the column out with "
            f"--drop {name}"
        )
    return values


def are_dates(cells: Cells) -> bool:
    """Tell whether cells are dates, which are read as days."""
    from pyarrow import compute, types

    if not is_text(cells):
        return bool(types.is_date(cells.type) or types.is_timestamp(cells.type))
    return _are_most(compute.match_substring_regex(cells, _DATE))


def has_commas(cells: Cells) -> bool:
    """Tell whether most cells are text such as 1,5, which is a number only to a person."""
    from pyarrow import compute

    pattern = r"^[+-]?\d+(,\d+)+(\.\d+)?$"
    return is_text(cells) and _are_most(compute.match_substring_regex(cells, pattern))


def number_cells(cells: Cells) -> Array | None:
    """Return cells as float64, NaN where one is not a number, None where most are not."""
    from pyarrow import compute, types

    if not is_text(cells):
        kinds = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
        return _as_floats(cells) if any(is_kind(cells.type) for is_kind in kinds) else None
    # Most cells decide, so that a slip such as 1,5 or n/a is refused and not taken for a category.
    is_number = compute.match_substring_regex(cells, NUMBER)
    if not _are_most(is_number):
        return None
    return _parse(keep_where(is_number, cells))


def _other_numbers(cells: Cells) -> Array | None:
    from pyarrow import compute, types

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
    is_date = compute.match_substring_regex(cells, _DATE)
    return _days_of_text(keep_where(is_date, cells))


def _are_most(is_such: Cells) -> bool:
    from pyarrow import compute

    return 2 * int(compute.sum(is_such).as_py() or 0) > len(is_such) - int(is_such.null_count)


def _parse(cells: Cells) -> Array:
    import pyarrow as pa

    try:
        return _as_floats(cells)
    except pa.ArrowInvalid:  # 1e999, which Python reads as infinite
        return np.array([np.nan if c is None else float(c) for c in cells.to_pylist()])


def _days_of_text(cells: Cells) -> Array:
    import pyarrow as pa

    for zone in (None, "UTC"):
        try:
            return _days(cells.cast(pa.timestamp("us", zone)))
        except pa.ArrowInvalid:
            continue
    # Some with a zone and some without, or a 31st of June: one by one.
    return np.array([_day(cell) for cell in cells.to_pylist()])


def _day(cell: str | None) -> float:
    try:
        moment = datetime.fromisoformat(cell or "")
    except ValueError:
        return np.nan
    return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1e6 / _DAY


def _days(cells: Cells) -> Array:
    import pyarrow as pa

    zone = getattr(cells.type, "tz", None)
    return _as_floats(cells.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64())) / _DAY


def _as_floats(cells: Cells) -> Array:
    import pyarrow as pa
    from pyarrow import compute

    numbers = cells.cast(pa.float64(), safe=False)
    return np.asarray(compute.fill_null(numbers, np.nan).to_numpy())


def no_feature(table: Table, name: str) -> DGBError:
    """Return the error for a column of things that are not features."""
    kind = table.content.column(name).type
    return DGBError(
        f"{table.source}: column {name!r} holds {kind}, which is not a feature; "
        f"leave it out with --drop {name}"
    )
