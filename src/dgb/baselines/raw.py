"""The features alone, normalised as the recipe says: what a graph has to be better than."""

from typing import Any

from dgb.data.graph import Graph
from dgb.recipe import Recipe as Settings
from dgb.views.inputs import normalised_features


def represent(graph: Graph, settings: Settings, seed: int) -> Any:  # noqa: ARG001
    """Return the normalised features, dense or sparse as they came."""
    return normalised_features(graph, settings)
