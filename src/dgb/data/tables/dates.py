"""Dates as people write them: 2020-12-31, 31.12.2020, 12/31/2020, 31 Dec 2020, 20201231."""

from collections.abc import Collection
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
from pyarrow import compute

from dgb.arrays import Array
from dgb.data.tables.table import Cells, keep_where
from dgb.data.tables.written import COMPACT, DAY_FIRST, MONTH_FIRST, are_like, count_true

_ISO = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$"
MICROSECONDS = 86_400_000_000  # of a day
_LEAST = 10  # cells from which 20201231 is no number by chance
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_TIME = (
    r"(?:,?[T ](?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
    r"(?: ?(?P<half>[APap])\.?[Mm]\.?)?)?$"
)
_DAY, _YEAR = r"(?P<day>\d\d?)(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY = r"(?i)^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? )?"
_NAMED = (
    rf"{_WEEKDAY}{_DAY}\.?[ ./-]?(?:of )?{_MONTH},?[ ./-]{_YEAR}{_TIME}",
    rf"{_WEEKDAY}{_MONTH}[ ./-]?{_DAY},?[ ./-]{_YEAR}{_TIME}",
    rf"{_WEEKDAY}{_YEAR}[ ./-]{_MONTH}[ ./-]{_DAY}{_TIME}",
)
_HAS_NAME = rf"{_WEEKDAY}(?:\d{{1,4}}[a-z]{{0,2}}\.?[ ./-]?(?:of )?)?{_MONTH},?[ ./-]?\d"
_YEAR_FIRST = rf"^{_YEAR}[/.](?P<month>\d\d?)[/.](?P<day>\d\d?){_TIME}"
_DOTTED = rf"^(?P<day>\d\d?)\.(?P<month>\d\d?)\.{_YEAR}{_TIME}"
_OTHER = r"^\d{1,4}[./-]\d\d?[./-]\d{1,4}(?:$|[T ,])"  # any of these, and some of ISO's
_SLASHED = r"^(?P<{}>\d\d?)[/-](?P<{}>\d\d?)[/-](?P<year>\d{{4}})" + _TIME


def read_dates(cells: Cells, asked: Collection[str]) -> tuple[Array, str] | None:
    """Return the days since 1970 of cells of text, and which part of them comes first.

    None where most cells are no dates; those that are none are NaN.
    """
    order, days, is_other = "", np.zeros(len(cells)), np.zeros(len(cells), bool)
    if _has_other(cells):
        order = find_order(cells, asked)
        days, is_other = _read_days(cells, order)
    is_iso = are_like(cells, _ISO)
    if 2 * int(np.sum(is_other | np.asarray(is_iso.to_numpy()))) <= len(cells) - cells.null_count:
        return None
    return np.where(is_other, days, _iso_days(keep_where(is_iso, cells))), order


def read_digits(values: Array, asked: Collection[str]) -> Array | None:
    """Return the days of whole numbers such as 20201231; None where any of them is no date.

    In a table to learn from there have to be several.
    """
    if not {"auto", COMPACT} & {*asked}:
        return None
    known = values[~np.isnan(values)]
    if len(known) < (1 if COMPACT in asked else _LEAST):
        return None
    if known.min() < 19_000_101 or known.max() > 20_991_231 or (known % 1).any():
        return None
    whole = known.astype(np.int64)
    found = np.full(len(values), np.nan)
    found[~np.isnan(values)] = days = _find_days(whole // 10_000, whole // 100 % 100, whole % 100)
    return None if np.isnan(days).any() else found


def count_days(cells: Cells) -> Array:
    """Return days since 1970 of a column of dates or moments, NaN where there is none."""
    zone = getattr(cells.type, "tz", None)
    moments = cells.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64())
    days = compute.fill_null(moments.cast(pa.float64(), safe=False), np.nan)
    return np.asarray(days.to_numpy()) / MICROSECONDS


def are_dates(cells: Cells) -> bool:
    """Tell whether all cells of text are dates such as 2020-12-31, 31.12.2020 or 31 Dec 2020."""
    is_iso = compute.match_substring_regex(cells, _ISO)
    return bool((_read_days(cells, "")[1] | np.asarray(is_iso.to_numpy())).all())


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
    count = count_true(are_like(cells, _SLASHED.format("one", "two")))
    return 2 * count > len(cells) - int(cells.null_count)


def _has_other(cells: Cells) -> bool:
    """Tell whether there are cells such as 31.12.2020 or 31 Dec 2020, which are not ISO's dates."""
    is_other = compute.and_not(are_like(cells, _OTHER), are_like(cells, r"^\d{4}-"))
    return count_true(is_other) > 0 or count_true(are_like(cells, _HAS_NAME)) > 0


def _read_days(cells: Cells, order: str) -> tuple[Array, Array]:
    """Return the days since 1970 of dates that are not ISO's, and which cells are written so."""
    names = ("day", "month") if order == DAY_FIRST else ("month", "day")
    forms = [_YEAR_FIRST, _DOTTED, *_NAMED] + ([_SLASHED.format(*names)] if order else [])
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
    half = compute.utf8_lower(compute.struct_field(parts, "half"))
    is_half = np.asarray(compute.not_equal(half, "").to_numpy())
    is_late = np.asarray(compute.equal(half, "p").to_numpy())
    hour = np.where(is_half & (hour <= 12), hour % 12 + 12 * is_late, hour)  # 12 am is 0 o'clock
    is_time = (hour < 24) & (minute < 60) & (second < 61)
    time = np.where(is_time, (3600 * hour + 60 * minute + second) / 86_400, np.nan)
    return _find_days(year, month, day) + time


def _find_days(year: Array, month: Array, day: Array) -> Array:
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    dates = months.astype("datetime64[D]") + (day - 1)
    is_day = (month >= 1) & (month <= 12) & (day >= 1) & (dates.astype("datetime64[M]") == months)
    return np.where(is_day, dates.astype(np.int64), np.nan)


def _integers(parts: Cells, name: str) -> Array:
    """Return a part of dates as numbers: of months by their names as well, and 0 where none is."""
    texts = compute.struct_field(parts, name)
    if name == "month" and count_true(are_like(texts, "^[A-Za-z]")):
        short = compute.utf8_slice_codeunits(compute.utf8_lower(texts), 0, 3)
        found = compute.index_in(short, value_set=pa.array(_MONTHS, short.type))
        return np.asarray(found.to_numpy(), dtype=np.int64) + 1
    texts = keep_where(compute.not_equal(texts, ""), texts)
    return np.asarray(compute.fill_null(texts.cast(pa.int64()), 0).to_numpy())


def _iso_days(dates: Cells) -> Array:
    for zone in (None, "UTC"):
        try:
            return count_days(dates.cast(pa.timestamp("us", zone)))
        except pa.ArrowInvalid:
            continue
    # Some with a zone and some without, or a 31st of June: one by one.
    return np.array([_iso_day(cell) for cell in dates.to_pylist()])


def _iso_day(cell: str | None) -> float:
    try:
        moment = datetime.fromisoformat(cell or "")
    except ValueError:
        return np.nan
    return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1e6 / MICROSECONDS
