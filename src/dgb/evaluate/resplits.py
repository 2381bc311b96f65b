"""Resplits: train and validation nodes dealt out again, so that no choice hangs on one split.

The 500 validation nodes of the public splits tell two settings apart when they differ by two
points; a mean over many draws of the same labels does at a fraction of that. No test node is drawn.
"""

import numpy as np

from dgb.arrays import Array
from dgb.data.graph import Split
from dgb.evaluate.heads import dgi_accuracies

DRAWS, PER_CLASS = 20, 20
HEADS = 10  # a draw: their mean hardly moves, and what moves it are the draws


def draw_resplits(labels: Array, split: Split, count: int = DRAWS) -> list[Split]:
    """Return splits of the train and validation nodes, always the same for the same nodes.

    Each has 20 train nodes a class, of a class with fewer than 40 half of its nodes, and all others
    for validation.
    """
    nodes = np.sort(np.concatenate([split.train, split.validation]))
    nodes = nodes[labels[nodes] >= 0]
    rng = np.random.default_rng(0)
    return [_draw(nodes, labels[nodes], rng) for _ in range(count)]


def _draw(nodes: Array, classes: Array, rng: np.random.Generator) -> Split:
    train = np.concatenate(
        [
            rng.permutation(own)[: min(PER_CLASS, len(own) // 2)]
            for own in (nodes[classes == c] for c in np.unique(classes))
        ]
    )
    return Split(train, np.setdiff1d(nodes, train), nodes[:0])


def resplit_accuracy(z: Array, labels: Array, splits: list[Split]) -> float:
    """Return the mean accuracy of DGI's probe over resplits."""
    found = [dgi_accuracies(z, labels, s, seed, HEADS)[0] for seed, s in enumerate(splits)]
    return float(np.mean(found))
