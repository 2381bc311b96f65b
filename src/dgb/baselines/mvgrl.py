"""MVGRL (Hassani and Khasahmadi 2020): the nodes of one view know the summary of the other.

    H_a = σ(P X W_a),  H_d = σ(S X W_d),  s_v = sigmoid(mean of the rows of H_v)
    loss = BCE of D(h_d, s_a) and D(h_a, s_d) against the same with H̃ in the place of H

where S is personalised PageRank, D(h, s) = sigmoid(hᵀ M s), and H̃ comes from X with its rows
exchanged at random, alike in both views; the representation is H_a + H_d. Taken from the release:
PPR with alpha 0.2 over A + I, an encoder for each view, one convolution of 512 units with PReLU,
no head before the readout, one D for both directions, Adam 1e-3, patience 20.
Decided: whole graphs, or rows of them, instead of the subgraphs of 2000 nodes that the release
draws because its S is dense (ours is never built, so nodes keep all their neighbors); no bias;
features in rows that add up to one on all graphs; a limit on the epochs.
"""

from dataclasses import dataclass

from dgb.arrays import Array
from dgb.baselines import dgi
from dgb.baselines.inputs import adj, features
from dgb.data.graph import Graph
from dgb.recipe import DiffusionRecipe
from dgb.settings import setting
from dgb.views.operators import make_diff
from dgb.views.view import View


@dataclass(frozen=True)
class Settings(dgi.Settings):
    """Of MVGRL; the defaults are its release's but for the limit on the epochs and the error."""

    alpha: float = setting(0.2, "teleport probability of PPR", low=1e-4, high=1)
    error: float = setting(1e-2, "of S, spectral norm", low=1e-6, high=0.5)
    epochs: int = setting(80, "steps at most", low=0)


def make_view_pair(graph: Graph, settings: Settings) -> tuple[View, View]:
    """Return the same features over the adjacency and over the diffusion."""
    x, p = features(graph), adj(graph)
    recipe = DiffusionRecipe(alpha=settings.alpha, error=settings.error, self_loops=True)
    return View(x, p), View(x, make_diff(graph.adjacency, recipe).to(p.values.device))


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return the representations H_a + H_d of all nodes."""
    return dgi.learn_views(make_view_pair(graph, settings), settings, seed)
