"""BGRL and DGI as people write them with PyG: GCNConv on an edge_index and dense features.

Both have one convolution of the width of ours, with the normalisation inside, and Adam.
"""

from copy import deepcopy

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import DeepGraphInfomax, GCNConv
from torch_geometric.utils import dropout_edge, from_scipy_sparse_matrix

from dgb.data.graph import Graph
from dgb.views.features import row_normalise
from step import Step

EDGE_DROPS, MASKS = (0.2, 0.4), (0.3, 0.4)  # of BGRL's two views
DECAY = 0.99


class Convolution(nn.Module):
    """A GCN layer and its activation."""

    def __init__(self, num_features: int, width: int, *, batch_norm: bool) -> None:
        """Draw the weights."""
        super().__init__()
        self.conv = GCNConv(num_features, width)
        self.norm = nn.BatchNorm1d(width) if batch_norm else nn.Identity()
        self.act = nn.PReLU()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return the representations."""
        return torch.as_tensor(self.act(self.norm(self.conv(x, edge_index))))


def bgrl_step(graph: Graph, width: int = 512) -> Step:
    """Return a step of BGRL: two views with dropped edges and masked columns, an EMA target."""
    x, edge_index = _inputs(graph)
    online = Convolution(x.shape[1], width, batch_norm=True)
    target = deepcopy(online).requires_grad_(False)
    predictor = nn.Sequential(nn.Linear(width, width), nn.PReLU(), nn.Linear(width, width))
    optimizer = torch.optim.Adam([*online.parameters(), *predictor.parameters()], 1e-3)

    def step() -> None:
        views = [_view(x, edge_index, *rates) for rates in zip(EDGE_DROPS, MASKS, strict=True)]
        q1, q2 = (predictor(online(*view)) for view in views)
        with torch.no_grad():
            z1, z2 = (target(*view) for view in views)
        loss = 2 - _cosine(q1, z2) - _cosine(q2, z1)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        with torch.no_grad():
            for xi, theta in zip(target.parameters(), online.parameters(), strict=True):
                xi.mul_(DECAY).add_(theta, alpha=1 - DECAY)

    return step


def dgi_step(graph: Graph, width: int = 512) -> Step:
    """Return a step of DGI by PyG's own DeepGraphInfomax, with exchanged rows as corruption."""
    x, edge_index = _inputs(graph)
    model = DeepGraphInfomax(
        hidden_channels=width,
        encoder=Convolution(x.shape[1], width, batch_norm=False),
        summary=lambda z, *_: z.mean(dim=0).sigmoid(),
        corruption=lambda x, edge_index: (x[torch.randperm(len(x))], edge_index),
    )
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)

    def step() -> None:
        optimizer.zero_grad()
        model.loss(*model(x, edge_index)).backward()
        optimizer.step()

    return step


def _inputs(graph: Graph) -> tuple[Tensor, Tensor]:
    x = row_normalise(graph.x)
    edge_index, _ = from_scipy_sparse_matrix(graph.adjacency)
    return torch.from_numpy(np.asarray(x.toarray() if hasattr(x, "toarray") else x)), edge_index


def _view(x: Tensor, edge_index: Tensor, edge_drop: float, mask: float) -> tuple[Tensor, Tensor]:
    dropped, _ = dropout_edge(edge_index, p=edge_drop)
    return x * (torch.rand(x.shape[1]) >= mask), dropped


def _cosine(q: Tensor, z: Tensor) -> Tensor:
    return nn.functional.cosine_similarity(q, z).mean()
