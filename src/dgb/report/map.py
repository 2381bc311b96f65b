"""The map of a run as the page holds it: arrays in base64, numbers in steps, every text once."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.errors import DGBError
from dgb.evaluate.why import COLUMN, MOST_SHOWN
from dgb.run.map import read_map

SHOWN = 10  # neighbors a node at most
STEPS = 2**16 - 1  # positions, similarities and numbers are distinguished this finely
LONGEST = 80  # characters of a name or a value of a user's column


def pack_map(path: Path) -> dict[str, Any] | None:
    """Return what the page's script needs to draw a map, None where the run has none."""
    table = read_map(path)
    if table is None:
        return None
    count = table.num_rows
    metadata = {k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items()}
    neighbors, similarity = _neighbors(table, path)
    return {
        "kind": metadata.get("map", "map"),
        "nodes": int(metadata.get("nodes", count)),
        "count": count,
        # As text: JavaScript would round a whole number beyond 2^53.
        "ids": [str(i) for i in table["node_id"].to_pylist()],
        "places": _pack(_places(table, path)),
        "degree": _pack(table["degree"].to_numpy().astype("<u4")),
        "cluster": _pack(table["cluster"].to_numpy().astype("<i4")),
        "label": _encode(table["label"].to_pylist()),
        "predicted": _encode(table["predicted"].to_pylist()),
        "split": _encode(table["split"].to_pylist()),
        "width": neighbors.shape[1],
        "neighbors": _pack(neighbors),
        "similarity": _quantize(similarity),
        "columns": _columns(table),
        "allColumns": int(metadata.get("columns", 0)),
        "clusters": _cluster_names(metadata.get("clusters", "[]"), path),
    }


def _cluster_names(text: str, path: Path) -> list[str]:
    """Return what sets each cluster apart, nothing where an earlier version drew the map."""
    try:
        names = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DGBError(f"{path} is damaged: {error}; train again") from error
    return [str(name)[: 4 * LONGEST] for name in names] if isinstance(names, list) else []


def _places(table: Any, path: Path) -> Array:
    """Return x and y in steps of one size for both, so that distances keep their proportions."""
    xy = np.stack([table["x"].to_numpy(), table["y"].to_numpy()], axis=1).astype(np.float64)
    if not np.isfinite(xy).all():
        raise DGBError(f"{path} holds positions that are not finite; train again")
    low, high = xy.min(axis=0), xy.max(axis=0)
    middle, size = (low + high) / 2, float((high - low).max()) or 1.0
    steps: Array = np.rint(((xy - middle) / size + 0.5) * STEPS).astype("<u2")
    return steps


def _neighbors(table: Any, path: Path) -> tuple[Array, Array]:
    """Return rows of neighbors and similarities, filled up with the node's own row and 0."""
    from pyarrow import compute

    lists = table["neighbors"].combine_chunks()
    lengths = compute.fill_null(compute.list_value_length(lists), 0).to_numpy()
    count, width = table.num_rows, min(SHOWN, int(lengths.max()))
    flat = lists.flatten().to_numpy(zero_copy_only=False)
    near = table["similarity"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    is_row = (flat >= 0) & (flat < count)
    if len(flat) != len(near) or not (is_row.all() and np.isfinite(near).all()):
        raise DGBError(f"{path} names neighbors that are not rows of it; train again")
    rank = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    row, is_shown = np.repeat(np.arange(count), lengths), rank < width
    neighbors = np.repeat(np.arange(count)[:, None], width, axis=1)
    similarity = np.zeros((count, width))
    neighbors[row[is_shown], rank[is_shown]] = flat[is_shown]
    similarity[row[is_shown], rank[is_shown]] = near[is_shown]
    return neighbors.astype("<u2" if count <= 2**16 else "<u4"), similarity


def _pack(values: Array) -> dict[str, str]:
    """Return an array as base64 with its type: little-endian, row after row."""
    data = np.ascontiguousarray(values)
    return {"type": data.dtype.str[1:], "base64": base64.b64encode(data.tobytes()).decode()}


def _encode(texts: list[str | None]) -> dict[str, Any]:
    """Return the names that occur, in order, and a number a row: 0 is none, else 1 + the name's."""
    names = sorted({text for text in texts if text is not None}, key=lambda t: (_natural(t), t))
    code: dict[str | None, int] = {name: number for number, name in enumerate(names, 1)}
    kind = "<u1" if len(names) < 2**8 else "<u2" if len(names) < STEPS else "<u4"
    codes = np.array([0 if text is None else code[text] for text in texts], kind)
    return {"names": names, "codes": _pack(codes)}


def _quantize(values: Array) -> dict[str, Any]:
    """Return numbers in equal steps from the lowest to the highest."""
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    size = (high - low) or 1.0
    steps = np.rint((values - low) / size * STEPS).astype("<u2")
    return {"low": low, "step": size / STEPS, "values": _pack(steps)}


def _columns(table: Any) -> list[dict[str, Any]]:
    """Return the columns of the user's table that a map has, in a bounded number."""
    names = [name for name in table.column_names if name.startswith(COLUMN)][:MOST_SHOWN]
    packed = ((name.removeprefix(COLUMN), _pack_column(table[name])) for name in names)
    return [{"name": name[:LONGEST]} | found for name, found in packed if found]


def _pack_column(cells: Any) -> dict[str, Any]:
    """Return a column of texts, of dates as days since 1970 or of numbers; nothing of others."""
    from pyarrow import types

    if types.is_string(cells.type):
        texts = cells.to_pylist()
        return _encode([None if text is None else text[:LONGEST] for text in texts])
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
    return {"low": low, "step": step, "isWhole": is_whole, "values": _pack(steps.astype("<u2"))}


def _natural(text: str) -> list[tuple[int, str]]:
    """Sort "class 2" before "class 10"; every second part of the split is a number."""
    parts = re.split(r"([0-9]{1,9})", text)
    return [(int(p) if i % 2 else 0, "" if i % 2 else p) for i, p in enumerate(parts)]
