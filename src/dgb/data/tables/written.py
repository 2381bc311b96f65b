"""How people write numbers with commas, 1,007 and 3,5, and what is told of forms that were read."""

from collections.abc import Collection

from pyarrow import compute

from dgb.data.tables.table import NUMBER, Cells, Table, is_text

POINT, COMMA = "point", "comma"  # what stands before the decimals
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
COMPACT = "digits"  # of dates such as 20201231
FORMS = {  # and what is told of them
    POINT: "numbers such as 1,007 read as 1007",
    COMMA: "numbers such as 3,5 read as 3.5",
    DAY_FIRST: "dates such as 31/12/2020 read with the day first",
    MONTH_FIRST: "dates such as 12/31/2020 read with the month first",
    COMPACT: "whole numbers such as 20201231 read as dates",
}
_BY_POINT = r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$"
_BY_COMMA = r"^[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+),\d+$"
_GROUPED = r"^[+-]?[1-9]\d{0,2}(\.\d{3})+$"  # 1.007, which is a thousand next to decimal commas
_DECIMALS = r"^[+-]?(0\.\d+|\d+\.(\d{1,2}|\d{4,}))$"  # what only a decimal point can be
_FEW = 3  # cells from which commas are no slip, though most cells have none


def find_decimal(table: Table, cells: Cells, asked: Collection[str]) -> str | None:
    """Return what stands before the decimals of text with commas; "" where that is not clear.

    None where cells have no commas, or so few that they may be slips.
    """
    if not compute.any(compute.match_substring(cells, ",")).as_py():
        return None  # as most columns are: looked for in a tenth of the time
    is_point, is_comma = (are_like(cells, form) for form in (_BY_POINT, _BY_COMMA))
    commas, plain = count_true(compute.or_(is_point, is_comma)), count_true(are_like(cells, NUMBER))
    filled = len(cells) - cells.null_count
    none_else = not count_true(compute.and_not(is_point, is_comma))
    is_slip = commas < _FEW and 2 * commas <= filled and none_else
    if not commas or is_slip or 2 * (commas + plain) <= filled:
        return None
    found = [form for form in (POINT, COMMA) if form in asked] or _evidence(cells)
    if not found:  # other columns are written by the same program
        others = [column for column in table.content.columns if is_text(column)]
        found = sorted({form for column in others for form in _evidence(column)})
    return found[0] if len(found) == 1 else ""


def _evidence(cells: Cells) -> list[str]:
    """Return what the cells of a column can only have before their decimals."""
    is_point, is_comma = (are_like(cells, form) for form in (_BY_POINT, _BY_COMMA))
    only_comma = count_true(compute.and_not(is_comma, is_point))
    only_point = count_true(compute.and_not(is_point, is_comma)) + count_true(
        are_like(cells, _DECIMALS)
    )
    if not only_comma and count_true(is_point) >= _FEW:
        # Numbers below a thousand without a comma: decimals would have one there too.
        small, large = (count_true(are_like(cells, form)) for form in (r"^\d{1,3}$", r"^\d{4,}$"))
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
    return compute.if_else(are_like(cells, form), changed, cells)


def are_like(cells: Cells, form: str) -> Cells:
    """Tell which cells match an expression; empty ones do not."""
    return compute.fill_null(compute.match_substring_regex(cells, form), False)


def count_true(is_such: Cells) -> int:
    """Count the cells that something is true of."""
    return int(compute.sum(is_such).as_py() or 0)
