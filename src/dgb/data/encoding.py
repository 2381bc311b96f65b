"""What the feature columns are called and made of, so that another table is read the same way."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dgb.arrays import Array
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
    form: str = ""  # number: how text was read that may be read in two ways
    mark: str = ""  # number: what stood at every number, such as €, % or cm
    fill: tuple[float, ...] = ()  # number: what is put for a missing cell; none refuses it
    flag: bool = False  # number: a last column is 1 where the cell is missing

    def names(self) -> list[str]:
        """Return the names of the feature columns that this column becomes."""
        if self.kind == "category":
            return [f"{self.name}={level}" for level in self.levels]
        names = [f"{self.name}#{i}" for i in range(self.width)] or [self.name]
        return [*names, f"{self.name}=missing"] if self.flag else names

    def scales(self) -> list[tuple[float, float]]:
        """Return shift and scale of each of these feature columns."""
        pairs = [(self.shift, self.scale)] * (len(self.names()) - self.flag)
        return [*pairs, (0.0, 1.0)] if self.flag else pairs


@dataclass(frozen=True)
class Encoding:
    """All columns in the order of x; `structure` where x was made of the edges instead."""

    columns: tuple[Column, ...] = ()
    structure: str = ""

    def feature_names(self) -> list[str]:
        """Return a name for every column of x."""
        return [name for column in self.columns for name in column.names()]

    def scales(self) -> Array:
        """Return [2, d]: shift and scale of every column of x = (value - shift) / scale."""
        pairs = [pair for column in self.columns for pair in column.scales()]
        return np.array(pairs, float).reshape(-1, 2).T


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
            Column(**column | {key: tuple(column.get(key, ())) for key in ("levels", "fill")})
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
    numbers = (column.shift, column.scale, *column.fill)
    are_numbers = all(isinstance(n, int | float) and math.isfinite(n) for n in numbers)
    is_width = isinstance(column.width, int) and 0 <= column.width <= _WIDEST
    texts = (column.name, column.unit, column.form, column.mark, *column.levels)
    are_texts = all(isinstance(text, str) for text in texts)
    is_fill = len(column.fill) in (0, column.width or 1) and isinstance(column.flag, bool)
    return are_texts and are_numbers and column.scale != 0 and is_width and is_fill


def named_columns(names: Iterable[Any], scales: Array | None = None) -> Encoding:
    """Return the encoding of number columns with these names, scaled by [2, d] shifts and scales.

    Names are refused where two columns share one: the columns could not be distinguished.
    """
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        twice = next(name for i, name in enumerate(texts) if name in texts[:i])
        raise DGBError(f"two feature columns are called {twice!r}; give each a name of its own")
    shift, scale = (np.zeros(len(texts)), np.ones(len(texts))) if scales is None else scales
    triples = zip(texts, shift.tolist(), scale.tolist(), strict=True)
    return Encoding(tuple(Column(name, shift=low, scale=size) for name, low, size in triples))


def scales_of(encoding: Encoding) -> Array | None:
    """Return [2, d] shifts and scales by which x was made, None where it holds plain numbers."""
    scales = encoding.scales()
    return None if (scales == [[0], [1]]).all() else scales


def names_of(names: Any, width: int, scales: Array | None = None) -> Encoding | None:
    """Return the encoding of as many named number columns, None where there are no names."""
    if names is None:
        return None
    names = [str(name) for name in names]
    if len(names) != width:
        raise DGBError(f"{len(names)} feature names for {width} feature columns; give one for each")
    if scales is not None and not (
        scales.shape == (2, width) and np.isfinite(scales).all() and scales[1].all()
    ):
        raise DGBError(f"`feature_scales` must be {width} shifts and as many scales, not 0")
    return named_columns(names, scales)
