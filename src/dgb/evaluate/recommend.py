"""Who should be joined: pairs of near nodes without an edge, and how far that can be trusted."""

from typing import Any

import numpy as np

from dgb.arrays import Array, canonical_rows
from dgb.evaluate.link_scorers import cosine_scorer
from dgb.evaluate.links import LinkSplit
from dgb.evaluate.neighbors import EXACT_NODES, nearest, nearest_all

BEYOND = 20  # nearest nodes that are looked at past the k asked for: some are neighbors already
CHECKED = 1_000  # ends of held-out edges that lists are made for
CHECKED_LARGE = 200  # of a graph that is compared by an index


def recommend_links(z: Any, adjacency: Any, rows: Array | None, k: int) -> tuple[Array, Array]:
    """Return pairs [m, 2] of nodes without an edge and their cosines, the most alike first.

    For each of the rows, or for all nodes, its k nearest that are no neighbors of it, each pair
    once. Of all nodes it may be fewer, where more than 20 of the nearest are neighbors already.
    """
    if rows is None:
        rows, (near, cosine) = np.arange(len(z)), nearest_all(z, k + BEYOND)
    else:
        near, cosine = nearest(z, rows, k + int(np.diff(adjacency.indptr)[rows].max(initial=0)))
    is_free = ~_are_edges(adjacency, rows, near)
    is_free &= np.cumsum(is_free, axis=1) <= k
    place, _ = np.nonzero(is_free)
    pairs = np.stack([rows[place], near[is_free]], axis=1)
    _, first = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
    pairs, cosine = pairs[np.sort(first)], cosine[is_free][np.sort(first)]
    order = np.argsort(-cosine, kind="stable")
    return pairs[order], cosine[order]


def check_links(z: Any, split: LinkSplit, k: int) -> dict[str, float]:
    """Return how well vectors of a graph without some edges tell these, by AUC and by lists.

    `hits` is the share of held-out edges whose other end is among the k that are recommended to
    one end; `chance` is what k random nodes would find.
    """
    from sklearn.metrics import roc_auc_score

    truth, edges = split.test.truth(), split.test.edges
    auc = float(roc_auc_score(truth, cosine_scorer(z)(split.test.both())))
    most = CHECKED if len(z) <= EXACT_NODES else CHECKED_LARGE
    rng = np.random.default_rng(0)
    some = edges[rng.permutation(len(edges))[:most]]
    pairs, _ = recommend_links(z, split.adjacency, some[:, 0], k)
    hits = _are_among(some, pairs)
    return {"auc": auc, "hits": float(hits.mean()), "chance": min(k / max(len(z) - 1, 1), 1.0)}


def _are_edges(adjacency: Any, rows: Array, near: Array) -> Array:
    """Tell of each of the near nodes [m, k] whether it is a neighbor of its row."""
    edges = canonical_rows(adjacency)
    count = np.int64(edges.shape[0])
    # A number for every pair: those of the edges rise, in rows whose places are sorted.
    keys = np.repeat(np.arange(count), np.diff(edges.indptr)) * count + edges.indices
    wanted = rows[:, None] * count + near
    place = np.searchsorted(keys, wanted)
    return np.asarray(np.append(keys, -1)[place] == wanted)


def _are_among(pairs: Array, others: Array) -> Array:
    known = {tuple(pair) for pair in np.sort(others, axis=1).tolist()}
    return np.array([tuple(pair) in known for pair in np.sort(pairs, axis=1).tolist()], bool)
