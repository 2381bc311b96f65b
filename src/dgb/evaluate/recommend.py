"""Who should be joined: pairs of nodes without an edge that score highest, and how far to trust it.

Every pair is scored where that takes seconds. Otherwise a node is compared with its nearest nodes
and, by another score than their cosine, with those that short walks lead to, two and three edges
away: never n × n numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dgb.arrays import Array, canonical_rows
from dgb.evaluate.links import LinkSplit, Scorer, cosine_scorer
from dgb.neighbors import EXACT_NODES, nearest, nearest_all

BEYOND = 20  # nearest nodes that are looked at past the k asked for: some are neighbors already
WALKS = 16  # from a node, each of which leads to one node two edges away and to one three away
EXACT_COST = 2e11  # multiplications that scoring every pair may take: about 20 seconds
PAIRS = 2**21  # that are looked at together
CHECKED = 1_000  # ends of held-out edges that lists are made for
CHECKED_LARGE = 200  # of a large graph


@dataclass(frozen=True, eq=False)
class Ranking:
    """What pairs are ranked by: a score, and vectors whose nearest are looked at first."""

    z: Any  # [num_nodes, width]
    score: Scorer
    cost: int = 0  # multiplications of a score; 0: it is the cosine of z itself

    def is_exact(self, num_rows: int) -> bool:
        """Tell whether the lists of so many nodes are what comparing all pairs would give."""
        if self.cost:
            return num_rows * len(self.z) * self.cost <= EXACT_COST
        return num_rows < len(self.z) or num_rows <= EXACT_NODES


def rank_by_vectors(z: Any) -> Ranking:
    """Return the ranking by the cosine of vectors."""
    return Ranking(z, cosine_scorer(z))


def recommend_links(
    ranking: Ranking, adjacency: Any, rows: Array | None, k: int
) -> tuple[Array, Array]:
    """Return pairs [m, 2] of nodes without an edge and their scores, the highest first.

    For each of the rows, or for all nodes, its k best that are no neighbors of it, each pair
    once. It may be fewer, where most of those that are looked at are neighbors already.
    """
    find, wide = _find_candidates(ranking, adjacency, rows, k)
    rows = np.arange(len(ranking.z)) if rows is None else rows
    codes, best = _number_edges(adjacency), []
    step = max(PAIRS // max(wide, 1), 1)
    for start in range(0, len(rows), step):
        part = slice(start, min(start + step, len(rows)))
        best.append(_best_of(ranking, codes, rows[part], find(part), k))
    pairs, score = (np.concatenate(arrays) for arrays in zip(*best, strict=True))
    _, first = np.unique(_number_pairs(pairs, len(ranking.z)), return_index=True)
    first.sort()
    order = first[np.argsort(-score[first], kind="stable")]
    return pairs[order], score[order]


class _Candidates(NamedTuple):
    nodes: Array  # [m, c] to compare each of some rows with; the row itself does not count
    score: Array | None = None  # [m, c] where it is known


def _find_candidates(
    ranking: Ranking, adjacency: Any, rows: Array | None, k: int
) -> tuple[Callable[[slice], _Candidates], int]:
    """Return what gives the nodes [m, c] to compare some of the rows with, and how large c is."""
    z, count = ranking.z, len(ranking.z)
    asked = np.arange(count) if rows is None else rows
    if ranking.cost and ranking.is_exact(len(asked)):
        everyone = np.arange(count)[None]
        return (lambda part: _Candidates(everyone.repeat(part.stop - part.start, axis=0))), count
    degree = np.diff(adjacency.indptr)
    if rows is None:
        near, similar = nearest_all(z, k + BEYOND)
    else:
        more = BEYOND if ranking.cost else int(degree[rows].max(initial=0))
        near, similar = nearest(z, rows, k + more)
    if not ranking.cost:
        return (lambda part: _Candidates(near[part], similar[part])), near.shape[1]
    rng = np.random.default_rng(0)

    def find(part: slice) -> _Candidates:
        walked = _walk(adjacency, degree, asked[part], rng)
        return _Candidates(_once(np.hstack([near[part], walked]), asked[part]))

    return find, near.shape[1] + 2 * WALKS


def _walk(adjacency: Any, degree: Array, rows: Array, rng: np.random.Generator) -> Array:
    """Return where walks from some nodes are after two and after three edges."""
    place, seen = np.repeat(rows, WALKS), []
    for step in range(3):
        has_edges = degree[place] > 0
        turn = (rng.random(len(place)) * degree[place]).astype(np.int64)[has_edges]
        place = place.copy()
        place[has_edges] = adjacency.indices[adjacency.indptr[place[has_edges]] + turn]
        seen += [place.reshape(len(rows), WALKS)] if step else []
    return np.hstack(seen)


def _once(nodes: Array, rows: Array) -> Array:
    """Return nodes [m, c] that rise, with the row itself in the place of one that comes again."""
    nodes = np.sort(nodes, axis=1)
    nodes[:, 1:] = np.where(nodes[:, 1:] == nodes[:, :-1], rows[:, None], nodes[:, 1:])
    return nodes


def _best_of(
    ranking: Ranking, codes: Array, rows: Array, near: _Candidates, k: int
) -> tuple[Array, Array]:
    """Return the k best pairs of every row with its candidates, and their scores."""
    wanted = rows[:, None] * len(ranking.z) + near.nodes
    is_free = near.nodes != rows[:, None]
    is_free &= codes[np.searchsorted(codes[:-1], wanted)] != wanted
    value = np.full(wanted.shape, -np.inf)
    if near.score is not None:
        value[is_free] = near.score[is_free]
    elif is_free.any():
        place, _ = np.nonzero(is_free)
        value[is_free] = ranking.score(np.stack([rows[place], near.nodes[is_free]], axis=1))
    order = np.argsort(-value, axis=1, kind="stable")[:, :k]
    place, turn = np.nonzero(np.take_along_axis(is_free, order, axis=1))
    column = order[place, turn]
    return np.stack([rows[place], near.nodes[place, column]], axis=1), value[place, column]


def share_found(ranking: Ranking, adjacency: Any, pairs: Array, k: int) -> float:
    """Return how many of the k best of some nodes are among pairs that were found for all nodes."""
    count = len(ranking.z)
    some = np.random.default_rng(0).choice(count, min(CHECKED_LARGE, count), replace=False)
    best, _ = recommend_links(ranking, adjacency, some, k)
    is_some = np.zeros(count, bool)
    is_some[some] = True
    own = pairs[is_some[pairs[:, 0]] | is_some[pairs[:, 1]]]
    return float(np.isin(_number_pairs(best, count), _number_pairs(own, count)).mean())


def check_links(ranking: Ranking, split: LinkSplit, k: int) -> dict[str, float]:
    """Return how well a ranking of a graph without some edges tells these, by AUC and by lists.

    `hits` is the share of held-out edges whose other end is among the k that are recommended to
    one end; `chance` is what k random nodes would find.
    """
    from sklearn.metrics import roc_auc_score

    truth, edges, count = split.test.truth(), split.test.edges, len(ranking.z)
    auc = float(roc_auc_score(truth, ranking.score(split.test.both())))
    most = CHECKED if count <= EXACT_NODES else CHECKED_LARGE
    rng = np.random.default_rng(0)
    some = edges[rng.permutation(len(edges))[:most]]
    pairs, _ = recommend_links(ranking, split.adjacency, some[:, 0], k)
    hits = np.isin(_number_pairs(some, count), _number_pairs(pairs, count))
    return {"auc": auc, "hits": float(hits.mean()), "chance": min(k / max(count - 1, 1), 1.0)}


def _number_edges(adjacency: Any) -> Array:
    """Return a number for every edge, rising, and −1 behind them."""
    edges = canonical_rows(adjacency)
    count = int(edges.shape[0])
    codes = np.repeat(np.arange(count), np.diff(edges.indptr)) * count + edges.indices
    return np.append(codes, -1)


def _number_pairs(pairs: Array, num_nodes: int) -> Array:
    """Return one number for every pair, whichever end is first."""
    one, other = pairs.T
    return np.asarray(np.minimum(one, other) * num_nodes + np.maximum(one, other))
