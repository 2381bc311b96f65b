"""What the feature columns are called and made of, so that another table is read the same way."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dgb.errors import DGBError

KINDS = ("number", "category", "words")
_WIDEST = 10_000_000  # columns of x that one column of a table may become


@dataclass(frozen=True)
class Column:
    """One column of a table of nodes, and how it becomes columns of x."""

    name: str
    kind: str = "number"  # one of KINDS
    shift: float = 0.0  # number: (value - shift) / scale
    scale: float = 1.0
    levels: tuple[str, ...] = ()  # category: a column of zeros and ones for each
    unit: str = ""  # number: "days" where the cells are dates
    width: int = 0  # words: columns that they are hashed to; number: length of a vector, 0 for one

    def names(self) -> list[str]:
        """Return the names of the feature columns that this column becomes."""
        if self.kind == "category":
            return [f"{self.name}={level}" for level in self.levels]
        return [f"{self.name}#{i}" for i in range(self.width)] or [self.name]


@dataclass(frozen=True)
class Encoding:
    """All columns in the order of x; `structure` where x was made of the edges instead."""

    columns: tuple[Column, ...] = ()
    structure: str = ""

    def feature_names(self) -> list[str]:
        """Return a name for every column of x."""
        return [name for column in self.columns for name in column.names()]


def plain_encoding(encoding: Encoding) -> dict[str, Any]:
    """Return an encoding as plain values for a TOML file, without what has its default."""
    empty = asdict(Column(""))
    columns = [
        {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(c).items() if v != empty[k]}
        for c in encoding.columns
    ]
    return {"structure": encoding.structure, "columns": columns}


def encoding_from(values: Mapping[str, Any]) -> Encoding:
    """Return the encoding of plain values, refusing what no encoding has."""
    try:
        columns = tuple(
            Column(**{**column, "levels": tuple(column.get("levels", ()))})
            for column in values["columns"]
        )
        encoding = Encoding(columns, values["structure"])
    except (KeyError, TypeError, AttributeError) as error:
        raise DGBError(f"not a description of feature columns ({error}); train again") from None
    if any(column.kind not in KINDS for column in columns):
        raise DGBError(f"a feature column must be one of {', '.join(KINDS)}; upgrade dgb")
    for column in columns:
        if not _is_sound(column):
            raise DGBError(f"the description of column {column.name!r} is damaged; train again")
    return encoding


def _is_sound(column: Column) -> bool:
    numbers = (column.shift, column.scale)
    are_numbers = all(isinstance(n, int | float) and math.isfinite(n) for n in numbers)
    is_width = isinstance(column.width, int) and 0 <= column.width <= _WIDEST
    are_texts = all(isinstance(text, str) for text in (column.name, column.unit, *column.levels))
    return are_texts and are_numbers and column.scale != 0 and is_width
