"""Bootstrapping: an online network that learns to predict a slowly moving target network, Eq. 7."""

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from dgb.model.encoder import MakeEncoder, make_encoder
from dgb.model.layers import ACTIVATIONS, linear
from dgb.recipe import Heads, Recipe


@dataclass(frozen=True, eq=False)
class Outputs:
    """What one call yields for both views; each tensor has a row per node.

    What the loss of the recipe does not ask for has no rows.
    """

    representation1: Tensor  # H of the online encoder
    representation2: Tensor
    prediction1: Tensor  # q(z) of the online network
    prediction2: Tensor
    target1: Tensor  # z′ of the target network, without gradient
    target2: Tensor
    projector: nn.Module  # of the online network

    @property
    def projection1(self) -> Tensor:
        """Online z of view 1, computed for a term that asks: predictions alone do not need it."""
        return torch.as_tensor(self.projector(self.representation1))

    @property
    def projection2(self) -> Tensor:
        """Online z of view 2."""
        return torch.as_tensor(self.projector(self.representation2))

    def float(self) -> "Outputs":
        """Return them in single precision, as the loss wants them."""
        tensors: dict[str, Any]
        tensors = {k: v.float() for k, v in vars(self).items() if isinstance(v, Tensor)}
        return replace(self, **tensors)


class Bootstrap(nn.Module):
    """Online network θ (encoder, projector, predictor), target network ξ (encoder, projector)."""

    def __init__(
        self, encoder: int | MakeEncoder, recipe: Recipe, generator: torch.Generator
    ) -> None:
        """Draw the online network, then the target: a copy, or independent by setting.

        Args:
            encoder: What draws an encoder from a generator, or the number of features of a GCN.
            recipe: Its sections `encoder`, `heads` and `train` are read.
            generator: Of all weights.

        Example:
            >>> model = Bootstrap(graph.num_features, Recipe(), torch.Generator())
            >>> model(*views).prediction1.shape
        """
        super().__init__()
        if isinstance(encoder, int):
            encoder = partial(make_encoder, encoder, recipe.encoder)
        self.encoder = encoder(generator)
        width = self.encoder.width
        self.projector = make_projector(width, recipe.heads, generator)
        self.predictor = make_predictor(width, recipe.heads, generator)
        if recipe.train.target_start == "copy":
            self.target_encoder = deepcopy(self.encoder)
            self.target_projector = deepcopy(self.projector)
        else:
            self.target_encoder = encoder(generator)
            self.target_projector = make_projector(width, recipe.heads, generator)
        self.target_encoder.requires_grad_(False)
        self.target_projector.requires_grad_(False)
        self.terms = nn.ModuleList()  # those of the loss that have weights of their own
        self.ways = recipe.train.ways if recipe.train.bootstrap else 0

    def forward(self, view1: Any, view2: Any) -> Outputs:
        """Take both views through both networks, each view with its own BatchNorm statistics."""
        if self.ways < 2:
            return self._predict_second(view1, view2)
        h1, h2 = self.encoder.encode_both(view1, view2)
        prediction1, prediction2 = (predict(self.projector, self.predictor, h) for h in (h1, h2))
        with torch.no_grad():
            targets = self.target_encoder.encode_both(view1, view2)
            target1, target2 = (self.target_projector(h) for h in targets)
        return Outputs(h1, h2, prediction1, prediction2, target1, target2, self.projector)

    def _predict_second(self, view1: Any, view2: Any) -> Outputs:
        """Take view 1 through the online network alone, view 2 through the target alone."""
        h = self.encoder(view1)
        none = prediction = target = h.new_empty(0)
        if self.ways:
            prediction = predict(self.projector, self.predictor, h)
            with torch.no_grad():
                target = self.target_projector(self.target_encoder(view2))
        return Outputs(h, none, prediction, none, none, target, self.projector)

    @torch.no_grad()
    def update_target(self, decay: float) -> None:
        """Move the target towards the online network: ξ ← p ξ + (1 − p) θ, Eq. 7."""
        xi: list[Tensor] = [*self.target_encoder.parameters(), *self.target_projector.parameters()]
        theta: list[Tensor] = [*self.encoder.parameters(), *self.projector.parameters()]
        torch._foreach_lerp_(xi, theta, 1 - decay)  # all in place, in one call


def make_mlp(num_in: int, recipe: Heads, generator: torch.Generator) -> nn.Sequential:
    """Return Linear – BatchNorm – σ – Linear. Paper silent: the shape follows BYOL."""
    layers: list[nn.Module] = [
        # BatchNorm subtracts the mean, so a bias before it would do nothing.
        linear(num_in, recipe.hidden, generator, bias=not recipe.batch_norm)
    ]
    if recipe.batch_norm:
        # Heads never run outside training, so there is no use for running statistics: online and
        # target network both normalise with the statistics of the view at hand.
        layers.append(nn.BatchNorm1d(recipe.hidden, track_running_stats=False))
    layers += [ACTIVATIONS[recipe.activation](), linear(recipe.hidden, recipe.width, generator)]
    return nn.Sequential(*layers)


def make_projector(num_in: int, recipe: Heads, generator: torch.Generator) -> nn.Module:
    """Return the projector; `none` is the paper's ablation "without projection"."""
    is_none = recipe.projector == "none"
    return nn.Identity() if is_none else make_mlp(num_in, recipe, generator)


def make_predictor(num_in: int, recipe: Heads, generator: torch.Generator) -> nn.Module:
    """Return the predictor, which ends at the projections' width."""
    projected = num_in if recipe.projector == "none" else recipe.width
    return make_mlp(projected, replace(recipe, width=projected), generator)


def predict(projector: Any, predictor: Any, h: Tensor) -> Tensor:
    """Return predictor(projector(h)).

    The projector ends and the predictor begins with a linear map, and the loss never looks at what
    lies between: where it costs less, their weights are multiplied first and the rows once.
    """
    hidden, width = predictor[0].weight.shape
    is_cheaper = hidden * (len(h) + width) < 2 * width * len(h)
    if isinstance(projector, nn.Identity) or not is_cheaper:
        return torch.as_tensor(predictor(projector(h)))
    last, first = projector[-1], predictor[0]
    weight = first.weight @ last.weight
    bias = nn.functional.linear(last.bias, first.weight, first.bias)
    merged = nn.functional.linear(projector[:-1](h), weight, bias)
    return torch.as_tensor(predictor[1:](merged))
