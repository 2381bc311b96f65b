"""CCA-SSG (Zhang et al. 2021): two views agree column by column, and columns do not repeat.

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

from dgb.arrays import Array
from dgb.baselines.augment import StackedGCN, make_views
from dgb.baselines.inputs import seeded
from dgb.baselines.learn import Schedule, embed, minimise
from dgb.data.graph import Graph
from dgb.settings import setting


@dataclass(frozen=True)
class Settings(Schedule):
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


def make_gcn(num_features: int, settings: Settings) -> StackedGCN:
    """Return convolutions with ReLU between them."""
    sigmas = [nn.ReLU() for _ in range(settings.layers - 1)]
    return StackedGCN([num_features] + settings.layers * [settings.width], [*sigmas, nn.Identity()])


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
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
