"""Projector and predictor: the multilayer perceptrons after the encoder."""

from dataclasses import replace

import torch
from torch import nn

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
