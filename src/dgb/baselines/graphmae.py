"""GraphMAE (Hou et al. 2022): hide the features of some nodes, and reconstruct their direction.

L = mean over masked i of (1 − cos(x_i, z_i))^γ,  Z = P R(H) W,  H = encoder(X̃, P),
where X̃ has a learnt [MASK] token in the masked rows and R sets the code of masked nodes to zero.

Taken from the paper: mask, re-mask, the scaled cosine error, two layers with PReLU, a decoder of
one layer, dropout, Adam, and the encoder without masks as the result. From its release: the
features of another node instead of the token in a share of the masked rows.

Decided, for speed: graph convolutions in the place of graph attention (the paper compares
both), fewer epochs, and where `targets` is set, a new sample of the masked nodes in each loss. The
paper's linear map E before the decoder is a part of W, as P R(H E) W = P R(H) (E W). No biases, no
schedule for the learning rate; dropout spares the token. Two savings change no result: the second
layer is computed where R keeps it, and Z not at all, since for the aggregated code c of a node
⟨x, Wc⟩ = ⟨xW, c⟩ and |Wc|² = cᵀ(WᵀW)c.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dgb.arrays import Array
from dgb.baselines.inputs import adj, features, global_generator, seeded
from dgb.baselines.learn import Schedule, embed, minimise
from dgb.data.graph import Graph
from dgb.model.layers import PReLU, glorot
from dgb.settings import setting
from dgb.views.augment import Features, node_feature_dropout, scale_rows
from dgb.views.product import Operator, product, times
from dgb.views.sparse import SparseMatrix

TINY = 1e-12  # of a squared length: below it a row has no direction, and its cosine is 0


@dataclass(frozen=True)
class Settings(Schedule):
    """Of GraphMAE; the defaults are its release's on Cora where the file does not say otherwise."""

    hidden: int = setting(512, "units of both layers of the encoder", low=1)
    mask_rate: float = setting(0.5, "share of the nodes that are masked", low=0.01, high=1)
    replace_rate: float = setting(0.05, "of these, with another node's row", low=0, high=1)
    gamma: float = setting(3.0, "exponent γ of the scaled cosine error", low=1)
    dropout: float = setting(0.2, "of the input of each layer", low=0, high=0.95)
    targets: int = setting(0, "masked nodes in the loss of an epoch; 0 takes all", low=0)
    weight_decay: float = setting(2e-4, "of Adam", low=0)


@dataclass(frozen=True, eq=False)
class Mask:
    """Which nodes are masked in one epoch, and what stands in their place."""

    kept: Tensor  # nodes that show their features
    targets: Tensor  # masked nodes to reconstruct
    source: Tensor  # [num_nodes], the node whose features stand there; num_nodes is the token


def draw_mask(num_nodes: int, settings: Settings, device: torch.device) -> Mask:
    """Draw the masked nodes, and those of them that get the features of another node."""
    order = torch.randperm(num_nodes, device=device)
    masked, kept = order.tensor_split([max(1, round(settings.mask_rate * num_nodes))])
    replaced, hidden = masked.tensor_split([round(settings.replace_rate * len(masked))])
    source = torch.arange(num_nodes, device=device)
    source[hidden] = num_nodes
    source[replaced] = torch.randperm(num_nodes, device=device)[: len(replaced)]
    targets = masked[torch.randperm(len(masked), device=device)]
    return Mask(kept, targets[: settings.targets or None], source)


def feature_rows(x: Features, wanted: Tensor) -> Features:
    """Return X with all rows but the wanted ones set to zero."""
    keep = torch.zeros(x.shape[0], 1, device=wanted.device)
    keep[wanted] = 1
    rows = scale_rows(x, keep)
    return rows.without_zeros() if isinstance(rows, SparseMatrix) else rows


def squared_length(x: Features) -> Tensor:
    """Return |x_i|² of every row."""
    if isinstance(x, SparseMatrix):
        return x.values.new_zeros(x.shape[0]).index_add(0, x.pattern.row, x.values.square())
    return x.square().sum(1)


class GraphMAE(nn.Module):
    """Two convolutions, and the weight of the decoder's convolution."""

    def __init__(self, num_features: int, settings: Settings) -> None:
        """Draw the weights; the token starts at zero, as in the release."""
        super().__init__()
        width, draw = settings.hidden, torch.default_generator
        self.first = glorot(num_features, width, draw)
        self.second = glorot(width, width, draw)
        self.decoder = glorot(num_features, width, draw)
        self.token = nn.Parameter(torch.zeros(1, num_features))
        self.activations = nn.ModuleList([PReLU(), PReLU()])
        self.drop = nn.Dropout(settings.dropout)

    def enter(self, x: Features, mask: Mask | None) -> Tensor:
        """Return X̃ W₀; a row of X̃ W₀ is the row of X̃ times W₀, so masks come after the product."""
        if mask is None:
            return times(x, self.first)
        draw, rate = global_generator(self.token.device), self.drop.p * self.training
        shown = feature_rows(x, mask.source[mask.source < x.shape[0]])
        inside = times(node_feature_dropout(shown, rate, draw), self.first)
        return torch.cat([inside, self.token @ self.first]).index_select(0, mask.source)

    def encode(self, x: Features, p: Operator, mask: Mask | None = None) -> Tensor:
        """Return H; of masked features, at the kept nodes alone, [len(mask.kept), hidden]."""
        h = product(p, self.drop(self.activations[0](product(p, self.enter(x, mask)))))
        if mask is not None:
            h = h.index_select(0, mask.kept)
        out: Tensor = self.activations[1](h @ self.second)
        return out

    def aggregate(self, h: Tensor, p: Operator, mask: Mask) -> Tensor:
        """Return P R(H) at the targets, from H at the kept nodes."""
        code = h.new_zeros(len(mask.source), h.shape[1])
        code = code.index_copy(0, mask.kept, self.drop(h))
        return product(p, code).index_select(0, mask.targets)

    def forward(self, x: Features, p: Operator, mask: Mask) -> Tensor:
        """Return the cosine of features and reconstruction, one for each target."""
        c = self.aggregate(self.encode(x, p, mask), p, mask)
        x = feature_rows(x, mask.targets)
        inner = (times(x, self.decoder).index_select(0, mask.targets) * c).sum(1)
        z_length = ((c @ (self.decoder.T @ self.decoder)) * c).sum(1)
        x_length = squared_length(x).index_select(0, mask.targets)
        return inner * (x_length.clamp(min=TINY) * z_length.clamp(min=TINY)).rsqrt()


def scaled_cosine_error(cosine: Tensor, gamma: float) -> Tensor:
    """Return the mean of (1 − cos)^γ."""
    return (1 - cosine).clamp(min=0).pow(gamma).mean()


def train_autoencoder(x: Features, p: SparseMatrix, settings: Settings) -> GraphMAE:
    """Return a model that has learnt to reconstruct, with a new mask every epoch."""
    device = p.values.device
    model = GraphMAE(x.shape[1], settings).to(device)

    def loss() -> Tensor:
        mask = draw_mask(x.shape[0], settings, device)
        return scaled_cosine_error(model(x, p, mask), settings.gamma)

    minimise(model, loss, settings)
    return model


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return the encoder's output for the features as they are, [num_nodes, hidden]."""
    x, p = features(graph), adj(graph)
    with seeded(seed):
        model = train_autoencoder(x, p, settings)
    return embed(model.encode, x, p)
