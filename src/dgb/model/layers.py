"""Parts in place of torch's own: weights by the run's generator, activations, and Adam."""

from inspect import unwrap
from typing import Any

import torch
from torch import Tensor, nn


class _LearntSlope(torch.autograd.Function):
    """PReLU with one slope; torch's own backward takes twenty times as long on a CPU."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, slope: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        ctx.slope = slope.item()
        return nn.functional.leaky_relu(x, ctx.slope)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        (x,) = ctx.saved_tensors
        to_x = torch.ops.aten.leaky_relu_backward(grad, x, ctx.slope, False)
        to_slope = torch.dot(grad.flatten(), x.clamp(max=0).flatten())
        return to_x, to_slope[None]


class PReLU(nn.Module):
    """max(x, 0) + a min(x, 0) with one learnt slope a, which starts at 1/4."""

    def __init__(self) -> None:
        """Set the slope to torch's default."""
        super().__init__()
        self.weight = nn.Parameter(torch.full((1,), 0.25))

    def forward(self, x: Tensor) -> Tensor:
        """Apply the activation to every element."""
        y: Tensor = _LearntSlope.apply(x, self.weight)  # type: ignore[no-untyped-call]
        return y


ACTIVATIONS: dict[str, type[nn.Module]] = {
    "prelu": PReLU,
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
    # On no device: torch's own initialisation would draw from the global generator.
    layer = nn.Linear(num_in, num_out, bias=bias, device="meta")
    layer.weight = nn.Parameter(glorot(num_in, num_out, generator).detach().T.contiguous())
    if bias:
        layer.bias = nn.Parameter(torch.zeros(num_out))
    return layer


def l2_normalise(z: Tensor) -> Tensor:
    """Return the rows of z divided by their length, Eq. 8 and 9."""
    return nn.functional.normalize(z, dim=1)


def standardise(h: Tensor) -> Tensor:
    """Return columns with mean 0 and variance 1 over the rows; one row alone becomes zeros."""
    centred = h - h.mean(dim=0)
    return centred * (centred.square().mean(dim=0) + 1e-5).rsqrt()


class Adam(torch.optim.Adam):
    """Adam as torch has it, the same steps bit for bit.

    torch wraps these methods in a word to its compiler, the import of which takes about as long as
    that of all the rest of torch, and longer than a training on a small graph.
    """

    add_param_group: Any = unwrap(torch.optim.Adam.add_param_group)
    load_state_dict: Any = unwrap(torch.optim.Adam.load_state_dict)
    state_dict: Any = unwrap(torch.optim.Adam.state_dict)
    step: Any = torch.no_grad()(unwrap(torch.optim.Adam.step))
    zero_grad: Any = unwrap(torch.optim.Adam.zero_grad)
