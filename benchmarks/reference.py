"""A plain PyG version of DGB's training step, as one would write it first: dense X, dense S.

It serves as the reference for speed and, with the same weights and masks, for the losses.
"""

from copy import deepcopy

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from dgb.model.bootstrap import Bootstrap


class PlainEncoder(nn.Module):
    """One GCN layer that takes the adjacency as edge_index, or a dense S in its place."""

    def __init__(self, num_features: int, width: int) -> None:
        """Make a GCNConv without bias and a PReLU."""
        super().__init__()
        self.conv = GCNConv(num_features, width, bias=False)
        self.sigma = nn.PReLU()

    def forward(self, x: Tensor, edge_index: Tensor | None, s: Tensor | None) -> Tensor:
        """Return σ(P X W)."""
        h = self.conv(x, edge_index) if s is None else s @ self.conv.lin(x)
        return torch.as_tensor(self.sigma(h))


class PlainDGB(nn.Module):
    """Online and target network with view 1 over the adjacency and view 2 over a dense S."""

    def __init__(self, model: Bootstrap, edge_index: Tensor, s: Tensor) -> None:
        """Take over the weights of our model."""
        super().__init__()
        num_features, width = model.encoder.weights[0].shape
        self.encoder = PlainEncoder(num_features, width)
        self.encoder.conv.lin.weight = nn.Parameter(model.encoder.weights[0].detach().T.clone())
        self.encoder.sigma.load_state_dict(model.encoder.activations[0].state_dict())
        self.projector = _plain_mlp(model.projector)
        self.predictor = _plain_mlp(model.predictor)
        self.target_encoder = deepcopy(self.encoder).requires_grad_(False)
        self.target_projector = deepcopy(self.projector).requires_grad_(False)
        self.edge_index, self.s = edge_index, s
        self.optimizer = torch.optim.Adam([p for p in self.parameters() if p.requires_grad], 1e-3)

    def loss(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the symmetric loss of two augmented feature matrices."""
        h1 = self.projector(self.encoder(x1, self.edge_index, None))
        h2 = self.projector(self.encoder(x2, None, self.s))
        with torch.no_grad():
            z1 = self.target_projector(self.target_encoder(x1, self.edge_index, None))
            z2 = self.target_projector(self.target_encoder(x2, None, self.s))
        return _distance(self.predictor(h1), z2) + _distance(self.predictor(h2), z1)

    def step(self, x1: Tensor, x2: Tensor, decay: float) -> float:
        """Take one step of Adam and one of Eq. 7; return the loss before them."""
        loss = self.loss(x1, x2)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        pairs = ((self.target_encoder, self.encoder), (self.target_projector, self.projector))
        with torch.no_grad():
            for target, online in pairs:
                for xi, theta in zip(target.parameters(), online.parameters(), strict=True):
                    xi.mul_(decay).add_(theta, alpha=1 - decay)
        return loss.item()


def _plain_mlp(head: nn.Module) -> nn.Sequential:
    """Return a head of our model as torch's own layers, with the same weights."""
    hidden, num_in = head.state_dict()["0.weight"].shape
    mlp = nn.Sequential(
        nn.Linear(num_in, hidden, bias=False),
        nn.BatchNorm1d(hidden, track_running_stats=False),
        nn.PReLU(),
        nn.Linear(hidden, head.state_dict()["3.weight"].shape[0]),
    )
    mlp.load_state_dict(head.state_dict())
    return mlp


def augmented(x: Tensor, nfd: float, nd: float) -> tuple[Tensor, Tensor]:
    """Return a view with feature dropout and one with node dropout, drawn on dense features."""
    keep = torch.rand(x.shape[0], 1) >= nd
    return nn.functional.dropout(x, nfd), x * keep / (1 - nd)


def _distance(q: Tensor, z: Tensor) -> Tensor:
    return (2 - 2 * nn.functional.cosine_similarity(q, z)).mean()
