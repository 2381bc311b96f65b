"""The columns of x one by one: what each is called, and how its numbers were scaled."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dgb.data.encoding import Column, Encoding
from dgb.data.graph import Array
from dgb.errors import DGBError


@dataclass(frozen=True, eq=False)
class Columns:
    """One entry per column of x; x = (value - shift) / scale."""

    names: list[str]
    shift: Array
    scale: Array


def columns_of(encoding: Encoding) -> Columns:
    """Return the columns of x that an encoding describes."""
    columns = encoding.columns
    counts = [len(column.names()) for column in columns]
    shift = np.repeat([column.shift for column in columns], counts)
    scale = np.repeat([column.scale for column in columns], counts)
    return Columns(encoding.feature_names(), shift, scale)


def named_columns(names: Iterable[Any], scales: Array | None = None) -> Encoding:
    """Return the encoding of number columns with these names, scaled by [2, d] shifts and scales.

    Names are refused where two columns share one: the columns could not be told apart.
    """
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        twice = next(name for i, name in enumerate(texts) if name in texts[:i])
        raise DGBError(f"two feature columns are called {twice!r}; give each a name of its own")
    shift, scale = (np.zeros(len(texts)), np.ones(len(texts))) if scales is None else scales
    return Encoding(
        tuple(
            Column(name, shift=float(shift[i]), scale=float(scale[i]))
            for i, name in enumerate(texts)
        )
    )


def scales_of(encoding: Encoding) -> Array | None:
    """Return [2, d] shifts and scales by which x was made, None where it holds plain numbers."""
    columns = columns_of(encoding)
    is_plain = not columns.shift.any() and bool((columns.scale == 1).all())
    return None if is_plain else np.stack([columns.shift, columns.scale])


def names_of(names: Any, width: int, scales: Array | None = None) -> Encoding | None:
    """Return the encoding of as many named number columns, None where there are no names."""
    if names is None:
        return None
    names = [str(name) for name in names]
    if len(names) != width:
        raise DGBError(f"{len(names)} feature names for {width} feature columns; give one for each")
    if scales is not None and not _are_scales(scales, width):
        raise DGBError(f"`feature_scales` must be {width} shifts and as many scales, not 0")
    return named_columns(names, scales)


def _are_scales(scales: Array, width: int) -> bool:
    return scales.shape == (2, width) and bool(np.isfinite(scales).all() and scales[1].all())
