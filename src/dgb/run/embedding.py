"""Embed a graph, the training one or another, with an encoder that is trained already."""

from dgb.data.align import check_width
from dgb.data.graph import Array, Graph
from dgb.model.embed import embed
from dgb.model.encoder import Encoder
from dgb.recipe import Recipe
from dgb.views.inputs import make_inputs


def embed_graph(encoder: Encoder, graph: Graph, recipe: Recipe) -> Array:
    """Return the embeddings of a graph by a trained encoder."""
    check_width(graph, encoder.weights[0].shape[0])
    inputs = make_inputs(graph, recipe, encoder.weights[0].device, is_trained=True)
    return embed(encoder, inputs, recipe.embed).cpu().numpy()
