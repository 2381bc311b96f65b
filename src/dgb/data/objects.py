"""The objects of other libraries that hold a graph become a Graph."""

from typing import Any

from dgb.data.encoding import Encoding
from dgb.data.graph import Graph, make_graph
from dgb.data.pyg import from_pyg
from dgb.errors import DGBError


def to_graph(
    data: Any,
    *,
    adjacency: Any = None,
    edges: Any = None,
    encoding: Encoding | None = None,
    **reading: Any,
) -> Graph:
    """Return the Graph record of whatever `fit` takes."""
    del edges, encoding, reading
    if isinstance(data, Graph):
        return data
    if adjacency is not None:
        return make_graph("graph", data, adjacency)
    if hasattr(data, "edge_index"):
        return from_pyg(data)
    raise DGBError("give a PyG Data, or features with adjacency= an n × n scipy sparse matrix")
