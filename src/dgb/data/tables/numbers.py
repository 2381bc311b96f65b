"""Cells as numbers: text that reads as numbers, booleans or dates, typed columns, and lists.

Lists, such as embeddings of texts, are Parquet's own or written as [0.1, 0.2].
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from dgb.arrays import Array
from dgb.data.tables.dates import MICROSECONDS, count_days, read_dates, read_digits
from dgb.data.tables.rows import MAYBE, NOTHING, are_missing, hold
from dgb.data.tables.table import NUMBER, Cells, Table, describe_rows, is_text, keep_where
from dgb.data.tables.written import (
    COMPACT,
    count_true,
    find_decimal,
    plain_numbers,
    strip_marks,
)
from dgb.errors import DGBError

_LIST = r"^\[\s*[-+.\deE]+(?:(?:\s*,\s*|\s+)[-+.\deE]+)+\s*\]$"
_LOOKED_AT = 100  # lists
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Numbers:
    """The cells of a column as numbers, and how they were written."""

    values: Array  # float64 [rows], of lists [rows, length]; NaN where a cell is missing
    unit: str = ""  # "days" where the cells are dates
    form: str = ""  # what text had before its decimals, or which part of a date came first
    mark: str = ""  # that stood at every number: €, %, cm


def read_numbers(table: Table, name: str, asked: Collection[str] = ()) -> Numbers | None:
    """Return a column as numbers, None where it holds text; faults are refused by their line.

    `asked` are the forms that are to be taken where cells may be read in two ways.
    """
    cells = table.content.column(name)
    found = _read_text(table, cells, asked) if is_text(cells) else _read_typed(cells)
    if found is None:
        if not is_text(cells):
            raise no_feature(table, name)
        return None
    is_plain = not (found.unit or found.form or found.mark)
    days = read_digits(found.values, asked) if is_plain else None
    found = found if days is None else Numbers(days, "days", COMPACT)
    is_number = np.abs(found.values) <= _LARGEST
    if is_number.all():
        return found
    is_missing = are_missing(cells)
    rows = np.flatnonzero(~is_number & ~is_missing)
    advice = f"correct them{advise_comma(cells, rows)}{_say_empty(cells, rows)}"
    refuse_cells(table, name, rows, advice)
    return replace(found, values=np.where(is_missing, np.nan, found.values))


def number_cells(cells: Cells) -> Array | None:
    """Return cells as float64, NaN where one is not a number, None where most are not."""
    if not is_text(cells):
        kinds = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
        return _as_floats(cells) if any(is_kind(cells.type) for is_kind in kinds) else None
    # Most cells decide, so that a slip such as 1,5 or n/a is refused and not taken for a category.
    is_number = compute.match_substring_regex(cells, NUMBER)
    if 2 * count_true(is_number) <= len(cells) - cells.null_count:
        return None
    numbers = keep_where(is_number, cells)
    try:
        return _as_floats(numbers)
    except pa.ArrowInvalid:  # 1e999, which Python reads as infinite
        return np.array([np.nan if c is None else float(c) for c in numbers.to_pylist()])


def read_amounts(table: Table, cells: Cells, asked: Collection[str]) -> Numbers | None:
    """Return numbers, with commas where these leave one meaning; None where most cells are none."""
    mark, decimal = "", None
    if is_text(cells):
        is_mark = hold(cells, (*NOTHING, *MAYBE))
        filled, mark = strip_marks(keep_where(compute.invert(is_mark), cells))
        # Marks that mean nothing are left to be counted with the others.
        cells = compute.coalesce(filled, cells)
        decimal = find_decimal(table, cells, asked)
    values = number_cells(plain_numbers(cells, decimal) if decimal else cells)
    return None if values is None else Numbers(values, form=decimal or "", mark=mark)


def _read_typed(cells: Cells) -> Numbers | None:
    if types.is_date(cells.type) or types.is_timestamp(cells.type):
        return Numbers(count_days(cells), "days")
    if types.is_duration(cells.type):
        spans = cells.cast(pa.duration("us"), safe=False).cast(pa.int64())
        return Numbers(_as_floats(spans) / MICROSECONDS)
    values = _as_floats(cells) if types.is_boolean(cells.type) else number_cells(cells)
    return None if values is None else Numbers(values)


def _read_text(table: Table, cells: Cells, asked: Collection[str]) -> Numbers | None:
    found = read_amounts(table, cells, asked)
    if found is not None:
        return found
    lowered = compute.utf8_lower(cells)
    is_true = compute.equal(lowered, "true")
    if compute.all(compute.or_(is_true, compute.equal(lowered, "false"))).as_py():
        return Numbers(_as_floats(is_true))
    dates = read_dates(cells, asked)
    return None if dates is None else Numbers(dates[0], "days", dates[1])


def _as_floats(cells: Cells) -> Array:
    numbers = cells.cast(pa.float64(), safe=False)
    return np.asarray(compute.fill_null(numbers, np.nan).to_numpy())


def _say_empty(cells: Cells, rows: Array) -> str:
    """Advise to take a text for nothing where it is the only one that is not a number."""
    found = set(cells.take(rows).to_pylist()) if is_text(cells) else set()
    text = found.pop() if len(found) == 1 else ","
    return "" if "," in text else f", say by data.empty={text} that such cells are missing"


def refuse_cells(table: Table, name: str, rows: Array, advice: str) -> None:
    """Refuse cells of a column that are not finite numbers, where there are any."""
    if len(rows):
        raise DGBError(
            f"cells of {name!r} that are not finite numbers, {len(rows):,} of "
            f"{table.content.num_rows:,}: {describe_rows(table, rows, name)}; {advice}, or leave "
            f"the column out with data.drop={name}"
        )


def advise_comma(cells: Cells, rows: Array) -> str:
    """Advise to say what commas mean where the first of some wrong cells has one."""
    has_comma = len(rows) and "," in str(cells[int(rows[0])])
    return ", say by data.decimal=comma or point what a comma means" if has_comma else ""


def no_feature(table: Table, name: str) -> DGBError:
    """Return the error of a column of a type that no feature is made of."""
    return DGBError(
        f"{table.source}: column {name!r} holds {table.content.column(name).type}, which is not a "
        f"feature; leave it out with data.drop={name}"
    )


def with_lists(table: Table, name: str) -> Table:
    """Return the table with lists in place of text such as [0.1, 0.2] or [0.1 0.2]."""
    cells = table.content.column(name)
    filled = cells.drop_null().slice(0, _LOOKED_AT) if is_text(cells) else []
    if not len(filled) or not compute.all(compute.match_substring_regex(filled, _LIST)).as_py():
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
