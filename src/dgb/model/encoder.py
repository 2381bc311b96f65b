"""Encoders: what every one of them offers, the graph convolution of Eq. 1, and one over hops."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from dgb.errors import too_large
from dgb.model.layers import ACTIVATIONS, glorot
from dgb.recipe import EncoderRecipe
from dgb.views.product import product
from dgb.views.view import Rows, View, transform_both


class Encoder(Protocol):
    """What training, embedding and saving ask of an encoder, a torch module; views are its own."""

    num_features: int  # columns of X that it reads
    width: int  # columns of H

    def __call__(self, view: Any) -> Tensor:
        """Return the representations H of one view, [rows, width]."""

    def encode_both(self, view1: Any, view2: Any) -> tuple[Tensor, Tensor]:
        """Return H of two views."""

    def parameters(self) -> Any:
        """Return the weights."""

    def state_dict(self) -> dict[str, Any]:
        """Return what is saved."""


MakeEncoder = Callable[[torch.Generator], Any]  # draws an Encoder


class GCNEncoder(nn.Module):
    """H^(l+1) = σ(P H^(l) W^(l)) with P = adj or diff, whichever the view brings."""

    def __init__(
        self, num_features: int, recipe: EncoderRecipe, generator: torch.Generator
    ) -> None:
        """Draw Glorot weights for `recipe.layers` convolutions."""
        super().__init__()
        self.num_features, self.width = num_features, recipe.width
        sizes = [num_features] + [recipe.width] * recipe.layers
        self.weights = nn.ParameterList(glorot(i, o, generator) for i, o in pairwise(sizes))
        self.activations = nn.ModuleList(ACTIVATIONS[recipe.activation]() for _ in self.weights)

    def forward(self, view: View | Rows) -> Tensor:
        """Return the representations H, [num_nodes, width]."""
        return self._finish(view, view.transform(self.weights[0]))

    def encode_both(self, view1: View | Rows, view2: View | Rows) -> tuple[Tensor, Tensor]:
        """Return H of two views; they share X W where they part after it."""
        first, second = transform_both(view1, view2, self.weights[0])
        return self._finish(view1, first), self._finish(view2, second)

    def _finish(self, view: View | Rows, transformed: Tensor) -> Tensor:
        h: Tensor = self.activations[0](transformed)
        for weight, sigma in zip(self.weights[1:], self.activations[1:], strict=True):
            h = sigma(product(view.operator, h @ weight))
        return h


class BlockNorm(nn.Module):
    """BatchNorm: with the statistics of the view at hand in training, with measured ones after it.

    Online and target network each normalise what they see by its own mean and variance; nothing is
    averaged over steps, so that a batch of any kind leaves nothing behind.
    """

    mean: Tensor
    variance: Tensor
    eps = 1e-5

    def __init__(self, width: int) -> None:
        """Begin with a scale of one and no shift."""
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))

    def forward(self, h: Tensor) -> Tensor:
        """Normalise the columns."""
        if self.training:
            return nn.functional.batch_norm(
                h, None, None, self.weight, self.bias, training=True, eps=self.eps
            )
        kept = self.mean, self.variance
        return nn.functional.batch_norm(h, *kept, self.weight, self.bias, eps=self.eps)


class HopEncoder(nn.Module):
    """H = [σ(norm(P^k X̃ W_k))] for the hops k of a recipe, and σ(norm(S X̃ W)) by setting.

    Blocks stand side by side, beyond the paper. It sees as far as stacked layers, and a row of it
    needs no other row of P^k X̃: row batches are exact.
    """

    def __init__(
        self, num_features: int, recipe: EncoderRecipe, generator: torch.Generator
    ) -> None:
        """Draw a Glorot weight for every hop."""
        super().__init__()
        self.hops, count = recipe.walked, len(recipe.walked)
        self.num_features, self.width = num_features, count * recipe.width
        self.weights = nn.ParameterList(
            glorot(num_features, recipe.width, generator) for _ in self.hops
        )
        self.has_statistics = recipe.norm == "batch"
        self.norms = nn.ModuleList(
            BlockNorm(recipe.width) if self.has_statistics else nn.Identity() for _ in self.hops
        )
        self.activations = nn.ModuleList(ACTIVATIONS[recipe.activation]() for _ in self.hops)

    def forward(self, view: View | Rows) -> Tensor:
        """Return the representations H, the block of the fewest hops first."""
        blocks = view.transform_hops(tuple(self.weights), self.hops)
        parts = zip(blocks, self.norms, self.activations, strict=True)
        return torch.cat([sigma(norm(block)) for block, norm, sigma in parts], dim=1)

    def encode_both(self, view1: View | Rows, view2: View | Rows) -> tuple[Tensor, Tensor]:
        """Return H of two views."""
        return self(view1), self(view2)

    @torch.no_grad()
    def sum_moments(self, view: View | Rows) -> Tensor:
        """Return the sums of what norms see in a view, and of its squares, [2, blocks, width]."""
        blocks = [block.double() for block in view.transform_hops(tuple(self.weights), self.hops)]
        sums = [torch.stack([block.sum(dim=0), block.square().sum(dim=0)]) for block in blocks]
        return torch.stack(sums, dim=1)

    @torch.no_grad()
    def keep_statistics(self, moments: Iterable[Tensor], num_rows: int) -> None:
        """Keep the mean and variance of all rows, whose sums are given in parts."""
        mean, square = torch.stack(list(moments)).sum(dim=0) / num_rows
        norms = [norm for norm in self.norms if isinstance(norm, BlockNorm)]
        for i, norm in enumerate(norms):
            norm.mean.copy_(mean[i])
            norm.variance.copy_((square[i] - mean[i].square()).clamp_min(0))
            if not norm.variance.isfinite().all():
                raise too_large("the variances of a hop are")


def make_encoder(num_features: int, recipe: EncoderRecipe, generator: torch.Generator) -> Any:
    """Draw the encoder that a recipe asks for: the one place to add another."""
    kind = HopEncoder if recipe.hops else GCNEncoder
    return kind(num_features, recipe, generator)


def hops_of(encoder: Encoder) -> tuple[int, ...]:
    """Return the hops k of the P^k X that an encoder takes; one, where it does not say."""
    return encoder.hops if isinstance(encoder, HopEncoder) else (1,)
