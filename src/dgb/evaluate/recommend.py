"""Who should be joined: pairs of nodes without an edge that score highest, and how far to trust it.

Every pair is scored where that takes seconds. Otherwise a node is compared with its nearest nodes
and with those that short walks lead to, two and three edges away: never n × n numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from dgb.arrays import Array, canonical_rows
from dgb.evaluate.link_scorers import Scorer, cosine_scorer
from dgb.evaluate.link_split import LinkSplit
from dgb.evaluate.neighbors import EXACT_NODES, nearest, nearest_all

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
    edges, best = _number_edges(adjacency), []
    step = max(PAIRS // max(wide, 1), 1)
    for start in range(0, len(rows), step):
        part = slice(start, min(start + step, len(rows)))
        best.append(_best_of(ranking.score, edges, rows[part], find(part), k))
    pairs, score = (np.concatenate(arrays) for arrays in zip(*best, strict=True))
    _, first = np.unique(pairs.min(axis=1) * len(ranking.z) + pairs.max(axis=1), return_index=True)
    first.sort()
    order = first[np.argsort(-score[first], kind="stable")]
    return pairs[order], score[order]


def _find_candidates(
    ranking: Ranking, adjacency: Any, rows: Array | None, k: int
) -> tuple[Callable[[slice], Array], int]:
    """Return what gives the nodes [m, c] to compare some of the rows with, and how large c is."""
    z, count = ranking.z, len(ranking.z)
    degree = np.diff(adjacency.indptr)
    asked = np.arange(count) if rows is None else rows
    if ranking.cost and len(asked) * count * ranking.cost <= EXACT_COST:
        everyone = np.arange(count)[None]
        return (lambda part: np.repeat(everyone, part.stop - part.start, axis=0)), count
    is_exact = rows is not None or count <= EXACT_NODES
    near = np.empty((len(asked), 0), np.int64)
    if rows is not None:
        more = BEYOND if ranking.cost else int(degree[rows].max(initial=0))
        near, _ = nearest(z, rows, k + more)
    elif is_exact or find_spec("usearch"):
        near, _ = nearest_all(z, k + BEYOND)
    if is_exact and not ranking.cost:
        return (lambda part: near[part]), near.shape[1]
    rng = np.random.default_rng(0)

    def find(part: slice) -> Array:
        return np.hstack([near[part], _walk(adjacency, degree, asked[part], rng)])

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


def _best_of(
    score: Scorer, edges: "_Edges", rows: Array, near: Array, k: int
) -> tuple[Array, Array]:
    """Return the k best pairs of every row with its candidates, and their scores."""
    near = np.sort(near, axis=1)
    is_free = near != rows[:, None]
    is_free[:, 1:] &= near[:, 1:] != near[:, :-1]  # each once
    wanted = rows[:, None] * edges.num_nodes + near
    is_free &= edges.codes[np.searchsorted(edges.codes[:-1], wanted)] != wanted
    place, _ = np.nonzero(is_free)
    pairs = np.stack([rows[place], near[is_free]], axis=1)
    value = np.asarray(score(pairs), np.float64) if len(pairs) else np.empty(0)
    order = np.lexsort((-value, place))
    turn = np.arange(len(order)) - np.searchsorted(place, place)  # place rises: also in order
    kept = order[turn < k]
    return pairs[kept], value[kept]


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
    hits = _are_among(some, pairs)
    return {"auc": auc, "hits": float(hits.mean()), "chance": min(k / max(count - 1, 1), 1.0)}


class _Edges(NamedTuple):
    codes: Array  # a number for every edge, rising, and −1 behind them
    num_nodes: int


def _number_edges(adjacency: Any) -> _Edges:
    edges = canonical_rows(adjacency)
    count = int(edges.shape[0])
    codes = np.repeat(np.arange(count), np.diff(edges.indptr)) * count + edges.indices
    return _Edges(np.append(codes, -1), count)


def _are_among(pairs: Array, others: Array) -> Array:
    known = {tuple(pair) for pair in np.sort(others, axis=1).tolist()}
    return np.array([tuple(pair) in known for pair in np.sort(pairs, axis=1).tolist()], bool)
