"""From a heterogeneous graph to a trained encoder and its embeddings."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dgb.arrays import Array
from dgb.data.typed.graph import HeteroGraph
from dgb.model.bootstrap import Bootstrap
from dgb.recipe import Recipe
from dgb.run.hetero_memory import refuse_too_large
from dgb.run.hetero_parts import Parts, embed_parts, make_parts, resolve
from dgb.run.machine import choose_device, generators, set_threads
from dgb.run.memory import limit_gb
from dgb.settings import listed_names
from dgb.terminal import log
from dgb.train.loop import fit


@dataclass(frozen=True, eq=False)
class HeteroTrained:
    """A trained encoder and what it was trained on."""

    encoder: Any
    parts: Parts
    recipe: Recipe  # with its meta-paths named
    seconds: float

    def embeddings(self) -> Array:
        """Return the representations of the training graph."""
        return embed_parts(self.encoder, self.parts)

    def untrained_embeddings(self) -> Array:
        """Return the representations by the encoder as it was before its first step."""
        for_weights, _ = generators(self.recipe.train.seed, torch.device("cpu"))
        device = next(self.encoder.parameters()).device
        return embed_parts(self.parts.draw_encoder(for_weights).to(device), self.parts)

    @torch.no_grad()
    def attention(self) -> dict[str, float]:
        """Return how much each meta-path weighs in the embeddings, where they are weighed."""
        if self.recipe.hetero.encoder != "metapaths":
            return {}
        _, beta = self.encoder.encode(next(self.parts.clean_views()))
        names = listed_names(self.recipe.hetero.metapaths)
        return dict(zip(names, beta.tolist(), strict=True))


def train_hetero(graph: HeteroGraph, recipe: Recipe, folder: Path | None = None) -> HeteroTrained:
    """Train DGB on a heterogeneous graph; with a folder, go on from the checkpoint in it."""
    recipe = resolve(graph, recipe)
    set_threads(recipe.train.threads)
    device = choose_device(recipe.train.device)
    for_weights, for_masks = generators(recipe.train.seed, device)
    start = time.perf_counter()
    needed = refuse_too_large(graph, recipe)
    parts = make_parts(graph, recipe, device, limit_gb(recipe, is_on_disk=False))
    for line in (needed, *(f"note: {note}" for note in parts.notes)) if folder else ():
        log(line)
    model = Bootstrap(parts.draw_encoder, recipe, for_weights).to(device)
    fit(model, parts.sampler(for_masks), recipe.train, for_masks, folder=folder)
    return HeteroTrained(model.encoder, parts, recipe, time.perf_counter() - start)
