"""From a graph to a trained encoder and its embeddings."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse

from dgb.arrays import Array, row_parts
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap
from dgb.model.embed import embed
from dgb.model.encoder import Encoder, GCNEncoder
from dgb.recipe import Recipe
from dgb.run.machine import choose_device, generators, has_bf16, set_threads
from dgb.run.memory import choose_scratch, estimate, limit_gb
from dgb.terminal import log
from dgb.train.loop import fit
from dgb.views.inputs import Inputs, make_inputs, normalised_features
from dgb.views.operators import theta
from dgb.views.sampler import describe_path, epoch_sampler
from dgb.views.view import ONE_LAYER, parse_view


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained encoder and what it was trained on."""

    encoder: Encoder
    inputs: Inputs
    recipe: Recipe
    seconds: float

    def embeddings(self) -> Array:
        """Return the representations of the training graph."""
        return embed(self.encoder, self.inputs, self.recipe.embed).cpu().numpy()

    def untrained_embeddings(self) -> Array:
        """Return the representations by the encoder as it was before its first step."""
        for_weights, _ = generators(self.recipe.train.seed, torch.device("cpu"))
        encoder = GCNEncoder(self.inputs.x.shape[1], self.recipe.encoder, for_weights)
        encoder = encoder.to(next(self.encoder.parameters()).device)
        return embed(encoder, self.inputs, self.recipe.embed, "untrained").cpu().numpy()

    def raw_features(self, graph: Graph) -> Any:
        """Return X as it was trained on; it lies in a file where the views did."""
        x, store = graph.x, self.inputs.store
        if not self.inputs.is_on_disk or store is None or sparse.issparse(x):
            return normalised_features(graph, self.recipe)
        if self.inputs.row_scale is None:
            return x
        factors, out = self.inputs.row_scale.numpy(), store.make_array("raw", self.inputs.shape)
        for rows in row_parts(*x.shape):
            np.multiply(x[rows], factors[rows, None], out=out[rows])
        return out


def train_encoder(graph: Graph, recipe: Recipe, folder: Path | None = None) -> Trained:
    """Train DGB on a graph; with a folder, go on from the checkpoint in it if there is one."""
    check_recipe(recipe)
    set_threads(recipe.train.threads)
    device = choose_device(recipe.train.device)
    for_weights, for_masks = generators(recipe.train.seed, device)
    start = time.perf_counter()
    scratch = choose_scratch(graph, recipe, folder)
    limit = limit_gb(recipe, is_on_disk=scratch is not None)
    inputs = make_inputs(graph, recipe, device, scratch=scratch)
    if folder:
        _tell_path(graph, inputs, recipe, limit)
    model = Bootstrap(graph.num_features, recipe, for_weights).to(device)
    fit(model, epoch_sampler(inputs, recipe, for_masks), recipe.train, for_masks, folder=folder)
    return Trained(model.encoder, inputs, recipe, time.perf_counter() - start)


def _tell_path(graph: Graph, inputs: Inputs, recipe: Recipe, limit: float | None) -> None:
    needed = sum(estimate(graph, recipe, is_on_disk=inputs.is_on_disk).values())
    free = "" if limit is None else f" of {limit:.1f}"
    log(f"{describe_path(inputs, recipe)}; about {needed:.1f}{free} GB of memory")
    if recipe.train.bf16 and not has_bf16(inputs.device):
        log("warning: this device has no bfloat16 of its own; train.bf16=false is faster here")


def check_recipe(recipe: Recipe) -> None:
    """Refuse settings that make no sense or do not go together."""
    parse_view(recipe.view1)
    parse_view(recipe.view2)
    theta(recipe.diffusion)
    choose_device(recipe.train.device)
    if recipe.encoder.layers > 1 and recipe.train.batch_size:
        raise DGBError(f"train.batch_size needs {ONE_LAYER}")
    if not recipe.probe.weight_decays:
        raise DGBError("probe.weight_decays must list at least one number")
    if recipe.train.batch_size == 1 and recipe.heads.batch_norm:
        raise DGBError(
            "train.batch_size must be 0 or at least 2: BatchNorm needs more than one row"
        )
    if recipe.train.batch_size and recipe.train.order == "transform":
        raise DGBError("train.batch_size needs train.order=auto or propagate, not transform")
