"""The graph that the [data] section of a recipe describes."""

from dataclasses import asdict
from typing import Any

from dgb.data.graph import Graph
from dgb.data.load import load_graph
from dgb.recipe import Data


def read_graph(data: Data, **options: Any) -> Graph:
    """Return the graph of a recipe; options are those of `load_graph`."""
    reading = {k: v for k, v in asdict(data).items() if k not in ("graph", "normalise")}
    return load_graph(data.graph, **reading, **options)
