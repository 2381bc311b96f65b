"""Weights and activations, drawn from the run's own generator."""

import torch
from torch import Tensor, nn
from torch.nn.utils import skip_init

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "prelu": nn.PReLU,
    "relu": nn.ReLU,
    "elu": nn.ELU,
    "gelu": nn.GELU,
    "tanh": nn.Tanh,
    "none": nn.Identity,
}


def glorot(rows: int, columns: int, generator: torch.Generator) -> nn.Parameter:
    """Return a weight matrix with Glorot's uniform distribution."""
    weight = torch.empty(rows, columns)
    nn.init.xavier_uniform_(weight, generator=generator)
    return nn.Parameter(weight)


def linear(
    num_in: int, num_out: int, generator: torch.Generator, *, bias: bool = True
) -> nn.Linear:
    """Return a linear map with a Glorot weight and a bias of zero."""
    # skip_init: torch's own initialisation would draw from the global generator.
    layer: nn.Linear = skip_init(nn.Linear, num_in, num_out, bias=bias)  # type: ignore[no-untyped-call]
    layer.weight = nn.Parameter(glorot(num_in, num_out, generator).detach().T.contiguous())
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


def activation(name: str) -> nn.Module:
    """Return a fresh σ by its name."""
    return ACTIVATIONS[name]()


def l2_normalise(z: Tensor) -> Tensor:
    """Return the rows of z divided by their length, Eq. 8 and 9."""
    return nn.functional.normalize(z, dim=1)
