"""How people write numbers and dates: 1,007 and 3,5, 31.12.2020 and 12/31/2020."""

from collections.abc import Collection

import numpy as np
import pyarrow as pa
from pyarrow import compute

from dgb.arrays import Array
from dgb.data.tables.table import NUMBER, Cells, Table, is_text, keep_where

POINT, COMMA = "point", "comma"  # what stands before the decimals
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
FORMS = {  # and what is told of them
    POINT: "numbers such as 1,007 read as 1007",
    COMMA: "numbers such as 3,5 read as 3.5",
    DAY_FIRST: "dates such as 31/12/2020 read with the day first",
    MONTH_FIRST: "dates such as 12/31/2020 read with the month first",
}
_BY_POINT = r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$"
_BY_COMMA = r"^[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+),\d+$"
_GROUPED = r"^[+-]?[1-9]\d{0,2}(\.\d{3})+$"  # 1.007, which is a thousand next to decimal commas
_DECIMALS = r"^[+-]?(0\.\d+|\d+\.(\d{1,2}|\d{4,}))$"  # what only a decimal point can be
_FEW = 3  # cells from which commas are no slip, though most cells have none
_TIME = r"(?:[T ](?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d))?)?$"
_YEAR_FIRST = r"^(?P<year>\d{4})[/.](?P<month>\d\d?)[/.](?P<day>\d\d?)" + _TIME
_DOTTED = r"^(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4})" + _TIME
_OTHER = r"^\d{1,4}[./-]\d\d?[./-]\d{1,4}(?:$|[T ])"  # any of these, and some of ISO's
_SLASHED = r"^(?P<{}>\d\d?)[/-](?P<{}>\d\d?)[/-](?P<year>\d{{4}})" + _TIME


def find_decimal(table: Table, cells: Cells, asked: Collection[str]) -> str | None:
    """Return what stands before the decimals of text with commas; "" where that is not clear.

    None where cells have no commas, or so few that they may be slips.
    """
    if not compute.any(compute.match_substring(cells, ",")).as_py():
        return None  # as most columns are: looked for in a tenth of the time
    is_point, is_comma = (_match(cells, form) for form in (_BY_POINT, _BY_COMMA))
    commas, plain = _count(compute.or_(is_point, is_comma)), _count(_match(cells, NUMBER))
    filled = len(cells) - cells.null_count
    is_slip = (
        commas < _FEW and 2 * commas <= filled and not _count(compute.and_not(is_point, is_comma))
    )
    if not commas or is_slip or 2 * (commas + plain) <= filled:
        return None
    found = [form for form in (POINT, COMMA) if form in asked] or _evidence(cells)
    if not found:  # other columns are written by the same program
        others = [column for column in table.content.columns if is_text(column)]
        found = sorted({form for column in others for form in _evidence(column)})
    return found[0] if len(found) == 1 else ""


def _evidence(cells: Cells) -> list[str]:
    """Return what the cells of a column can only have before their decimals."""
    is_point, is_comma = (_match(cells, form) for form in (_BY_POINT, _BY_COMMA))
    only_comma = _count(compute.and_not(is_comma, is_point))
    only_point = _count(compute.and_not(is_point, is_comma)) + _count(_match(cells, _DECIMALS))
    if not only_comma and _count(is_point) >= _FEW:
        # Numbers below a thousand without a comma: decimals would have one there too.
        small, large = (_count(_match(cells, form)) for form in (r"^\d{1,3}$", r"^\d{4,}$"))
        only_point += small if not large else 0
    return [form for form, count in ((POINT, only_point), (COMMA, only_comma)) if count]


def plain_numbers(cells: Cells, decimal: str) -> Cells:
    """Return text with a decimal point and no other mark, where cells are written with commas."""
    if decimal == POINT:
        return _rewrite(cells, _BY_POINT, ((",", ""),))
    cells = _rewrite(cells, _GROUPED, ((".", ""),))
    return _rewrite(cells, _BY_COMMA, ((".", ""), (",", ".")))


def _rewrite(cells: Cells, form: str, changes: tuple[tuple[str, str], ...]) -> Cells:
    changed = cells
    for old, new in changes:
        changed = compute.replace_substring(changed, old, new)
    return compute.if_else(_match(cells, form), changed, cells)


def has_other_dates(cells: Cells) -> bool:
    """Tell whether there are cells such as 31.12.2020, which are not ISO's dates."""
    return _count(compute.and_not(_match(cells, _OTHER), _match(cells, r"^\d{4}-"))) > 0


def find_order(cells: Cells, asked: Collection[str]) -> str:
    """Return whether 05/06/2020 has its day or its month first; "" where nothing tells."""
    parts = compute.extract_regex(cells, _SLASHED.format("one", "two")).drop_null()
    if not len(parts):
        return ""
    one, two = (_integers(parts, name) > 12 for name in ("one", "two"))
    given = [form for form in (DAY_FIRST, MONTH_FIRST) if form in asked]
    found = [form for form, is_such in ((DAY_FIRST, one), (MONTH_FIRST, two)) if is_such.any()]
    return (given or found)[0] if given or len(found) == 1 else ""


def is_slashed(cells: Cells) -> bool:
    """Tell whether most cells are such as 05/06/2020."""
    count = _count(_match(cells, _SLASHED.format("one", "two")))
    return 2 * count > len(cells) - int(cells.null_count)


def read_days(cells: Cells, order: str) -> tuple[Array, Array]:
    """Return the days since 1970 of dates that are not ISO's, and which cells are written so."""
    names = ("day", "month") if order == DAY_FIRST else ("month", "day")
    forms = [_YEAR_FIRST, _DOTTED] + ([_SLASHED.format(*names)] if order else [])
    days, is_date = np.full(len(cells), np.nan), np.zeros(len(cells), bool)
    for form in forms:
        parts = compute.extract_regex(cells, form)
        rows = np.flatnonzero(np.asarray(parts.is_valid().to_numpy()))
        if len(rows):
            days[rows], is_date[rows] = _count_days(parts.drop_null()), True
    return days, is_date


def _count_days(parts: Cells) -> Array:
    """Return days since 1970, NaN for a 31st of June."""
    year, month, day = (_integers(parts, name) for name in ("year", "month", "day"))
    hour, minute, second = (_integers(parts, name) for name in ("hour", "minute", "second"))
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    dates = months.astype("datetime64[D]") + (day - 1)
    is_day = (month >= 1) & (month <= 12) & (day >= 1) & (dates.astype("datetime64[M]") == months)
    is_time = (hour < 24) & (minute < 60) & (second < 61)
    found = dates.astype(np.int64) + (3600 * hour + 60 * minute + second) / 86_400
    return np.where(is_day & is_time, found, np.nan)


def _integers(parts: Cells, name: str) -> Array:
    texts = compute.struct_field(parts, name)
    texts = keep_where(compute.not_equal(texts, ""), texts)
    return np.asarray(compute.fill_null(texts.cast(pa.int64()), 0).to_numpy())


def _match(cells: Cells, form: str) -> Cells:
    return compute.fill_null(compute.match_substring_regex(cells, form), False)


def _count(is_such: Cells) -> int:
    return int(compute.sum(is_such).as_py() or 0)
