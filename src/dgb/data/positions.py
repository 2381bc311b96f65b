"""Where a node is in its graph: a random vector of every id, spread over the edges."""

from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.graph import Array
from dgb.data.id_hash import random_signs
from dgb.data.unit_rows import unit_rows

WIDTH = 128
_FIRST_HOP, _LAST_HOP = 4, 32  # of walk; the encoder looks at the nearest hops itself
_ALPHA, _ROUNDS = 0.05, 60  # of ppr: 5 % of the walks are longer than so many rounds
_LARGE = 100  # nodes from which a component is not one place, but has places of its own
_WHOLE = 0.2  # length of what says in which of the large components a node is

Means = tuple[Any, Any]  # two sparse matrices: nodes to components, components to nodes


def position_features(adjacency: Any, node_ids: Array, kind: str) -> Array:
    """Return rows of length one that are alike for near nodes, by `walk` or `ppr`."""
    step, means = random_walk(adjacency), _component_means(adjacency)
    start = random_signs(node_ids, WIDTH)
    spread = _walked if kind == "walk" else _diffused
    near = unit_rows(spread(step, start, means))
    return unit_rows(near + _WHOLE * _component_rows(means, start))


def random_walk(adjacency: Any) -> Any:
    """Return D⁻¹A; a walk that starts at an isolated node stays there."""
    strength = np.asarray(adjacency.sum(axis=1), np.float32).ravel()
    is_alone = strength == 0
    step = sparse.diags_array(1 / np.where(is_alone, 1, strength)) @ adjacency
    return sparse.csr_array(step + sparse.diags_array(is_alone * 1.0), dtype=np.float32)


def _walked(step: Any, start: Array, means: Means) -> Array:
    # Rows of each power get length one first: else the first hops would drown the later ones.
    total, reached = np.zeros_like(start), start
    for hop in range(1, _LAST_HOP + 1):
        reached = step @ reached
        reached -= _mean_rows(means, reached)  # at every hop: rounding brings some of it back
        if hop >= _FIRST_HOP:
            total += unit_rows(reached)
    return total


def _diffused(step: Any, start: Array, means: Means) -> Array:
    start = start - _mean_rows(means, start)
    reached = start
    for _ in range(_ROUNDS):
        reached = _ALPHA * start + (1 - _ALPHA) * (step @ reached)
    return reached


def _component_rows(means: Means, start: Array) -> Array:
    """Give each node of a large component a row that tells it from the other large ones."""
    rows, is_large = unit_rows(_mean_rows(means, start)), np.diff(means[1].indptr) > 0
    # What all of them share tells nothing: with a single large component, nothing is left.
    shared = rows.sum(axis=0) / max(1, is_large.sum())
    return np.asarray(rows - is_large[:, None] * shared, np.float32)


def _mean_rows(means: Means, x: Array) -> Array:
    """Give each node of a large component what all its walks end in, zeros to other nodes.

    Long walks forget where they began: where this is not taken away, all rows of a dense
    component become alike.
    """
    to_components, to_nodes = means
    return np.asarray(to_nodes @ (to_components @ x))


def _component_means(adjacency: Any) -> Means:
    from scipy.sparse.csgraph import connected_components

    count, members = connected_components(adjacency, directed=False)
    nodes = np.flatnonzero(np.bincount(members)[members] >= _LARGE)
    strength = np.asarray(adjacency.sum(axis=1), np.float64).ravel()
    share = strength[nodes] / np.bincount(members, strength, count)[members[nodes]]
    shape = (count, len(members))
    mean = sparse.csr_array((share, (members[nodes], nodes)), shape, dtype=np.float32)
    same = sparse.csr_array((np.ones(len(nodes)), (nodes, members[nodes])), shape[::-1])
    return mean, same.astype(np.float32)
