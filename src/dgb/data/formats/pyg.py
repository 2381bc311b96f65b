"""To and from torch_geometric's Data."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.formats.arrays import class_labels, edge_matrix, own_ids
from dgb.data.formats.pyg_store import (
    array_of,
    column_encoding,
    count_rows,
    features_of,
    has,
    set_labels,
    set_nodes,
    splits_of,
    tensor_of,
)
from dgb.data.graph import Graph
from dgb.data.structure import make_featured_graph
from dgb.errors import DGBError

Data = Any  # torch_geometric's; imported only inside the functions, for a quick start


def from_pyg(data: Data, *, name: str = "graph", structure: str = "walk") -> Graph:
    """Make a Graph of a torch_geometric Data: x, edge_index, edge_weight, y, masks and node_ids.

    Without x, features of the kind `structure` are made of the edges; `feature_names` are kept.
    """
    if data.edge_index is None:
        raise DGBError("the Data has no edge_index; set data.edge_index, a [2, num_edges] tensor")
    x = None if data.x is None else features_of(data.x)
    num_nodes = _count_nodes(data) if x is None else x.shape[0]
    weight = array_of(data.edge_weight).ravel() if has(data, "edge_weight") else None
    graph = make_featured_graph(
        name,
        x,
        edge_matrix(array_of(data.edge_index), num_nodes, weight),
        structure,
        node_ids=own_ids(array_of(data.node_ids) if has(data, "node_ids") else None, num_nodes),
        labels=None if data.y is None else class_labels(array_of(data.y)),
        splits=splits_of(data, num_nodes),
    )
    if x is None:
        return graph
    return replace(graph, encoding=column_encoding(data, graph.num_features))


def to_pyg(graph: Graph) -> Data:
    """Make a torch_geometric Data of a Graph; sparse features become a sparse COO tensor."""
    import torch
    from torch_geometric import data as pyg

    edges = sparse.coo_array(graph.adjacency)
    data = pyg.Data(
        x=tensor_of(graph.x),
        edge_index=torch.from_numpy(np.stack(edges.coords).astype(np.int64)),
        edge_weight=torch.from_numpy(edges.data.copy()),
    )
    set_nodes(data, graph.node_ids, graph.encoding)
    set_labels(data, graph.labels, graph.splits, graph.num_nodes)
    return data


def _count_nodes(data: Data) -> int:
    # PyG itself counts by x or by the edges, which end before a last node without any.
    rows = count_rows(data)
    if rows is not None:
        return rows
    with warnings.catch_warnings():
        # PyG warns where it can only count by the edges, which is all that there is then.
        warnings.simplefilter("ignore", UserWarning)
        return int(data.num_nodes or 0)
