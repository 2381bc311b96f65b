"""A trained encoder: its file, which notices when it is damaged, and graphs embedded by it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from dgb.arrays import Array
from dgb.data.align import check_width
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph
from dgb.data.typed.schema import Schema
from dgb.errors import DGBError
from dgb.files.tensors import DIGEST, Metadata, Tensors, read_tensors, write_tensors
from dgb.model.blocks import check_kept
from dgb.model.encoder import Encoder, make_encoder
from dgb.model.typed import make_hetero_encoder
from dgb.recipe import Probe, Recipe
from dgb.run.folder import RECIPE
from dgb.run.machine import dgb_version
from dgb.run.memory import choose_scratch
from dgb.run.resolve import resolve_recipe
from dgb.run.setup import make_setup
from dgb.views.inputs import has_row_batches

MODEL = "model.safetensors"
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
