"""Texts whose words tell nothing of nodes: names of rows, and dates in words."""

import re
from collections import Counter

from dgb.data.tables.table import Cells

_LEAST, _COUNTED = 20, 2000  # texts of a column that are looked at
_RARE, _COMMON = 0.1, 0.9  # shares of words that several texts have, and of texts that have a word
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_TIME = (
    r"[ ,T]*(?:\d\d?:\d\d(?::\d\d(?:\.\d+)?)?)? *(?:[ap]\.?m\.?)? *(?:z|utc|gmt|[+-]\d\d:?\d\d)?"
)
_DAY = rf"\d{{1,4}}[-./]\d\d?[-./]\d{{1,4}}|\d\d?[ -.]+{_MONTH}[ -.,]+\d{{2,4}}"
_DATED = re.compile(
    rf"(?:(?:{_DAY}|{_MONTH} \d\d?(?:st|nd|rd|th)?,? \d{{4}}){_TIME}|\d\d?:\d\d(?::\d\d)?)"
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
