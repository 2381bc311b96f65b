"""Random walks and the pairs they give, and the vectors that skip-gram learns from pairs."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, softplus

from dgb.arrays import Array

MOST_STEPS = 2000  # over all walks


def batch_size(num_walks: int, least: int) -> int:
    """Return how many walks a step takes: each costs as much as all nodes, so there is a limit."""
    return max(least, -(-num_walks // MOST_STEPS))


def draw_walks(adjacency: Any, starts: Array, length: int, rng: np.random.Generator) -> Array:
    """Return random walks, [len(starts), length]; a step takes an edge with odds of its weight."""
    if adjacency.nnz == 0:
        return np.repeat(np.asarray(starts)[:, None], length, axis=1)
    total = np.concatenate([[0.0], np.cumsum(adjacency.data, dtype=np.float64)])
    first, last = adjacency.indptr[:-1], adjacency.indptr[1:]
    walks = np.empty((len(starts), length), dtype=np.int64)
    walks[:, 0] = here = starts
    for place in range(1, length):
        low, high = total[first[here]], total[last[here]]
        edge = np.searchsorted(total, low + rng.random(len(here)) * (high - low), "right") - 1
        # Rounding may reach the first edge of the next node.
        edge = np.minimum(edge, last[here] - 1)
        stays = first[here] == last[here]
        here = np.where(stays, here, adjacency.indices[np.where(stays, 0, edge)])
        walks[:, place] = here
    return walks


def pair_weights(length: int, window: int) -> Tensor:
    """Return how much each two places of a walk count as a pair, [L, L]; a place and itself, 0."""
    place = torch.arange(length)
    apart = (place[:, None] - place).abs()
    return ((window - apart + 1) / window).clamp(min=0) * (apart > 0)


def label_pairs(
    train: Array, y: Array, size: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Return pairs of train nodes, every second one of the same class and others of two classes."""
    order = np.argsort(y, kind="stable")
    count = np.bincount(y)
    start = np.cumsum(count) - count
    i = rng.integers(len(y), size=size)
    sign = np.where(np.arange(size) % 2, -1, 1)
    same, own = sign > 0, count[y[i]]
    # Sorted by class, and read as a circle, the other classes follow a node's own.
    room = np.where(same, own, len(y) - own)
    place = start[y[i]] + np.where(same, 0, own) + rng.integers(room)
    return train[i], train[order[place % len(y)]], sign


class SkipGram(nn.Module):
    """An embedding e and a context vector c per node."""

    def __init__(self, num_nodes: int, dim: int, weights: Tensor, negatives: int) -> None:
        """Draw the embeddings as word2vec does; contexts start at zero."""
        super().__init__()
        self.centre = nn.Parameter(torch.rand(num_nodes, dim).sub_(0.5).div_(dim))
        self.context = nn.Parameter(torch.zeros(num_nodes, dim))
        self.register_buffer("weights", weights)  # of two places of a walk as a pair, [L, L]
        self.negatives = negatives

    def forward(self, walks: Tensor, negatives: Tensor) -> Tensor:
        """Return the loss of the pairs in walks [B, L], their mean by weight."""
        weights: Tensor = self.get_buffer("weights")
        e, c = embedding(walks, self.centre), embedding(walks, self.context)
        attract = weights * softplus(-e @ c.transpose(1, 2))
        repel = softplus(e @ embedding(negatives, self.context).T).mean(2) * weights.sum(1)
        return (attract.sum() + self.negatives * repel.sum()) / (len(walks) * weights.sum())
