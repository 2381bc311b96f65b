"""DGB itself, as one of the systems that are compared."""

from dgb.arrays import Array
from dgb.cookbook import with_seed
from dgb.data.graph import Graph
from dgb.recipe import Recipe as Settings
from dgb.run.train import train


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Train DGB and return its representations."""
    return train(graph, with_seed(settings, seed)).embeddings()
