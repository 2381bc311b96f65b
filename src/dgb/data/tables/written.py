"""How people write numbers: 1,007 and 3,5, €1.200,50, 12 %, 180 cm, 1 000 and 1'000, (5) for −5."""

from collections.abc import Collection

import numpy as np
import pyarrow as pa
from pyarrow import compute

from dgb.data.tables.table import NUMBER, UNSEEN, Cells, Table, is_text

POINT, COMMA = "point", "comma"  # what stands before the decimals
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
COMPACT = "digits"  # of dates such as 20201231
FORMS = {  # and what is said of them
    POINT: "numbers such as 1,007 read as 1007",
    COMMA: "numbers such as 3,5 read as 3.5",
    DAY_FIRST: "dates such as 31/12/2020 read with the day first",
    MONTH_FIRST: "dates such as 12/31/2020 read with the month first",
    COMPACT: "whole numbers such as 20201231 read as dates",
}
_BY_POINT = r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$"
_BY_COMMA = r"^[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+),\d+([eE][+-]?\d+)?$"
_THOUSANDS = r"^[+-]?[1-9]\d{0,2}(\.\d{3})+$"  # 1.007, which is a thousand next to decimal commas
_DECIMALS = r"^[+-]?(0\.\d+|\d+\.(\d{1,2}|\d{4,}))$"  # what only a decimal point can be
_SIGN = r"[+\-\x{2212}]?"
_MONEY = r"\p{Sc}|[A-Z]{3}"
_MARKED = (
    rf"^(?P<before>{_SIGN}\s*(?:{_MONEY})|)\s*(?P<number>{_SIGN}\d[\d.,]*|\.\d+)\s*"
    r"(?P<after>%|\x{2030}|\p{Sc}|\p{L}[\p{L}\x{00b2}\x{00b3}/]{0,9}|\x{00b0}\p{L}?|)$"
)
_GROUPED = r"^(\D*[1-9]\d{0,2})(?:[ \x{00a0}\x{202f}'\x{2019}]\d{3})+(?:[.,]\d+)?\D*$"
_BETWEEN = r"(\d)[ \x{00a0}\x{202f}'\x{2019}](\d)"
_LOOKED_AT = 200
_NONE = pa.scalar("", pa.large_string())  # what is put between joined texts
_QUOTED = r"""^(?:='"|="|'|")([+-]?\d[\d.,]*)["']?$"""  # as spreadsheets keep text as it is
_ZERO = r"^0+([.,]0+)?$"
_NEGATIVE = r"^\((.*\d.*)\)$"  # as accountants write it

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
    cells = _rewrite(cells, _THOUSANDS, ((".", ""),))
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


def strip_marks(cells: Cells) -> tuple[Cells, str]:
    """Return text without the mark that stands at its numbers, and the mark; "" where none does.

    Only where all cells that have a mark have the same one, at least half of them do, of a mark of
    letters and of % all of them, and no cell is of another form.
    """
    head = cells.drop_null().slice(0, _LOOKED_AT)  # which tells it of most columns
    if compute.all(compute.match_substring_regex(head, NUMBER)).as_py():
        return cells, ""
    if not compute.all(compute.match_substring_regex(_plain_digits(head), _MARKED)).as_py():
        return cells, ""
    plain = _plain_digits(cells)
    parts = compute.extract_regex(plain, _MARKED)
    is_marked = np.asarray(parts.is_valid().to_numpy())
    if not is_marked.any() or not is_marked[np.asarray(cells.is_valid().to_numpy())].all():
        return plain, ""
    before, number, after = (
        compute.struct_field(parts, name) for name in ("before", "number", "after")
    )
    sign = compute.replace_substring_regex(before, r"[^-]", "")
    mark = compute.binary_join_element_wise(
        compute.replace_substring_regex(before, r"[-+\s]", ""), after, _NONE
    )
    marks = [text for text in compute.unique(mark.drop_null()).to_pylist() if text]
    shown = count_true(compute.fill_null(compute.not_equal(mark, ""), False))
    if len(marks) != 1:
        return plain, ""
    # 0.5 next to 50 % may be either, and 12a next to 14 is a house: only a zero needs no mark.
    bare = count_true(compute.and_(compute.equal(mark, ""), are_like(number, _ZERO)))
    is_all = marks[0][0].isalpha() or marks[0] in "%\u2030"
    if (shown + bare if is_all else 2 * shown) < is_marked.sum():
        return plain, ""
    joined = compute.binary_join_element_wise(sign, number, _NONE)
    return compute.if_else(pa.array(is_marked), joined, plain), marks[0]


def _plain_digits(cells: Cells) -> Cells:
    """Return text with - for −5, 5- and (5), without quotes and what stands between thousands."""
    text = compute.utf8_trim(compute.replace_substring(cells, "\u2212", "-"), UNSEEN)
    text = compute.replace_substring_regex(text, _QUOTED, r"\1")
    is_grouped = are_like(text, _GROUPED)
    if compute.any(is_grouped).as_py():
        joined = text
        for _ in range(2):  # 1 2 3: the middle one is part of two places
            joined = compute.replace_substring_regex(joined, _BETWEEN, r"\1\2")
        text = compute.if_else(is_grouped, joined, text)
    text = compute.replace_substring_regex(text, r"^(\d[\d.,]*)-$", r"-\1")
    return compute.replace_substring_regex(text, _NEGATIVE, r"-\1")
