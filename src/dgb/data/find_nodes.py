"""Find nodes by their ids."""

import difflib
from typing import Any

import numpy as np

from dgb.data.graph import Array
from dgb.data.tables.ids import find_positions
from dgb.errors import DGBError

SEARCHED = 20_000  # ids that are looked through for one like an unknown id


def find_nodes(node_ids: Array, wanted: Array) -> Array:
    """Return the positions of the wanted ids among a graph's ids; an unknown id is refused.

    Ids of different types are compared as text.
    """
    import pyarrow as pa

    found = find_positions(pa.chunked_array([_cells(wanted)]), pa.chunked_array([_cells(node_ids)]))
    if (found < 0).any():
        unknown = wanted[found < 0].tolist()
        more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        names = ", ".join(map(repr, unknown[:5]))
        raise DGBError(f"there is no node {names}{more}; {_like(str(unknown[0]), node_ids)}")
    return found


def _like(text: str, node_ids: Array) -> str:
    step = max(len(node_ids) // SEARCHED, 1)
    some = [str(node) for node in node_ids[::step].tolist()]
    near = difflib.get_close_matches(text, some, n=3) or [t for t in some if text in t][:3]
    return f"ids like it: {', '.join(near)}" if near else f"ids look like {', '.join(some[:3])}"


def _cells(ids: Array) -> Any:
    import pyarrow as pa

    if ids.dtype.kind == "f" and (ids == np.floor(ids)).all():  # what frames make of integers
        ids = ids.astype(np.int64)
    try:
        return pa.array(ids)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OverflowError):
        return pa.array([str(id_) for id_ in ids.tolist()])  # of mixed types or too large
