"""What is noted of columns: how they were read, and what they may be instead of what they seem.

Some tell nothing of nodes, such as names of rows, or too much: the label itself.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from pyarrow import compute

from dgb.arrays import Array
from dgb.data.encoding import Column
from dgb.data.ids import find_positions
from dgb.data.tables.dates import find_order, is_slashed
from dgb.data.tables.numbers import number_cells
from dgb.data.tables.table import Cells, Table, is_text
from dgb.data.tables.written import FORMS, find_decimal
from dgb.recipe import Data
from dgb.terminal import some

_LEAST = 20  # texts, or labelled nodes: fewer may be alike by chance
_MOST = 20  # values of a column, more of which single nodes out
_SURE = 0.99  # share of the labels that a column tells, from which on it is noted
_LARGEST = 0.9  # share of the largest class, from which on anything tells the label
_COUNTED = 2000  # texts of a column that are looked at
_RARE, _COMMON = 0.1, 0.9  # shares of words that several texts have, and of texts that have a word
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_TIME = (
    r"[ ,T]*(?:\d\d?:\d\d(?::\d\d(?:\.\d+)?)?)? *(?:[ap]\.?m\.?)? *(?:z|utc|gmt|[+-]\d\d:?\d\d)?"
)
_DAY = rf"\d{{1,4}}[-./]\d\d?[-./]\d{{1,4}}|\d\d?[ -.]+{_MONTH}[ -.,]+\d{{2,4}}"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[., ]+)?"
_OF_YEAR = rf"\d{{4}}[-/]\d\d|\d\d[-/]\d{{4}}|{_MONTH}[. ]+\d{{4}}|\d{{8}}t\d{{4,6}}z?"
_TOTALS = ("total", "totals", "grand total", "sum", "summe", "gesamt", "all")
_DRAWN = ("r", "g", "b", "alpha", "x", "y", "z", "size")  # by Gephi
# Last words of columns whose numbers mostly name something, and measure nothing.
_NAMING = ("id", "ids", "key", "code", "no", "nr", "number", "zip", "plz", "postcode", "phone")
_PLAIN = "write such as 2020-12-31 10:30, or leave the column out"
_DIGITS = re.compile(r"[^\w]*\d[\d\W]*[^\W\d_]{0,3}")
_DATED = re.compile(
    rf"(?:{_WEEKDAY}(?:{_DAY}|{_MONTH} \d\d?(?:st|nd|rd|th)?,? \d{{4}}){_TIME}|{_OF_YEAR}|"
    r"\d\d?:\d\d(?::\d\d)?)"
)


Remarks = Iterator[tuple[str, list[str]]]  # what was done, and the columns that it was done to


def _such(texts: dict[str, Cells], names: list[str], is_such: Callable[[Cells], bool]) -> list[str]:
    return [name for name in names if name in texts and is_such(texts[name])]


def tell_columns(table: Table, columns: Sequence[Column], reading: Data) -> Remarks:
    """Yield how columns were read, and which of them may not be what they seem."""
    for kind, what in (("category", "categories"), ("words", "words")):
        yield f"text read as {what}", [c.name for c in columns if c.kind == kind]
    for form, what in FORMS.items():
        yield what, [c.name for c in columns if c.form == form]
    marked = [f"{c.name} ({c.mark})" for c in columns if c.mark]
    yield "numbers read without what stands at them", marked
    texts = {c.name: table.content.column(c.name) for c in columns if c.kind != "number"}
    texts = {name: cells for name, cells in texts.items() if is_text(cells)}
    asked = (reading.decimal, reading.dates)
    yield (
        "numbers with a comma read as text; say by data.decimal=comma or point what it means",
        [name for name, cells in texts.items() if find_decimal(table, cells, asked) == ""],
    )
    words = [c.name for c in columns if c.kind == "words"]
    yield "text that looks like dates, read as words; " + _PLAIN, _such(texts, words, _is_dated)
    digits = [n for n in _such(texts, words, _is_digits) if not _is_dated(texts[n])]
    advice = "write plain numbers, or leave the column out"
    yield f"text of digits that are no plain numbers, read as words; {advice}", digits
    noise = _such(texts, words, _is_noise)
    advice = f"say data.drop={','.join(noise)} if they only name the rows"
    yield f"columns of words that hardly occur twice tell nothing of nodes; {advice}", noise
    yield from _tell_names(table, columns)
    yield (
        "dates read as text; say by data.dates=day-first or month-first what comes first",
        [n for n, cells in texts.items() if is_slashed(cells) and not find_order(cells, asked)],
    )


def _tell_names(table: Table, columns: Sequence[Column]) -> Remarks:
    used = {column.name for column in columns}
    ids = next((name for name in table.names if name not in used), "")
    numbers = [c.name for c in columns if c.kind == "number" and not c.width and not c.unit]
    named = [name for name in numbers if _names_things(table, name, ids)]
    advice = f"say data.drop={','.join(named)}, or data.categories=… for those of few values"
    yield f"numbers that seem to name something or to count the rows; {advice}", named


def _is_noise(cells: Cells) -> bool:
    """Tell whether hardly any word of a column is in several texts, and not in nearly all."""
    texts = [set(re.findall(r"\w\w+", text.lower())) for text in _first_texts(cells)]
    counts = Counter(word for words in texts for word in words)
    telling = [count for count in counts.values() if count <= _COMMON * len(texts)]
    again = sum(count for count in telling if count > 1)
    return len(texts) > _LEAST and again < _RARE * max(sum(telling), len(texts))


def _is_dated(cells: Cells) -> bool:
    """Tell whether most texts of a column are dates or times as people write them."""
    texts = _first_texts(cells)
    return 2 * sum(_DATED.fullmatch(text.lower()) is not None for text in texts) > len(texts)


def _is_digits(cells: Cells) -> bool:
    """Tell whether most texts of a column are digits with marks, such as 5 ± 2, 3-4 and 1.2k."""
    texts = _first_texts(cells)
    return 2 * sum(_DIGITS.fullmatch(text) is not None for text in texts) > len(texts)


def _names_things(table: Table, name: str, ids: str) -> bool:
    """Tell whether whole numbers seem to name something, or only to count the rows."""
    cells = table.content.column(name)
    if ids and cells.equals(table.content.column(ids)):
        return True
    numbers = number_cells(cells.slice(0, _COUNTED))
    if numbers is None or not np.isfinite(numbers).all() or (numbers % 1).any():
        return False
    counts_rows = len(numbers) >= _LEAST and bool((np.diff(numbers) == 1).all())
    words = re.findall(r"[^\W\d_A-Z]+|[A-Z]+[^\W\d_A-Z]*", name)
    return counts_rows or bool(words and words[-1].lower() in _NAMING)


def note_drawing(table: Table, names: Sequence[str]) -> list[str]:
    """Return a note where columns are how a program has drawn the graph."""
    lowered = {name.lower(): name for name in names}
    found = [name for name in names if re.match(r"viz(?:$|[^a-z])", name.lower())]
    if {"r", "g", "b", "x", "y"} <= set(lowered):
        found += [lowered[name] for name in _DRAWN if name in lowered]
    if not found:
        return []
    note = f"{table.source}: columns that are features may be how the graph was drawn"
    return [f"{note}: {some(found, 10)}; if so, leave them out with data.drop={','.join(found)}"]


def note_total(table: Table, id_name: str) -> list[str]:
    """Return a note where the last row seems to sum up the others."""
    count = table.content.num_rows
    last = str(table.content.column(id_name)[count - 1].as_py()) if count else ""
    if last.lower() not in _TOTALS:
        return []
    return [f"{table.place(count - 1)}: {last!r} is read as a node; remove the row if it is a sum"]


def _first_texts(cells: Cells) -> list[str]:
    return [str(text) for text in cells.drop_null().slice(0, _COUNTED).to_pylist()]


def note_leaks(table: Table, names: Sequence[str], labels: Array | None) -> list[str]:
    """Return a note where columns tell nearly all labels; `labels` are of the rows, -1 unknown."""
    known = np.flatnonzero(labels >= 0) if labels is not None else np.array([], int)
    if labels is None or len(known) < _LEAST:
        return []
    y = np.unique(labels[known], return_inverse=True)[1]
    if np.bincount(y).max() > _LARGEST * len(y):
        return []
    found = list(_find_leaks(table, names, known, y))
    if not found:
        return []
    return [
        f"{table.source}: columns that are features tell the label of nearly every node: "
        f"{some(found)}; if they were made of it, leave them out with data.drop={','.join(found)}"
    ]


def _find_leaks(table: Table, names: Sequence[str], known: Array, y: Array) -> Iterator[str]:
    for name in names:
        cells = table.content.column(name).take(known)
        try:
            values = compute.unique(cells)
            places = find_positions(cells, values)
        except NotImplementedError:  # of lists
            continue
        if not 2 <= len(values) <= max(_MOST, 2 * (int(y.max()) + 1)):
            continue
        counts = np.zeros((len(values) + 1, int(y.max()) + 1), np.int64)
        np.add.at(counts, (places, y), 1)
        if counts.max(axis=1).sum() >= _SURE * len(y):
            yield name
