"""Encoders: what every one of them offers, and the graph convolution of Eq. 1."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from dgb.model.hops import HopEncoder
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


def make_encoder(num_features: int, recipe: EncoderRecipe, generator: torch.Generator) -> Any:
    """Draw the encoder that a recipe asks for: the one place to add another."""
    kind = HopEncoder if recipe.hops else GCNEncoder
    return kind(num_features, recipe, generator)
