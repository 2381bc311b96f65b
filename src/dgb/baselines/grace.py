"""GRACE (Zhu et al. 2020): a node's two views attract, all other nodes of both views repel.

With u_i and v_i the projections of node i in the two views and θ(u, v) = cos(u, v) / τ,
ℓ(u_i, v_i) = −log [e^θ(u_i, v_i) / (Σ_k e^θ(u_i, v_k) + Σ_{k≠i} e^θ(u_i, u_k))], and the loss is
the mean of ℓ(u_i, v_i) and ℓ(v_i, u_i) over nodes.

Taken from the paper and its release: two layers with twice the width in the first, a projection
head with ELU, drop rates and τ of each graph. Decided: a step takes `anchors` random nodes as
anchors and as each other's negatives, for n × n similarities do not fit; with all nodes
it is the paper's loss. ReLU on all graphs.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from dgb.arrays import Array
from dgb.baselines.augment import StackedGCN, TwoViews, make_views
from dgb.baselines.inputs import seeded
from dgb.baselines.learn import embed, minimise
from dgb.data.graph import Graph
from dgb.model.layers import l2_normalise
from dgb.settings import setting
from dgb.views.view import View


@dataclass(frozen=True)
class Settings(TwoViews):
    """Of GRACE; the defaults are its paper's for Cora, except `anchors`."""

    width: int = setting(128, "columns of a representation; the first layer has twice", low=1)
    projection: int = setting(128, "units of the projection head", low=1)
    temperature: float = setting(0.4, "τ of the similarities", low=1e-3)
    anchors: int = setting(1024, "nodes at most that a step compares", low=2)
    epochs: int = setting(200, "steps", low=0)
    learning_rate: float = setting(5e-4, "of Adam", low=0)


class GRACE(nn.Module):
    """The encoder and the projection head, which only the loss sees."""

    def __init__(self, num_features: int, settings: Settings) -> None:
        """Draw the weights."""
        super().__init__()
        width = settings.width
        self.encoder = StackedGCN([num_features, 2 * width, width], [nn.ReLU(), nn.ReLU()])
        self.project = nn.Sequential(
            nn.Linear(width, settings.projection), nn.ELU(), nn.Linear(settings.projection, width)
        )
        self.temperature = settings.temperature

    def forward(self, view1: View, view2: View, nodes: Tensor) -> Tensor:
        """Return the loss with these nodes as anchors and negatives."""
        u, v = (self.project(self.encoder(view, nodes)) for view in (view1, view2))
        return contrast_nodes(u, v, self.temperature)


def contrast_nodes(u: Tensor, v: Tensor, temperature: float) -> Tensor:
    """Return the mean of ℓ over both views; rows of u and v are the same nodes.

    All rows of both views are candidates of every row but the row itself: a softmax over
    2n − 1 of them whose right answer is the same node in the other view.
    """
    both = l2_normalise(torch.cat([u, v]))
    similar = (both @ both.T / temperature).fill_diagonal_(-torch.inf)
    partner = torch.arange(len(both), device=u.device).roll(len(u))
    return cross_entropy(similar, partner)


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return the encoder's representations of the whole graph, before the projection."""
    views = make_views(graph, 2 * settings.width)
    with seeded(seed):
        model = GRACE(graph.num_features, settings).to(views.x.device)
        minimise(model, lambda: model(*views.draw_pair(settings.rates, settings.anchors)), settings)
    return embed(model.encoder, views.whole())
