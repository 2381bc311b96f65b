"""Find nodes by their ids."""

import numpy as np

from dgb.data.graph import Array
from dgb.errors import DGBError


def positions(node_ids: Array, wanted: Array) -> Array:
    """Return the positions of the wanted ids among a graph's ids; an unknown id is refused."""
    ids, wanted = _plain(node_ids), _plain(wanted)
    if "O" in (ids.dtype.kind, wanted.dtype.kind):  # of mixed types, which have no order
        place_of = {id_: place for place, id_ in enumerate(ids.tolist())}
        found = np.array([place_of.get(id_, -1) for id_ in wanted.tolist()], dtype=np.int64)
    elif _is_text(ids) != _is_text(wanted):
        found = np.full(len(wanted), -1)
    else:
        found = _by_bisection(ids, wanted)
    _refuse_unknown(found < 0, wanted, ids)
    return found


def _by_bisection(ids: Array, wanted: Array) -> Array:
    order = np.argsort(ids, kind="stable")
    place = np.searchsorted(ids, wanted, sorter=order)
    found = order[np.minimum(place, len(ids) - 1)]
    return np.where(ids[found] == wanted, found, -1)


def _refuse_unknown(is_unknown: Array, wanted: Array, ids: Array) -> None:
    if not is_unknown.any():
        return
    unknown = wanted[is_unknown].tolist()
    more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
    raise DGBError(
        f"the graph has no node {', '.join(map(repr, unknown[:5]))}{more}; "
        f"its ids are such as {', '.join(map(repr, ids[:3].tolist()))}"
    )


def _plain(ids: Array) -> Array:
    """Return ids as an array of text or numbers, of objects only where they are of many types."""
    if ids.dtype.kind != "O":
        return ids
    values = ids.tolist()
    kinds = set(map(type, values))
    return np.array(values) if len(kinds) == 1 and kinds <= {str, int} else ids


def _is_text(ids: Array) -> bool:
    return ids.dtype.kind in "US"
