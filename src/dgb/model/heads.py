"""Projector and predictor: the multilayer perceptrons after the encoder."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from dgb.model.layers import activation, linear
from dgb.recipe import Heads


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
    layers += [activation(recipe.activation), linear(recipe.hidden, recipe.width, generator)]
    return nn.Sequential(*layers)


def make_projector(num_in: int, recipe: Heads, generator: torch.Generator) -> nn.Module:
    """Return the projector; `none` is the paper's ablation "without projection"."""
    if recipe.projector == "none":
        return nn.Identity()
    return make_mlp(num_in, recipe, generator)


def make_predictor(num_in: int, recipe: Heads, generator: torch.Generator) -> nn.Module:
    """Return the predictor, which ends at the projections' width."""
    projected = num_in if recipe.projector == "none" else recipe.width
    return make_mlp(projected, replace(recipe, width=projected), generator)


def predict(projector: Any, predictor: Any, h: Tensor) -> Tensor:
    """Return predictor(projector(h)).

    The projector ends and the predictor begins with a linear map, and the loss never looks at what
    lies between: where it costs less, their weights are multiplied first and the rows once.
    """
    if not _merging_pays(projector, predictor, len(h)):
        return torch.as_tensor(predictor(projector(h)))
    last, first = projector[-1], predictor[0]
    weight = first.weight @ last.weight
    bias = nn.functional.linear(last.bias, first.weight, first.bias)
    merged = nn.functional.linear(projector[:-1](h), weight, bias)
    return torch.as_tensor(predictor[1:](merged))


def _merging_pays(projector: Any, predictor: Any, num_rows: int) -> bool:
    if isinstance(projector, nn.Identity):
        return False
    hidden, width = predictor[0].weight.shape
    return bool(hidden * (num_rows + width) < 2 * width * num_rows)
