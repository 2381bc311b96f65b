"""DGB's encoder with the weights it was drawn with: what the graph alone is worth."""

from dgb.arrays import Array
from dgb.cookbook import load_recipe, with_seed
from dgb.data.graph import Graph
from dgb.recipe import Recipe as Settings
from dgb.run.train import train


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return the representations by an encoder that has learnt nothing."""
    recipe = load_recipe(with_seed(settings, seed), ["train.epochs=0"])
    return train(graph, recipe).embeddings()
