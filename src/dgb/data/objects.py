"""The objects of other libraries that hold a graph become a Graph."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.align import align
from dgb.data.encoding import Encoding, names_of
from dgb.data.formats.networks import from_igraph, from_networkx
from dgb.data.formats.pyg import from_pyg
from dgb.data.graph import Graph, make_graph
from dgb.data.structure import with_weights
from dgb.data.tables.from_tables import graph_from_tables
from dgb.data.tables.table import table_of
from dgb.data.weights import merge_repeats
from dgb.errors import DGBError
from dgb.recipe import Data
from dgb.settings import make_section

_DENSE = 5000  # nodes up to which a full matrix is taken: 200 MB of float64
POSSIBLE = (
    "a torch_geometric Data, a networkx or igraph graph, a dgb Graph, features with adjacency= an "
    "n × n scipy sparse matrix, or a DataFrame of nodes (or None) with edges= a DataFrame"
)


def to_graph(
    data: Any,
    *,
    adjacency: Any = None,
    edges: Any = None,
    encoding: Encoding | None = None,
    **reading: Any,
) -> Graph:
    """Return the Graph record of an object; `reading` takes the keys of a recipe's data section.

    With a model's `encoding`, the columns come in its order and by its scales.
    """
    settings = make_section(Data, "data", reading)
    if adjacency is not None and edges is not None:
        raise DGBError("give adjacency= or edges=, not both")
    if edges is not None:
        nodes, pairs = data if data is None else table_of(data, "nodes"), table_of(edges, "edges")
        graph = graph_from_tables("graph", pairs, nodes, None, settings, encoding)
    elif adjacency is not None:
        graph = _from_matrix(data, adjacency, settings.repeats)
    elif isinstance(data, Graph):  # whose weights are as its owner wants them
        return align(data, encoding)
    else:
        graph = _from_object(data, settings, encoding)
    return with_weights(align(graph, encoding), settings.weights)


def _from_object(data: Any, reading: Data, encoding: Encoding | None) -> Graph:
    if hasattr(data, "edge_index"):
        return from_pyg(data, structure=reading.structure, repeats=reading.repeats)
    if hasattr(data, "nodes") and hasattr(data, "edges") and hasattr(data, "is_multigraph"):
        return from_networkx(data, "graph", reading, encoding)
    if hasattr(data, "vs") and hasattr(data, "es") and hasattr(data, "get_edgelist"):
        return from_igraph(data, "graph", reading, encoding)
    if hasattr(data, "edge_types"):
        raise DGBError(
            "a HeteroData has several types of nodes; embed it with DGB().fit_transform(data), or "
            "give data.to_homogeneous()"
        )
    raise DGBError(f"a {type(data).__name__} is not a graph; give {POSSIBLE}")


def _from_matrix(x: Any, adjacency: Any, repeats: str) -> Graph:
    if not sparse.issparse(adjacency):
        adjacency = np.asarray(adjacency)
        if adjacency.ndim != 2 or adjacency.dtype.kind not in "biuf":
            raise DGBError("adjacency must be an n × n matrix of numbers; a scipy sparse one")
        if adjacency.shape[0] > _DENSE:
            raise DGBError(
                f"a full adjacency of {adjacency.shape[0]} nodes; give a scipy sparse matrix, "
                "for instance scipy.sparse.csr_array(adjacency)"
            )
    notes: list[str] = []
    graph = make_graph("graph", x, merge_repeats(adjacency, repeats, notes))
    graph = replace(graph, notes=(*notes, *graph.notes))
    names = getattr(x, "columns", None)
    return graph if names is None else replace(graph, encoding=names_of(names, graph.num_features))
