"""DeepWalk (Perozzi, Al-Rfou and Skiena 2014): skip-gram over random walks, graph only.

Two nodes i, j of a walk that are at most `window` steps apart are a pair, and the loss of a pair is
    −log σ(e_i · c_j) − Σ_k log σ(−e_i · c_k),    k drawn ∝ (visits of k)^¾, `negatives` times.
Taken: walks that start at every node, and skip-gram. A pair counts (window − |i − j| + 1) / window,
which is how often word2vec's random window holds it.
Decided: 10 walks a node, where the paper has 80; negative sampling in place of the hierarchical
softmax, as most later work does; the negatives are shared by a batch and weighted to `negatives` a
pair; Adam with a rate that falls to 0 in place of SGD; a step takes an edge by its weight; the walk
of a node without edges stays there.
With features, a row is the embedding and the features next to it, each of length one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, softplus

from dgb.arrays import Array
from dgb.baselines.inputs import as_dense, features, seeded
from dgb.baselines.learn import step
from dgb.data.graph import Graph
from dgb.model.layers import Adam
from dgb.run.machine import choose_device
from dgb.settings import setting
from dgb.terminal import progress_bar

MOST_STEPS = 2000  # over all walks


@dataclass(frozen=True)
class Settings:
    """Of DeepWalk."""

    features: bool = setting(True, "whether the features stand next to the embedding")
    dim: int = setting(128, "of an embedding", low=1)
    walks: int = setting(10, "that start at each node", low=1)
    length: int = setting(40, "nodes of a walk", low=2)
    window: int = setting(10, "steps between two nodes of a pair at most", low=1)
    negatives: int = setting(5, "per pair, in expectation", low=1)
    shared_negatives: int = setting(64, "drawn for a batch", low=1)
    batch_size: int = setting(128, "walks of a step", low=1)
    learning_rate: float = setting(0.01, "of Adam at the start", low=0)


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return a row per node: the embedding, with the features next to it where wanted."""
    with seeded(seed) as rng:
        z = embed_walks(graph.adjacency, settings, rng)
    if not settings.features:
        return z
    return np.hstack([_unit_rows(z), _unit_rows(as_dense(features(graph)).cpu().numpy())])


def embed_walks(adjacency: Any, settings: Settings, rng: np.random.Generator) -> Array:
    """Return the embeddings that skip-gram learns from walks, [num_nodes, dim]."""
    num_nodes, device = adjacency.shape[0], choose_device("auto")
    starts = np.concatenate([rng.permutation(num_nodes) for _ in range(settings.walks)])
    walks = draw_walks(adjacency, starts, settings.length, rng)
    noise = np.cumsum(np.bincount(walks.ravel(), minlength=num_nodes) ** 0.75)
    noise /= noise[-1]
    size = batch_size(len(walks), settings.batch_size)
    batches = torch.split(torch.from_numpy(walks).to(device), size)
    weights = pair_weights(settings.length, settings.window)
    model = SkipGram(num_nodes, settings.dim, weights, settings.negatives).to(device)
    adam = Adam(model.parameters(), settings.learning_rate, fused=True)
    falling = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.0, len(batches))
    for batch in progress_bar(batches, "train", unit="batch"):
        drawn = np.searchsorted(noise, rng.random(settings.shared_negatives), "right")
        step(adam, model(batch, torch.from_numpy(drawn).to(device)))
        falling.step()
    z: Array = model.centre.detach().cpu().numpy()
    return z


def _unit_rows(rows: Array) -> Array:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length == 0, 1, length)


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
