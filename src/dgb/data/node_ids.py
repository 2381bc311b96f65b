"""Node ids as Arrow arrays, and nodes found by them."""

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
    found = find_positions(_cells(wanted), _cells(node_ids))
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


def arrow_ids(node_ids: Array) -> Any:
    """Return ids as an Arrow array, as text where Arrow has no type for them."""
    import pyarrow as pa

    # Numbers as they are: Python's own are taken for signed ones, and a hash may be larger.
    cells = node_ids if node_ids.dtype.kind in "iu" else node_ids.tolist()
    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OverflowError):
        return pa.array([str(node) for node in node_ids.tolist()])


def _cells(ids: Array) -> Any:
    import pyarrow as pa

    is_whole = ids.dtype.kind == "f" and bool((ids == np.floor(ids)).all())
    # Whole numbers with a point are what frames make of integers.
    return pa.chunked_array([arrow_ids(ids.astype(np.int64) if is_whole else ids)])
