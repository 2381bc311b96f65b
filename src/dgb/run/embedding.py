"""Embed a graph, the training one or another, with an encoder that is trained already."""

from dgb.data.graph import Array, Graph
from dgb.errors import DGBError
from dgb.model.embed import embed
from dgb.model.encoder import Encoder
from dgb.recipe import Recipe
from dgb.views.inputs import make_inputs


def embed_graph(encoder: Encoder, graph: Graph, recipe: Recipe) -> Array:
    """Return the embeddings of a graph by a trained encoder."""
    expected = encoder.weights[0].shape[0]
    if graph.num_features != expected:
        raise DGBError(
            f"{graph.name} has {graph.num_features} feature columns, but the model was trained on "
            f"{expected}; give the same columns in the same order"
        )
    inputs = make_inputs(graph, recipe, encoder.weights[0].device, is_trained=True)
    return embed(encoder, inputs, recipe.embed).cpu().numpy()
