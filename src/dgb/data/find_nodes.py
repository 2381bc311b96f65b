"""Find nodes by their ids."""

from typing import Any

import numpy as np

from dgb.data.graph import Array
from dgb.data.ids import find_positions
from dgb.errors import DGBError


def find_nodes(node_ids: Array, wanted: Array) -> Array:
    """Return the positions of the wanted ids among a graph's ids; an unknown id is refused.

    Ids of different types are compared as text.
    """
    import pyarrow as pa

    found = find_positions(pa.chunked_array([_cells(wanted)]), pa.chunked_array([_cells(node_ids)]))
    if (found < 0).any():
        unknown = wanted[found < 0].tolist()
        more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        raise DGBError(
            f"the graph has no node {', '.join(map(repr, unknown[:5]))}{more}; "
            f"its ids are such as {', '.join(map(repr, node_ids[:3].tolist()))}"
        )
    return found


def _cells(ids: Array) -> Any:
    import pyarrow as pa

    if ids.dtype.kind == "f" and (ids == np.floor(ids)).all():  # what frames make of integers
        ids = ids.astype(np.int64)
    try:
        return pa.array(ids)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return pa.array([str(id_) for id_ in ids.tolist()])  # of mixed types
