"""Embed a graph, the training one or another, with an encoder that is trained already."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from dgb.arrays import Array
from dgb.data.align import check_width
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph
from dgb.recipe import Probe, Recipe
from dgb.run.memory import choose_scratch
from dgb.run.resolve import resolve_recipe
from dgb.run.setup import make_setup
from dgb.views.inputs import has_row_batches


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
