"""Whether nodes that are joined are more alike than chance, by features or by place in the graph.

No label is read. What stands for chance are pairs of the same ends, joined again at random, so that
nodes of many edges count in both as often.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array, to_dense
from dgb.data.graph import Features, Graph
from dgb.data.structure import random_walk

_PAIRS = 20_000  # of neighbors that are looked at, at most
_NUMBERS = 1 << 20  # of features at a time
_HELD_OUT = 20  # one of so many edges is hidden from walks that are to tell where it ends
_WALKS, _WIDTH, _HOPS = 1 << 24, (16, 256), 20  # numbers of walks, columns of them, steps
_UNLIKE = 0.02  # of 1, how much more alike than chance neighbors should be by features
_SURE = 5  # standard errors below chance
_PLACED = 3  # standard errors above chance by place, for edges to form communities
# What edges have to do with features: they join nodes that are alike, or that are unlike; neither,
# though they form communities; or neither, and they form none.
ALIKE, OPPOSITE, COMMUNITIES, CHANCE = "alike", "opposite", "communities", "chance"


@dataclass(frozen=True)
class Alike:
    """How much more alike neighbors are than random pairs: 1 if equal, 0 if it is chance."""

    beyond_chance: float
    error: float  # standard error of it

    @property
    def z(self) -> float:
        """Standard errors away from chance."""
        return self.beyond_chance / self.error

    def __str__(self) -> str:
        """Return both figures in words."""
        return f"{self.beyond_chance:.3f} beyond chance, z {self.z:.1f}"


def features_alike(graph: Graph) -> Alike | None:
    """Compare the features of neighbors by cosine; None where they cannot differ."""
    generator, x = np.random.default_rng(0), graph.x
    if x.shape[1] == 1:  # a cosine of single numbers is their signs: on which side of the mean?
        x = to_dense(x)
        x = x - x.mean()
    return _compare(x, _draw_edges(graph.adjacency, 1, generator), generator)


def places_alike(graph: Graph) -> Alike | None:
    """Compare where neighbors lie, by walks over the edges that are left when theirs are hidden."""
    generator = np.random.default_rng(0)
    ends = _draw_edges(graph.adjacency, _HELD_OUT, generator)
    step = random_walk(without_edges(graph.adjacency, ends))
    degree = np.diff(step.indptr) / step.nnz
    width = int(np.clip(_WALKS // graph.num_nodes, *_WIDTH))  # of few nodes more is told by more
    reached = generator.choice(np.array([-1, 1], np.float32), (graph.num_nodes, width))
    total = np.zeros_like(reached)
    for hop in range(1, _HOPS + 1):
        reached = step @ reached
        reached -= (degree @ reached).astype(np.float32)  # which all long walks end in
        if hop > 1:  # one step joins only nodes that share an edge
            total += reached / np.sqrt((reached**2).sum(axis=1, keepdims=True) + 1e-30)
    return _compare(total, ends, generator)


def judge_edges(graph: Graph, features: Alike | None) -> tuple[str, Alike | None]:
    """Return of what kind the edges are, without labels, and `places_alike` if it was needed.

    `features` is what `features_alike` says of the graph: None where they say nothing at all.
    """
    if features is not None:
        if features.beyond_chance + 2 * features.error > _UNLIKE:
            return ALIKE, None
        if features.z < -_SURE:
            return OPPOSITE, None
    places = places_alike(graph)
    is_placed = places is not None and places.z >= _PLACED
    return (COMMUNITIES if is_placed else CHANCE), places


def _draw_edges(adjacency: Any, share: int, generator: np.random.Generator) -> Array:
    """Return the ends [2, count] of one in `share` edges, each in one direction or the other."""
    count = min(adjacency.nnz // 2 // share, _PAIRS)
    places = generator.choice(adjacency.nnz, count, replace=False)
    sources = np.searchsorted(adjacency.indptr, places, side="right") - 1
    return np.stack([sources, adjacency.indices[places]])


def without_edges(adjacency: Any, ends: Array) -> Any:
    """Return an adjacency of ones that lacks these edges in both directions."""
    row, column = np.concatenate([ends, ends[::-1]], axis=1)
    hidden = sparse.csr_array((np.ones(len(row), bool), (row, column)), shape=adjacency.shape)
    kept = sparse.csr_array(adjacency != 0, dtype=np.float32) - hidden.astype(np.float32)
    kept.eliminate_zeros()
    return kept


def _compare(x: Features, ends: Array, generator: np.random.Generator) -> Alike | None:
    near = _cosines(x, *ends)
    far = _cosines(x, ends[0], generator.permutation(ends[1]))
    if min(len(near), len(far)) < 2:
        return None
    room = 1 - far.mean()
    error = np.sqrt(near.var() / len(near) + far.var() / len(far))
    if error < 1e-9 or room < 1e-9:  # all rows are alike
        return None
    return Alike(float((near.mean() - far.mean()) / room), float(error / room))


def _cosines(x: Features, one: Array, other: Array) -> Array:
    """Return the cosines of pairs of rows, without those that have a row of zeros."""
    step = max(1, _NUMBERS // x.shape[1])
    parts = [slice(i, i + step) for i in range(0, len(one), step)]
    found = [_multiply(x[one[part]], x[other[part]]) for part in parts]
    products, sizes = np.concatenate(found or [np.zeros((2, 0))], axis=1)
    return np.asarray(products[sizes > 0] / sizes[sizes > 0])


def _multiply(one: Features, other: Features) -> Array:
    """Return the products of rows, and those of their lengths."""
    one, other = one.astype(np.float64), other.astype(np.float64)
    pairs = ((one, other), (one, one), (other, other))
    sums = [np.asarray((a * b).sum(axis=1)).ravel() for a, b in pairs]
    return np.stack([sums[0], np.sqrt(sums[1]) * np.sqrt(sums[2])])
