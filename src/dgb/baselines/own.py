"""DGB among the systems that are compared, with what it has to be better than."""

from typing import Any

from dgb.cookbook import load_recipe, with_seed
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph
from dgb.recipe import Recipe as Settings
from dgb.run.setup import Trained
from dgb.run.train import train
from dgb.views.features import normalise_features


def represent(graph: AnyGraph, settings: Settings, seed: int) -> Any:
    """Train DGB and return the representations of the nodes that have labels."""
    return train_rows(graph, with_seed(settings, seed))[1]


def untrained(graph: AnyGraph, settings: Settings, seed: int) -> Any:
    """Return the representations by the encoder as it was drawn: what the graph alone is worth."""
    return represent(graph, load_recipe(settings, ["train.epochs=0"]), seed)


def raw(graph: AnyGraph, settings: Settings, seed: int) -> Any:  # noqa: ARG001
    """Return the normalised features alone, dense or sparse as they came."""
    x = graph.x if isinstance(graph, Graph) else graph.nodes[graph.target].x
    return normalise_features(x, settings.data)


def train_rows(graph: AnyGraph, recipe: Settings) -> tuple[Trained, Any]:
    """Return a training, and its representations of the nodes that have labels."""
    trained = train(graph, recipe)
    return trained, trained.embeddings()[trained.setup.labelled]
