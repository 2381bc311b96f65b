"""The map of a run as the page holds it: packed numbers, and every text once."""

import base64
import re
from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.errors import DGBError
from dgb.run.map import read_map

STEPS = 2**16 - 1  # positions and similarities are distinguished this finely
SHOWN = 10  # neighbors a node at most


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
        "label": _encode(table["label"]),
        "predicted": _encode(table["predicted"]),
        "split": _encode(table["split"]),
        "width": neighbors.shape[1],
        "neighbors": _pack(neighbors),
        "similarity": _quantize(similarity),
    }


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


def _encode(column: Any) -> dict[str, Any]:
    """Return the names that occur, in order, and a number a row: 0 is none, else 1 + the name's."""
    texts = column.to_pylist()
    names = sorted(set(texts) - {None}, key=lambda name: (_natural(name), name))
    code = {name: number for number, name in enumerate(names, 1)} | {None: 0}
    codes = np.array([code[text] for text in texts], "<u2" if len(names) < STEPS else "<u4")
    return {"names": names, "codes": _pack(codes)}


def _natural(text: str) -> list[tuple[int, str]]:
    """Sort "class 2" before "class 10"; every second part of the split is a number."""
    parts = re.split(r"([0-9]{1,9})", text)
    return [(int(p) if i % 2 else 0, "" if i % 2 else p) for i, p in enumerate(parts)]


def _quantize(values: Array) -> dict[str, Any]:
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    size = (high - low) or 1.0
    steps = np.rint((values - low) / size * STEPS).astype("<u2")
    return {"low": low, "step": size / STEPS, "values": _pack(steps)}


def _pack(values: Array) -> dict[str, str]:
    """Return an array as base64 with its type: little-endian, row after row."""
    data = np.ascontiguousarray(values)
    return {"type": data.dtype.str[1:], "base64": base64.b64encode(data.tobytes()).decode()}
