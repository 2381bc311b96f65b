"""The decoder that a run has learnt to tell edges by, in a file of its own, and pairs by it."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dgb.arrays import Array, row_parts
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.evaluate.recommend import Ranking, rank_by_vectors
from dgb.files.tensors import read_tensors, write_tensors
from dgb.model.blocks import AXES
from dgb.model.loss import LinkTerm, Loss, find_decoder, make_loss
from dgb.recipe import PLAIN, Recipe
from dgb.run.encoder import embed_graph, load_encoder
from dgb.run.folder import read_schema
from dgb.run.machine import choose_device

DECODER = "decoder.safetensors"


def save_decoder(loss: Loss, folder: Path) -> None:
    """Write the decoder of a run that has one."""
    if (decoder := find_decoder(loss)) is not None:
        write_tensors(folder / DECODER, decoder.state_dict(), {})


def has_decoder(folder: Path, recipe: Recipe) -> bool:
    """Tell whether a run has learnt to tell edges."""
    return recipe.links.weight > 0 and (folder / DECODER).exists()


def load_decoder(folder: Path, recipe: Recipe, encoder: Any) -> LinkTerm:
    """Return the decoder of a run folder that has one."""
    tensors, _ = read_tensors(folder / DECODER)
    try:
        if recipe.links.decoder not in {size for t in tensors.values() for size in t.shape}:
            raise ValueError("another width")  # before weights of it are drawn
        decoder = find_decoder(make_loss(recipe, encoder, torch.Generator()))
        assert decoder is not None
        decoder.load_state_dict(tensors)
    except (RuntimeError, TypeError, ValueError) as error:
        raise DGBError(f"{folder / DECODER} is not of this run; train again") from error
    return decoder.to(next(encoder.parameters()).device).eval()


def make_ranking(
    folder: Path, recipe: Recipe, graph: AnyGraph, z: Array | None = None, *, is_decoded: bool
) -> Ranking:
    """Return what ranks the pairs of a graph: the decoder of a run folder, or vectors.

    Vectors that are not given are made by the run's encoder.
    """
    if z is not None and not is_decoded:
        return rank_by_vectors(z)
    encoder = load_encoder(folder, recipe, choose_device("auto"), read_schema(folder))
    z = embed_graph(encoder, graph, recipe) if z is None else z
    if not is_decoded:
        return rank_by_vectors(z)
    # What the decoder was trained on: H alone, as it comes, not turned into axes of a run before.
    setattr(encoder, AXES, None)
    learnt = replace(recipe, embed=replace(PLAIN, operator=recipe.embed.operator))
    decoder = load_decoder(folder, recipe, encoder)
    h = torch.from_numpy(embed_graph(encoder, graph, learnt)).to(next(decoder.parameters()).device)
    return Ranking(z, partial(_rate, decoder, h), h.shape[1] * recipe.links.decoder)


@torch.no_grad()
def _rate(decoder: LinkTerm, h: Tensor, pairs: Array) -> Array:
    """Return the log-odds that pairs are edges, where half of all pairs are.

    Not as probabilities: of the likeliest pairs these are all 1, to the last digit.
    """
    out = np.empty(len(pairs), np.float32)
    for part in row_parts(len(pairs), h.shape[1]):
        own = torch.from_numpy(pairs[part].T.copy()).to(h.device)
        out[part] = decoder.rate(h, own).cpu().numpy()
    return out
