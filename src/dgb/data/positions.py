"""Where a node is in its graph: a random vector of every id, spread over the edges."""

from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array, unit_rows

_CHUNK = 1 << 14  # ids at a time, so that their text never lies in memory as a whole
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def random_signs(node_ids: Array, width: int) -> Array:
    """Return float32 [n, width] of ±1, drawn for every id from its hash alone."""
    words = -(-width // 64)
    offsets = np.arange(1, words + 1, dtype=np.uint64) * _GOLDEN
    bits = mix(hash_ids(node_ids)[:, None] + offsets).astype("<u8").view(np.uint8)
    signs = np.unpackbits(bits, axis=1)[:, :width].astype(np.float32)
    signs *= 2
    signs -= 1
    return signs


def hash_ids(node_ids: Array) -> Array:
    """Hash ids as text to 64 bits each: 7 and "7" are the same node, read from different files."""
    chunks = [node_ids[i : i + _CHUNK] for i in range(0, len(node_ids), _CHUNK)]
    found = []
    for texts in (np.asarray(chunk.astype(np.str_)) for chunk in chunks):
        hashes = np.full(len(texts), _GOLDEN)
        for column in np.ascontiguousarray(texts).view(np.uint32).reshape(len(texts), -1).T:
            # A zero is the padding behind a shorter text, which must not count.
            hashes = np.where(column == 0, hashes, mix(hashes ^ column.astype(np.uint64)))
        found.append(hashes)
    return np.concatenate(found)


def mix(values: Array) -> Array:
    """Return splitmix64's finaliser, which makes numbers that differ in a bit differ in half."""
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return np.asarray(values ^ (values >> np.uint64(31)))


WIDTH = 128
_FIRST_HOP, _LAST_HOP = 4, 32  # of walk; the encoder looks at the nearest hops itself
_ALPHA, _ROUNDS = 0.05, 60  # of ppr: 5 % of the walks are longer than so many rounds
_LARGE = 100  # nodes from which a component is not one place, but has places of its own
_WHOLE = 0.2  # length of what says in which of the large components a node is

Means = tuple[Any, Any]  # two sparse matrices: nodes to components, components to nodes


def position_features(adjacency: Any, node_ids: Array, kind: str, width: int = WIDTH) -> Array:
    """Return rows of length one that are alike for near nodes, by `walk` or `ppr`."""
    largest = float(adjacency.data.max(initial=0))
    if adjacency.nnz and not 1e-30 < largest < 1e30:  # sums of weights would overflow, or vanish
        adjacency = adjacency.astype(np.float64) / largest
    step, means = random_walk(adjacency), _component_means(adjacency)
    start = random_signs(node_ids, width)
    spread = _walk if kind == "walk" else _diffuse
    near = unit_rows(spread(step, start, means))
    # What tells the nodes of a large component from those of the other large ones.
    rows, is_large = unit_rows(_mean_rows(means, start)), np.diff(means[1].indptr) > 0
    # What all of them share tells nothing: with a single large component, nothing is left.
    shared = rows.sum(axis=0) / max(1, is_large.sum())
    whole = np.asarray(rows - is_large[:, None] * shared, np.float32)
    return unit_rows(near + _WHOLE * whole)


def random_walk(adjacency: Any) -> Any:
    """Return D⁻¹A; a walk that starts at an isolated node stays there."""
    strength = np.asarray(adjacency.sum(axis=1), np.float32).ravel()
    is_alone = strength == 0
    step = sparse.diags_array(1 / np.where(is_alone, 1, strength)) @ adjacency
    return sparse.csr_array(step + sparse.diags_array(is_alone * 1.0), dtype=np.float32)


def _walk(step: Any, start: Array, means: Means) -> Array:
    # Rows of each power get length one first: else the first hops would drown the later ones.
    total, reached = np.zeros_like(start), start
    for hop in range(1, _LAST_HOP + 1):
        reached = step @ reached
        reached -= _mean_rows(means, reached)  # at every hop: rounding brings some of it back
        if hop >= _FIRST_HOP:
            total += unit_rows(reached)
    return total


def _diffuse(step: Any, start: Array, means: Means) -> Array:
    reached = start = start - _mean_rows(means, start)
    for _ in range(_ROUNDS):
        reached = _ALPHA * start + (1 - _ALPHA) * (step @ reached)
    return reached


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
