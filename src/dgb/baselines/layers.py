"""The first linear map of a classifier: dropout and product on the non-zero features alone."""

import torch
from torch import Tensor, nn

from dgb.views.augment import Features, node_feature_dropout
from dgb.views.product import times


class FeatureLinear(nn.Module):
    """X̃ W + b, where X̃ is X after dropout; a dropped zero is a zero, so zeros cost nothing."""

    def __init__(self, num_in: int, num_out: int, drop_rate: float, *, bias: bool = False) -> None:
        """Draw a Glorot weight."""
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(num_in, num_out)))
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
