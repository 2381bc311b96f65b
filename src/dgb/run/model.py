"""The trained model of a run: encoder and decoder in files, and what they make of a graph."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dgb.arrays import Array, row_parts
from dgb.data.align import check_width
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph
from dgb.data.typed.schema import Schema
from dgb.errors import DGBError
from dgb.evaluate.recommend import Ranking, rank_by_vectors
from dgb.files.tensors import DIGEST, Metadata, Tensors, read_tensors, write_tensors
from dgb.model.blocks import AXES, check_kept
from dgb.model.encoder import Encoder, make_encoder
from dgb.model.loss import LinkTerm, Loss, find_decoder, make_loss
from dgb.model.typed import make_hetero_encoder
from dgb.recipe import PLAIN, Probe, Recipe
from dgb.run.folder import RECIPE, read_schema
from dgb.run.machine import choose_device, dgb_version
from dgb.run.memory import choose_scratch
from dgb.run.resolve import resolve_recipe
from dgb.run.setup import make_setup
from dgb.views.inputs import has_row_batches

MODEL, DECODER = "model.safetensors", "decoder.safetensors"
FORMAT = 3  # since 2, features.toml next to it says how columns are read
DIGESTED = 3  # the first format with a digest


def save_encoder(encoder: Encoder, folder: Path) -> None:
    """Write the online encoder, which is all that is kept of the model."""
    metadata = {"format": str(FORMAT), "dgb_version": dgb_version()}
    metadata["num_features"] = str(encoder.num_features)
    write_tensors(folder / MODEL, encoder.state_dict(), metadata)


def load_encoder(
    folder: Path, recipe: Recipe, device: torch.device, schema: Schema | None = None
) -> Any:
    """Return the trained encoder of a run folder; `schema` is that of a heterogeneous one."""
    if not (folder / MODEL).exists():
        raise DGBError(f"{folder} is not finished; resume it with `dgb train --resume {folder}`")
    tensors, metadata = _read(folder / MODEL)
    try:
        encoder: nn.Module
        # Models that do not say it yet are all GCNs.
        num_features = int(metadata.get("num_features") or len(tensors["weights.0"]))
        _check_sizes(tensors, recipe, schema, num_features)
        if schema is None:
            encoder = make_encoder(num_features, recipe.encoder, torch.Generator())
        else:
            encoder = make_hetero_encoder(schema, recipe, torch.Generator())
        check_kept(encoder, tensors)
        encoder.load_state_dict(tensors)
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        raise DGBError(f"{folder / MODEL} does not fit {folder / RECIPE}; train again") from error
    return encoder.to(device).eval()


def _check_sizes(
    tensors: Tensors, recipe: Recipe, schema: Schema | None, num_features: int
) -> None:
    """Refuse to draw weights of a size that no tensor has: what the files say may be false."""
    held = {size for tensor in tensors.values() for size in tensor.shape}
    types = schema.types.values() if schema else ()
    drawn = {recipe.encoder.width, num_features, *(of.width for of in types)} - {None, 0}
    if not drawn <= held or recipe.encoder.layers > len(tensors):
        raise ValueError(f"weights of {sorted(filter(None, drawn))} are not in the file")


def _read(path: Path) -> tuple[Tensors, Metadata]:
    """Return the tensors of a model whose format this version reads."""
    try:
        tensors, metadata = read_tensors(path, needs_digest=False)
    except DGBError as error:
        raise DGBError(f"{error}; train again") from None
    written = metadata.get("format", "")
    if not re.fullmatch(r"[1-9][0-9]{0,8}", written):
        problem = "is not a model of dgb: it does not say its format"
    elif int(written) > FORMAT:
        newer = f"(format {written}, this one reads up to {FORMAT}); upgrade dgb"
        problem = f"was written by a newer dgb {newer}"
    elif int(written) >= DIGESTED and DIGEST not in metadata:
        problem = "is damaged: its digest is missing"
    else:
        return tensors, metadata
    raise DGBError(f"{path} {problem}; train again")


def embed_graph(
    encoder: Any,
    graph: AnyGraph,
    recipe: Recipe,
    folder: Path | None = None,
    *,
    is_own: bool = False,
) -> Array:
    """Return the embeddings of a graph by a trained encoder; files go to the folder if need be.

    A graph of several node types is aligned to the encoder's schema before. If the encoder was
    trained on this very graph, blocks that the training did without can be made of it.
    """
    # A model may be used elsewhere than it was trained, and for other than its scores.
    train = replace(recipe.train, device="auto")
    recipe = resolve_recipe(graph, replace(recipe, train=train, probe=Probe()))
    scratch = None
    if isinstance(graph, Graph):
        check_width(graph, encoder.num_features)
        if folder is not None and has_row_batches(recipe.train, graph.num_nodes):
            scratch = choose_scratch(graph, recipe, folder)
    device = next(encoder.parameters()).device
    setup = make_setup(graph, recipe, device, is_trained=True, is_own=is_own, scratch=scratch)
    return setup.embed(encoder, "embeddings")


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
