"""Small heterogeneous graphs that the tests share."""

import numpy as np
from scipy import sparse

from dgb.data.graph import Split
from dgb.data.hetero.graph import HeteroGraph, make_hetero_graph, make_node_type, make_relation


def make_library(num_papers: int = 90, *, seed: int = 0) -> HeteroGraph:
    """Return papers in three planted classes, with authors and venues of mostly one class.

    Papers and authors have features, venues none. Papers also cite papers.
    """
    rng = np.random.default_rng(seed)
    labels = np.arange(num_papers) % 3
    authors, venues = np.arange(num_papers) % 3, np.arange(6) % 3
    nodes = {
        "paper": make_node_type(np.arange(num_papers) + 1000, _features(labels, rng)),
        "author": make_node_type(_names("a", len(authors)), _features(authors, rng, width=8)),
        "venue": make_node_type(_names("v", len(venues))),
    }
    relations = [
        make_relation("paper", "written", "author", _edges(labels, authors, 0.08, rng)),
        make_relation("venue", "prints", "paper", _edges(venues, labels, 0.4, rng)),
        make_relation("paper", "cites", "paper", _edges(labels, labels, 0.05, rng)),
    ]
    order = rng.permutation(num_papers)
    third = num_papers // 3
    split = Split(order[:third], order[third : 2 * third], order[2 * third :])
    return make_hetero_graph(
        "library",
        nodes,
        relations,
        "paper",
        labels=labels,
        label_names=("art", "law", "sea"),
        splits=(split,),
        split_names=("all",),
    )


def _names(letter: str, count: int) -> np.ndarray:
    return np.array([f"{letter}{i}" for i in range(count)], dtype=object)


def _features(labels: np.ndarray, rng: np.random.Generator, width: int = 12) -> sparse.csr_array:
    """Return words of which those of a class are more frequent in it."""
    rate = np.where(np.arange(width)[None] % 3 == labels[:, None], 0.5, 0.15)
    return sparse.csr_array((rng.random(rate.shape) < rate).astype(np.float32))


def _edges(
    left: np.ndarray, right: np.ndarray, rate: float, rng: np.random.Generator
) -> sparse.coo_array:
    """Return edges that mostly join the same class."""
    probability = np.where(left[:, None] == right[None], rate, rate / 10)
    return sparse.coo_array((rng.random(probability.shape) < probability).astype(np.float32))
