"""One encoder that makes two augmented views agree, without a target: GRACE and CCA-SSG.

GRACE (Zhu et al. 2020): a node's two views attract, all other nodes of both views repel.

With u_i and v_i the projections of node i in the two views and θ(u, v) = cos(u, v) / τ,
ℓ(u_i, v_i) = −log [e^θ(u_i, v_i) / (Σ_k e^θ(u_i, v_k) + Σ_{k≠i} e^θ(u_i, u_k))], and the loss is
the mean of ℓ(u_i, v_i) and ℓ(v_i, u_i) over nodes.

Taken from the paper and its release: two layers with twice the width in the first, a projection
head with ELU, drop rates and τ of each graph. Decided: a step takes `anchors` random nodes as
anchors and as each other's negatives, for n × n similarities do not fit; with all nodes
it is the paper's loss. ReLU on all graphs.

CCA-SSG (Zhang et al. 2021): two views agree column by column, and columns do not repeat.

With Z̃ = (Z − mean) / (std · √n), taken per column of a view's representations,
L = ‖Z̃_A − Z̃_B‖² + λ (‖Z̃_AᵀZ̃_A − I‖² + ‖Z̃_BᵀZ̃_B − I‖²), Frobenius norms.

Taken from the paper and its release: widths, number of layers, λ, drop rates, learning rate and
epochs of each graph; ReLU between layers and none after the last. Its release writes the
first term as −tr(Z̃_AᵀZ̃_B), half of it; here it is as in the paper. Decided: a step's loss is over
at most `rows` random nodes, with n their number; the convolutions see the whole graph.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from dgb.arrays import Array
from dgb.baselines.augment import StackedGCN, TwoViews, make_views
from dgb.baselines.inputs import seeded
from dgb.baselines.learn import Schedule, embed, minimise
from dgb.data.graph import Graph
from dgb.model.layers import l2_normalise
from dgb.settings import setting
from dgb.views.view import View


@dataclass(frozen=True)
class GRACESettings(TwoViews):
    """Of GRACE; the defaults are its paper's for Cora, except `anchors`."""

    width: int = setting(128, "columns of a representation; the first layer has twice", low=1)
    projection: int = setting(128, "units of the projection head", low=1)
    temperature: float = setting(0.4, "τ of the similarities", low=1e-3)
    anchors: int = setting(1024, "nodes at most that a step compares", low=2)
    epochs: int = setting(200, "steps", low=0)
    learning_rate: float = setting(5e-4, "of Adam", low=0)


class GRACE(nn.Module):
    """The encoder and the projection head, which only the loss sees."""

    def __init__(self, num_features: int, settings: GRACESettings) -> None:
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


def represent_grace(graph: Graph, settings: GRACESettings, seed: int) -> Array:
    """Return the encoder's representations of the whole graph, before the projection."""
    views = make_views(graph, 2 * settings.width)
    with seeded(seed):
        model = GRACE(graph.num_features, settings).to(views.x.device)
        minimise(model, lambda: model(*views.draw_pair(settings.rates, settings.anchors)), settings)
    return embed(model.encoder, views.whole())


@dataclass(frozen=True)
class CCASettings(Schedule):
    """Of CCA-SSG; the defaults are its paper's for Cora."""

    width: int = setting(512, "columns of every layer", low=1)
    layers: int = setting(2, "graph convolutions in a row", low=1)
    decorrelation: float = setting(1e-3, "λ", low=0)
    rows: int = setting(4096, "nodes at most that a step's loss is over", low=2)
    edge_drop: float = setting(0.4, "share of edges dropped in either view", low=0, high=0.99)
    mask: float = setting(0.1, "share of columns masked in either view", low=0, high=0.99)
    epochs: int = setting(50, "steps", low=0)


def standardise_columns(z: Tensor) -> Tensor:
    """Return Z̃, whose columns have mean 0 and length 1; a constant column becomes 0."""
    centred = z - z.mean(0)
    length: Tensor = torch.linalg.vector_norm(centred, dim=0)  # std · √n
    return centred / length.clamp_min(1e-6)


def cca_loss(z_a: Tensor, z_b: Tensor, decorrelation: float) -> Tensor:
    """Return the squared distance of both views and λ times what their columns share."""
    a, b = standardise_columns(z_a), standardise_columns(z_b)
    eye = torch.eye(a.shape[1], device=a.device)
    shared = sum((z.T @ z - eye).square().sum() for z in (a, b))
    return (a - b).square().sum() + decorrelation * shared


def make_gcn(num_features: int, settings: CCASettings) -> StackedGCN:
    """Return convolutions with ReLU between them."""
    sigmas = [nn.ReLU() for _ in range(settings.layers - 1)]
    return StackedGCN([num_features] + settings.layers * [settings.width], [*sigmas, nn.Identity()])


def represent_cca(graph: Graph, settings: CCASettings, seed: int) -> Array:
    """Return the representations of the whole graph."""
    views, rate = make_views(graph, settings.width), (settings.edge_drop, settings.mask)

    def loss() -> Tensor:
        view_a, view_b, nodes = views.draw_pair((rate, rate), settings.rows)
        z_a, z_b = encoder(view_a, nodes), encoder(view_b, nodes)
        return cca_loss(z_a, z_b, settings.decorrelation)

    with seeded(seed):
        encoder = make_gcn(graph.num_features, settings).to(views.x.device)
        minimise(encoder, loss, settings)
    return embed(encoder, views.whole())
