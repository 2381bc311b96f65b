"""The map of a run as the page holds it: packed numbers, and every text once."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.errors import DGBError
from dgb.report.pack import LONGEST, STEPS, encode, pack, pack_columns, quantize
from dgb.run.map import read_map

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
        "places": pack(_places(table, path)),
        "degree": pack(table["degree"].to_numpy().astype("<u4")),
        "cluster": pack(table["cluster"].to_numpy().astype("<i4")),
        "label": encode(table["label"].to_pylist()),
        "predicted": encode(table["predicted"].to_pylist()),
        "split": encode(table["split"].to_pylist()),
        "width": neighbors.shape[1],
        "neighbors": pack(neighbors),
        "similarity": quantize(similarity),
        "columns": pack_columns(table),
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
