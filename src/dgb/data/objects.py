"""The objects of other libraries that hold a graph become a Graph."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.align import align
from dgb.data.encoding import Encoding, names_of
from dgb.data.formats.networks import from_igraph, from_networkx
from dgb.data.formats.pyg import from_pyg
from dgb.data.graph import Graph, make_graph
from dgb.data.rules import check_features, merge_repeats
from dgb.data.structure import with_weights
from dgb.data.tables.from_tables import graph_from_matrix, graph_from_tables
from dgb.data.tables.nodes import ID_NAMES
from dgb.data.tables.source import table_of
from dgb.errors import DGBError
from dgb.recipe import Data
from dgb.settings import make_section

_DENSE = 5000  # nodes up to which a full matrix is taken: 200 MB of float64
POSSIBLE = (
    "a torch_geometric Data, a networkx or igraph graph, a dgb Graph, features with adjacency= an "
    "n × n scipy sparse matrix, or features, a DataFrame of nodes or None with edges= a DataFrame "
    "or an array of two columns"
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
        graph = _from_edges(data, edges, settings, encoding)
    elif adjacency is not None:
        graph = _from_matrix(data, adjacency, settings.repeats)
    elif isinstance(data, Graph):  # whose weights are as its owner wants them
        return align(data, encoding)
    else:
        graph = _from_object(data, settings, encoding)
    return with_weights(align(graph, encoding), settings.weights)


def index_ids(frame: Any) -> Array | None:
    """Return the index of a pandas frame where it names rows: each once, and not 0 … n−1."""
    index: Any = getattr(frame, "index", None)
    if not getattr(index, "is_unique", False) or index.nlevels > 1:
        return None
    ids: Array = index.to_numpy()
    return None if np.array_equal(ids, np.arange(len(ids))) else ids


def _from_edges(data: Any, edges: Any, reading: Data, encoding: Encoding | None) -> Graph:
    """Make a Graph of edges between ids of a frame, or between positions of rows of a matrix."""
    pairs = table_of(_as_columns(edges), "edges")
    if data is not None and not hasattr(data, "columns") and not isinstance(data, dict):
        return graph_from_matrix("graph", pairs, check_features(data), None, reading)
    name = reading.id or "id"
    columns = {str(column).lower() for column in getattr(data, "columns", ())}
    has_ids = name.lower() in columns or (not reading.id and columns & set(ID_NAMES))
    if has_ids or index_ids(data) is None or reading.id not in ("", data.index.name):
        nodes = None if data is None else table_of(data, "nodes")
        return graph_from_tables("graph", pairs, nodes, None, reading, encoding)
    nodes = table_of(data.rename_axis(index=name).reset_index(), "nodes")
    graph = graph_from_tables("graph", pairs, nodes, None, reading, encoding)
    note = "nodes: the index is taken for the ids; data.id=COLUMN takes a column"
    return graph if data.index.name else replace(graph, notes=(note, *graph.notes))


def _as_columns(edges: Any) -> Any:
    """Return a list or array of edges, [2, m] or [m, 2], as two columns; a frame as it is."""
    if hasattr(edges, "columns") or isinstance(edges, dict):
        return edges
    ends = np.asarray(edges)
    advice = "give a DataFrame with the columns source, target and, if there is one, weight"
    if ends.ndim != 2 or 2 not in ends.shape:
        raise DGBError(f"edges must be of the shape 2 × m or m × 2, not {ends.shape}; {advice}")
    if ends.shape == (2, 2):
        raise DGBError(f"edges of the shape 2 × 2 can be read along rows or columns; {advice}")
    return dict(zip(("source", "target"), ends if ends.shape[0] == 2 else ends.T, strict=True))


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
        if getattr(adjacency, "is_sparse", False) or getattr(adjacency, "is_sparse_csr", False):
            raise DGBError("adjacency is a sparse tensor of torch; give a scipy sparse matrix")
        adjacency = np.asarray(adjacency)
        if adjacency.ndim != 2 or adjacency.dtype.kind not in "biuf":
            raise DGBError("adjacency must be an n × n matrix of numbers; a scipy sparse one")
        if adjacency.shape[0] > _DENSE:
            raise DGBError(
                f"a full adjacency of {adjacency.shape[0]} nodes; give a scipy sparse matrix, "
                "for instance scipy.sparse.csr_array(adjacency)"
            )
    notes: list[str] = []
    adjacency = merge_repeats(adjacency, repeats, notes)
    graph = make_graph("graph", x, adjacency, node_ids=index_ids(x))
    graph = replace(graph, notes=(*notes, *graph.notes))
    names = getattr(x, "columns", None)
    return graph if names is None else replace(graph, encoding=names_of(names, graph.num_features))
