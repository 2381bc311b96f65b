"""Marks around numbers: €1.200,50, 12 %, 180 cm, 1 000 and 1'000, (5) for −5."""

import numpy as np
import pyarrow as pa
from pyarrow import compute

from dgb.data.tables.table import NUMBER, Cells

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
_NEGATIVE = r"^\((.*\d.*)\)$"  # as accountants write it


def strip_marks(cells: Cells) -> tuple[Cells, str]:
    """Return text without the mark that stands at its numbers, and the mark; "" where none does.

    Only where all cells that have a mark have the same one, at least half of them do, of a mark of
    letters all of them (12a and 14 are houses), and no cell is of another form.
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
    shown = int(compute.sum(compute.not_equal(mark, "")).as_py() or 0)
    if len(marks) != 1 or shown * (1 if marks[0][0].isalpha() else 2) < is_marked.sum():
        return plain, ""
    joined = compute.binary_join_element_wise(sign, number, _NONE)
    return compute.if_else(pa.array(is_marked), joined, plain), marks[0]


def _plain_digits(cells: Cells) -> Cells:
    """Return text with - for −5 and (5), and without what stands between thousands."""
    text = compute.replace_substring(cells, "\u2212", "-")
    is_grouped = compute.fill_null(compute.match_substring_regex(text, _GROUPED), False)
    if compute.any(is_grouped).as_py():
        joined = text
        for _ in range(2):  # 1 2 3: the middle one is part of two places
            joined = compute.replace_substring_regex(joined, _BETWEEN, r"\1\2")
        text = compute.if_else(is_grouped, joined, text)
    return compute.replace_substring_regex(text, _NEGATIVE, r"-\1")
