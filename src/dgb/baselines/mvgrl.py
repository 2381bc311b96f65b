"""MVGRL (Hassani and Khasahmadi 2020): the nodes of one view know the summary of the other.

    H_a = σ(P X W_a),  H_d = σ(S X W_d),  s_v = sigmoid(mean of the rows of H_v)
    loss = BCE of D(h_d, s_a) and D(h_a, s_d) against the same with H̃ in the place of H

where S is personalised PageRank, D(h, s) = sigmoid(hᵀ M s), and H̃ comes from X with its rows
exchanged at random, alike in both views; the representation is H_a + H_d. Taken from the release:
PPR with alpha 0.2 over A + I, an encoder for each view, one convolution of 512 units with PReLU,
no head before the readout, one D for both directions, Adam 1e-3, patience 20.
Decided: whole graphs, or rows of them, instead of the subgraphs of 2000 nodes that the release
draws because its S is dense (ours is never built, so nodes keep all their neighbours); no bias;
features in rows that add up to one on all graphs; a limit on the epochs.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dgb.arrays import Array
from dgb.baselines.dgi import Discriminator, Pair, contrast, draw_pairs, one_layer, summarise_graph
from dgb.baselines.inputs import adj, features, seeded
from dgb.baselines.learn import minimise
from dgb.data.graph import Graph
from dgb.recipe import DiffusionRecipe
from dgb.run.machine import choose_device
from dgb.settings import setting
from dgb.views.operators import make_diff
from dgb.views.view import View


@dataclass(frozen=True)
class Settings:
    """Of MVGRL; the defaults are its release's but for the limit on the epochs and the error."""

    width: int = setting(512, "columns of a representation", low=1)
    alpha: float = setting(0.2, "teleport probability of PPR", low=1e-4, high=1)
    error: float = setting(1e-2, "of S, spectral norm", low=1e-6, high=0.5)
    batch_size: int = setting(0, "rows of H a step; 0 takes all at once", low=0)
    epochs: int = setting(80, "steps at most", low=0)
    learning_rate: float = setting(1e-3, "of Adam", low=0)
    weight_decay: float = setting(0.0, "of Adam", low=0)
    patience: int = setting(20, "steps without a smaller loss; 0 takes all", low=0)


class MVGRL(nn.Module):
    """An encoder for each view, and one discriminator."""

    def __init__(self, num_features: int, width: int) -> None:
        """Draw the weights."""
        super().__init__()
        self.adj = one_layer(num_features, width)
        self.diff = one_layer(num_features, width)
        self.discriminator = Discriminator(width)

    def loss(self, encode_adj: Pair, encode_diff: Pair) -> Tensor:
        """Return the loss of one step."""
        h_adj, corrupted_adj = encode_adj(self.adj)
        h_diff, corrupted_diff = encode_diff(self.diff)
        s_adj, s_diff = summarise_graph(h_adj), summarise_graph(h_diff)
        d = self.discriminator
        over_diff = contrast(d(h_diff, s_adj), d(corrupted_diff, s_adj))
        return (over_diff + contrast(d(h_adj, s_diff), d(corrupted_adj, s_diff))) / 2

    def forward(self, views: tuple[View, View]) -> Tensor:
        """Return H_a + H_d."""
        h: Tensor = self.adj(views[0]) + self.diff(views[1])
        return h


def make_view_pair(graph: Graph, settings: Settings) -> tuple[View, View]:
    """Return the same features over the adjacency and over the diffusion."""
    x, p = features(graph), adj(graph)
    recipe = DiffusionRecipe(alpha=settings.alpha, error=settings.error, self_loops=True)
    return View(x, p), View(x, make_diff(graph.adjacency, recipe).to(p.values.device))


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return the representations H_a + H_d of all nodes."""
    views = make_view_pair(graph, settings)
    with seeded(seed):
        model = MVGRL(graph.num_features, settings.width).to(choose_device("auto"))
        pairs = draw_pairs(views, settings.batch_size)
        minimise(model, lambda: model.loss(*next(pairs)), settings)
    with torch.no_grad():
        h: Array = model(views).cpu().numpy()
    return h
