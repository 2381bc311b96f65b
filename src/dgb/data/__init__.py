"""Anything a user has becomes one Graph record."""

from dgb.data.graph import Graph, Split, make_graph
from dgb.data.load import load_graph

__all__ = ["Graph", "Split", "load_graph", "make_graph"]
