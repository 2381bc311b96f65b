"""Embed a graph, the training one or another, with an encoder that is trained already."""

from pathlib import Path

from dgb.arrays import Array
from dgb.data.align import check_width
from dgb.data.graph import Graph
from dgb.model.embed import embed
from dgb.model.encoder import Encoder
from dgb.recipe import Recipe
from dgb.run.memory import choose_scratch
from dgb.views.inputs import has_row_batches, make_inputs


def embed_graph(
    encoder: Encoder, graph: Graph, recipe: Recipe, folder: Path | None = None
) -> Array:
    """Return the embeddings of a graph by a trained encoder; files go to the folder if need be."""
    check_width(graph, encoder.num_features)
    is_batched = folder is not None and has_row_batches(recipe.train, graph.num_nodes)
    scratch = choose_scratch(graph, recipe, folder) if is_batched else None
    device = next(encoder.parameters()).device
    inputs = make_inputs(graph, recipe, device, is_trained=True, scratch=scratch)
    return embed(encoder, inputs, recipe.embed).cpu().numpy()
