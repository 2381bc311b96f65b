"""Columns that tell nothing of nodes, such as names of rows, or too much: the label itself."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from pyarrow import compute

from dgb.arrays import Array
from dgb.data.ids import find_positions
from dgb.data.tables.table import Cells, Table
from dgb.terminal import some

_LEAST = 20  # texts, or labelled nodes: fewer may be alike by chance
_MOST = 20  # values of a column, more of which single nodes out
_SURE = 0.99  # share of the labels that a column tells, from which on it is told
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
_DATED = re.compile(
    rf"(?:{_WEEKDAY}(?:{_DAY}|{_MONTH} \d\d?(?:st|nd|rd|th)?,? \d{{4}}){_TIME}|{_OF_YEAR}|"
    r"\d\d?:\d\d(?::\d\d)?)"
)


def is_noise(cells: Cells) -> bool:
    """Tell whether hardly any word of a column is in several texts, and not in nearly all."""
    texts = [set(re.findall(r"\w\w+", text.lower())) for text in _first_texts(cells)]
    counts = Counter(word for words in texts for word in words)
    telling = [count for count in counts.values() if count <= _COMMON * len(texts)]
    again = sum(count for count in telling if count > 1)
    return len(texts) > _LEAST and again < _RARE * max(sum(telling), len(texts))


def is_dated(cells: Cells) -> bool:
    """Tell whether most texts of a column are dates or times as people write them."""
    texts = _first_texts(cells)
    return 2 * sum(_DATED.fullmatch(text.lower()) is not None for text in texts) > len(texts)


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
