"""Arrays as the page holds them: base64 with a type, every text once, numbers in steps."""

import base64
import re
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.run.map_columns import COLUMN, MOST

STEPS = 2**16 - 1  # positions, similarities and numbers are distinguished this finely
LONGEST = 80  # characters of a name or a value of a user's column


def pack(values: Array) -> dict[str, str]:
    """Return an array as base64 with its type: little-endian, row after row."""
    data = np.ascontiguousarray(values)
    return {"type": data.dtype.str[1:], "base64": base64.b64encode(data.tobytes()).decode()}


def encode(texts: list[str | None]) -> dict[str, Any]:
    """Return the names that occur, in order, and a number a row: 0 is none, else 1 + the name's."""
    names = sorted({text for text in texts if text is not None}, key=lambda t: (_natural(t), t))
    code: dict[str | None, int] = {name: number for number, name in enumerate(names, 1)}
    kind = "<u1" if len(names) < 2**8 else "<u2" if len(names) < STEPS else "<u4"
    codes = np.array([0 if text is None else code[text] for text in texts], kind)
    return {"names": names, "codes": pack(codes)}


def quantize(values: Array) -> dict[str, Any]:
    """Return numbers in equal steps from the lowest to the highest."""
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    size = (high - low) or 1.0
    steps = np.rint((values - low) / size * STEPS).astype("<u2")
    return {"low": low, "step": size / STEPS, "values": pack(steps)}


def pack_columns(table: Any) -> list[dict[str, Any]]:
    """Return the columns of the user's table that a map has, in a bounded number."""
    names = [name for name in table.column_names if name.startswith(COLUMN)][:MOST]
    packed = ((name.removeprefix(COLUMN), _pack_column(table[name])) for name in names)
    return [{"name": name[:LONGEST]} | found for name, found in packed if found]


def _pack_column(cells: Any) -> dict[str, Any]:
    """Return a column of texts, of dates as days since 1970 or of numbers; nothing of others."""
    from pyarrow import types

    if types.is_string(cells.type):
        texts = cells.to_pylist()
        return encode([None if text is None else text[:LONGEST] for text in texts])
    if types.is_date32(cells.type):
        return _pack_numbers(cells.cast("int32").cast("float64")) | {"unit": "days"}
    return _pack_numbers(cells) if types.is_floating(cells.type) else {}


def _pack_numbers(cells: Any) -> dict[str, Any]:
    """Return numbers in steps, the last of which is none; whole ones are exact where they can."""
    values = np.asarray(cells.to_numpy(), np.float64)
    is_known = np.isfinite(values)
    known = values[is_known]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    is_whole = bool((known == np.rint(known)).all()) and high - low < STEPS
    step = 1.0 if is_whole else (high - low) / (STEPS - 1) or 1.0
    if not np.isfinite(step):  # beyond what a double can tell apart
        return {}
    steps = np.full(len(values), STEPS)
    steps[is_known] = np.rint((known - low) / step)
    return {"low": low, "step": step, "isWhole": is_whole, "values": pack(steps.astype("<u2"))}


def _natural(text: str) -> list[tuple[int, str]]:
    """Sort "class 2" before "class 10"; every second part of the split is a number."""
    parts = re.split(r"([0-9]{1,9})", text)
    return [(int(p) if i % 2 else 0, "" if i % 2 else p) for i, p in enumerate(parts)]
