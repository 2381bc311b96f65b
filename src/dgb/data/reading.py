"""The graph that the [data] section of a recipe describes."""

from dataclasses import asdict
from typing import Any

from dgb.data.graph import Graph
from dgb.data.load import load_graph
from dgb.data.typed.graph import HeteroGraph
from dgb.data.typed.load import load_hetero
from dgb.recipe import Data


def read_graph(data: Data, **options: Any) -> Graph:
    """Return the graph of a recipe; options are those of `load_graph`."""
    return load_graph(data.graph, **_reading(data), **options)


def read_hetero(data: Data, **options: Any) -> HeteroGraph:
    """Return the heterogeneous graph of a recipe; options are those of `load_hetero`."""
    return load_hetero(data.graph, **_reading(data), **options)


def _reading(data: Data) -> dict[str, Any]:
    return {k: v for k, v in asdict(data).items() if k not in ("graph", "normalise")}
