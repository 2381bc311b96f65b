"""To and from torch_geometric's Data."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.column_names import names_of, scales_of
from dgb.data.formats.arrays import class_labels, edge_matrix, refuse_unless
from dgb.data.graph import Array, Features, Graph, Split
from dgb.data.structure import make_featured_graph
from dgb.errors import DGBError

Data = Any  # torch_geometric's; imported only inside the functions, for a quick start
Tensor = Any
_MASKS = ("train_mask", "val_mask", "test_mask")


def from_pyg(data: Data, *, name: str = "graph", structure: str = "walk") -> Graph:
    """Make a Graph of a torch_geometric Data: x, edge_index, edge_weight, y, masks and node_ids.

    Without x, features of the kind `structure` are made of the edges; `feature_names` are kept.
    """
    if data.edge_index is None:
        raise DGBError("the Data has no edge_index; set data.edge_index, a [2, num_edges] tensor")
    x = None if data.x is None else _features(data.x)
    num_nodes = _count_nodes(data) if x is None else x.shape[0]
    weight = _array(data.edge_weight).ravel() if _has(data, "edge_weight") else None
    graph = make_featured_graph(
        name,
        x,
        edge_matrix(_array(data.edge_index), num_nodes, weight),
        structure,
        node_ids=_array(data.node_ids) if _has(data, "node_ids") else None,
        labels=None if data.y is None else class_labels(_array(data.y)),
        splits=_splits(data, num_nodes),
    )
    if x is None or not _has(data, "feature_names"):
        return graph
    scales = _array(data.feature_scales) if _has(data, "feature_scales") else None
    return replace(graph, encoding=names_of(data.feature_names, graph.num_features, scales))


def to_pyg(graph: Graph) -> Data:
    """Make a torch_geometric Data of a Graph; sparse features become a sparse COO tensor."""
    import torch
    from torch_geometric import data as pyg

    edges = sparse.coo_array(graph.adjacency)
    data = pyg.Data(
        x=_tensor(graph.x),
        edge_index=torch.from_numpy(np.stack(edges.coords).astype(np.int64)),
        edge_weight=torch.from_numpy(edges.data.copy()),
    )
    if graph.labels is not None:
        data.y = torch.from_numpy(graph.labels.copy())
    is_number = graph.node_ids.dtype.kind in "iuf"
    data.node_ids = (
        torch.from_numpy(graph.node_ids.copy()) if is_number else graph.node_ids.tolist()
    )
    if graph.encoding is not None and not graph.encoding.structure:
        data.feature_names = graph.encoding.feature_names()
        scales = scales_of(graph.encoding)
        if scales is not None:  # else a model would scale x a second time
            data.feature_scales = torch.from_numpy(scales)
    for mask, values in _masks(graph).items():
        data[mask] = torch.from_numpy(values)
    return data


def _has(data: Data, key: str) -> bool:
    return key in data and data[key] is not None


def _count_nodes(data: Data) -> int:
    # PyG itself counts by x or by the edges, which end before a last node without any.
    rows = [len(data[key]) for key in ("y", "node_ids", *_MASKS) if _has(data, key)]
    if rows and "num_nodes" not in data:
        return rows[0]
    with warnings.catch_warnings():
        # PyG warns where it can only count by the edges, which is all that there is then.
        warnings.simplefilter("ignore", UserWarning)
        return int(data.num_nodes or 0)


def _array(values: Tensor) -> Array:
    return np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)


def _features(x: Tensor) -> Features:
    import torch

    if x.layout == torch.strided:
        return _array(x)
    coo = x.detach().cpu().to_sparse_coo().coalesce()
    row, col = coo.indices().numpy()
    return sparse.csr_array((coo.values().numpy(), (row, col)), shape=tuple(coo.shape))


def _tensor(x: Features) -> Tensor:
    import torch

    if not sparse.issparse(x):
        return torch.from_numpy(x.copy())
    coo = sparse.coo_array(x)
    index = torch.from_numpy(np.stack(coo.coords).astype(np.int64))
    values = torch.from_numpy(coo.data.copy())
    return torch.sparse_coo_tensor(index, values, coo.shape, check_invariants=True).coalesce()


def _splits(data: Data, num_nodes: int) -> tuple[Split, ...]:
    if not any(mask in data for mask in _MASKS):
        return ()
    none = np.zeros(num_nodes, dtype=bool)
    masks = [_array(data[mask]) if mask in data else none for mask in _MASKS]
    for mask, values in zip(_MASKS, masks, strict=True):
        refuse_unless(
            len(values) == num_nodes, f"{mask} needs one row per node, {num_nodes} in all"
        )
    columns = [mask[:, None] if mask.ndim == 1 else mask for mask in masks]
    # A data set of many splits may share one test set: WikiCS has a single column there.
    count = max(column.shape[1] for column in columns)
    is_even = all(column.shape[1] in (1, count) for column in columns)
    refuse_unless(is_even, "the masks have different numbers of columns; give as many in each")
    wide = [np.broadcast_to(column, (num_nodes, count)) for column in columns]
    return tuple(Split(*(np.flatnonzero(mask[:, i]) for mask in wide)) for i in range(count))


def _masks(graph: Graph) -> dict[str, Array]:
    if not graph.splits:
        return {}
    masks = {mask: np.zeros((graph.num_nodes, len(graph.splits)), dtype=bool) for mask in _MASKS}
    for i, split in enumerate(graph.splits):
        for mask, nodes in zip(_MASKS, (split.train, split.validation, split.test), strict=True):
            masks[mask][nodes, i] = True
    return {
        mask: values[:, 0] if len(graph.splits) == 1 else values for mask, values in masks.items()
    }
