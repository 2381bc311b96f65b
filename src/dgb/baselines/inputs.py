"""What the methods start from: features, operators, the first linear map, and random numbers."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn

from dgb.data.graph import Graph
from dgb.model.layers import glorot
from dgb.run.machine import choose_device
from dgb.views.augment import Features, node_feature_dropout
from dgb.views.features import row_normalise, to_features
from dgb.views.operators import make_adj
from dgb.views.product import times
from dgb.views.sparse import SparseMatrix

DENSE = 0.05  # share of non-zeros above which dense features cost less, measured on CPU


def features(graph: Graph) -> Features:
    """Return row-normalised X on the device, sparse where that is the cheaper form."""
    return to_features(row_normalise(graph.x)).to(choose_device("auto"))


def as_dense(x: Features) -> Tensor:
    """Return features as an ordinary tensor."""
    return x.dense() if isinstance(x, SparseMatrix) else x


def is_dense(x: Features) -> bool:
    """Tell whether the gradient of X W, Xᵀ times a tall matrix, costs less from dense features."""
    return not isinstance(x, SparseMatrix) or len(x.values) > DENSE * x.shape[0] * x.shape[1]


def adj(graph: Graph) -> SparseMatrix:
    """Return D̃^-½ (A + I) D̃^-½ of Eq. 1 on the device."""
    return make_adj(graph.adjacency).to(choose_device("auto"))


@contextmanager
def seeded(seed: int) -> Iterator[np.random.Generator]:
    """Let torch draw from this seed in here, and leave its state outside as it was.

    Yields a generator of numpy's for what is drawn outside of torch.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield np.random.default_rng(seed)


class FeatureLinear(nn.Module):
    """X̃ W + b, where X̃ is X after dropout; a dropped zero is a zero, so zeros cost nothing."""

    def __init__(self, num_in: int, num_out: int, drop_rate: float, *, bias: bool = False) -> None:
        """Draw a Glorot weight."""
        super().__init__()
        self.weight = glorot(num_in, num_out, torch.default_generator)
        self.bias = nn.Parameter(torch.zeros(num_out)) if bias else None
        self.drop_rate = drop_rate

    def forward(self, x: Features) -> Tensor:
        """Return a row per node, with new dropout in training."""
        if self.training:
            x = node_feature_dropout(x, self.drop_rate, global_generator(self.weight.device))
        out = times(x, self.weight)
        return out if self.bias is None else out + self.bias


def global_generator(device: torch.device) -> torch.Generator:
    """Return the generator that torch draws from on this device, which `seeded` seeds."""
    if device.type == "cuda":
        return torch.cuda.default_generators[device.index or 0]
    return torch.default_generator
