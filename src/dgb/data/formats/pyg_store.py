"""What torch_geometric keeps of nodes and edges, to and from arrays."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array, are_finite
from dgb.data.encoding import Encoding, names_of, scales_of
from dgb.data.formats.arrays import Matrix, class_labels, edge_matrix, own_ids, refuse_unless
from dgb.data.graph import Features, Graph, Split
from dgb.data.typed.graph import NodeType
from dgb.files.limits import refuse_nodes

Store = Any  # a Data, or what a HeteroData keeps of one type of nodes or edges
Tensor = Any
_MASKS = {"train_mask": "train", "val_mask": "validation", "test_mask": "test"}


def stores_of(data: Any) -> Iterator[tuple[Store, list[Store]]]:
    """Yield the nodes of each type of a Data or HeteroData, and the edges from it to itself."""
    if not hasattr(data, "node_types"):
        yield data, [data]
        return
    for kind in data.node_types:
        yield data[kind], [data[edge] for edge in data.edge_types if edge[0] == edge[2] == kind]


def set_edges(store: Store, matrix: Matrix) -> None:
    """Give edges and their weights to a store."""
    import torch

    edges = sparse.coo_array(matrix)
    store["edge_index"] = torch.from_numpy(np.stack(edges.coords).astype(np.int64))
    store["edge_weight"] = torch.from_numpy(edges.data.copy())


def set_nodes(store: Store, nodes: Graph | NodeType) -> None:
    """Give features, ids of nodes and the names and scales of columns to a store."""
    import torch

    if nodes.x is not None:
        store["x"] = _tensor_of(nodes.x)
    ids, encoding = nodes.node_ids, nodes.encoding
    is_number = ids.dtype.kind in "iuf"
    store["node_ids"] = torch.from_numpy(ids.copy()) if is_number else ids.tolist()
    if encoding is None or encoding.structure:
        return
    store["feature_names"] = encoding.feature_names()
    scales = scales_of(encoding)
    if scales is not None:  # else a model would scale x a second time
        store["feature_scales"] = torch.from_numpy(scales)


def set_labels(store: Store, graph: Graph) -> None:
    """Give labels and masks to a store."""
    import torch

    if graph.labels is not None:
        store["y"] = torch.from_numpy(graph.labels.copy())
    splits = graph.splits
    for mask, part in _MASKS.items() if splits else ():
        values = np.zeros((graph.num_nodes, len(splits)), dtype=bool)
        for i, split in enumerate(splits):
            values[getattr(split, part), i] = True
        store[mask] = torch.from_numpy(values[:, 0] if len(splits) == 1 else values)


def _tensor_of(x: Features) -> Tensor:
    """Return features as a tensor of its own memory, sparse ones in COO form."""
    import torch

    if not sparse.issparse(x):
        return torch.from_numpy(x.copy())
    coo = sparse.coo_array(x)
    index = torch.from_numpy(np.stack(coo.coords).astype(np.int64))
    values = torch.from_numpy(coo.data.copy())
    return torch.sparse_coo_tensor(index, values, coo.shape, check_invariants=True).coalesce()


def node_parts(store: Store, count: int) -> tuple[Features | None, Encoding | None, Array | None]:
    """Return features, what their columns are, and ids of nodes, None for what a store lacks."""
    x = _features_of(store["x"]) if has(store, "x") else None
    names = store["feature_names"] if has(store, "feature_names") else None
    scales = array_of(store, "feature_scales")
    encoding = None if x is None else names_of(names, x.shape[1], scales)
    return x, encoding, own_ids(array_of(store, "node_ids"), count)


def _features_of(x: Tensor) -> Features:
    import torch

    refuse_unless(x.ndim == 2, f"x must be [num_nodes, num_features], not {list(x.shape)}")
    x = x.float() if x.dtype == torch.bfloat16 else x  # which numpy does not have
    if x.layout == torch.strided:
        return x.detach().cpu().numpy()
    refuse_nodes(max(x.shape))  # of which a sparse tensor has to hold none
    coo = x.detach().cpu().to_sparse_coo().coalesce()
    row, col = coo.indices().numpy()
    return sparse.csr_array((coo.values().numpy(), (row, col)), shape=tuple(coo.shape))


def edges_of(store: Store, shape: tuple[int, int], notes: list[str]) -> Matrix:
    """Return the edges of a store as a matrix of weights, with notes on what edge_attr is."""
    weight = array_of(store, "edge_weight")
    weight = _weigh_by(array_of(store, "edge_attr"), notes) if weight is None else weight.ravel()
    return edge_matrix(array_of(store, "edge_index"), shape, weight)


def _weigh_by(attribute: Array | None, notes: list[str]) -> Array | None:
    """Take edge_attr for weights where it is one number above 0 for each edge."""
    if attribute is None or not attribute.size:
        return None
    is_number = attribute.dtype.kind in "biuf" and attribute.size == len(attribute)
    if is_number and are_finite(attribute) and attribute.min() > 0:
        notes.append(
            "edge_attr, one number for each edge, is taken for the weights; set edge_weight if "
            "they are others"
        )
        return attribute.ravel()
    notes.append(
        f"edge_attr of shape {list(attribute.shape)} is not used: weights are one number above 0 "
        "for each edge; set edge_weight if there are any"
    )
    return None


def has(store: Store, key: str) -> bool:
    """Tell whether a store has something under a name."""
    return key in store and store[key] is not None


def count_rows(store: Store) -> int | None:
    """Count nodes by x, num_nodes or what stands in a row for each, None where only edges tell."""
    if has(store, "x"):
        return int(store["x"].shape[0])
    if has(store, "num_nodes"):
        return int(store["num_nodes"])
    return next((len(store[k]) for k in ("y", "node_ids", *_MASKS) if has(store, k)), None)


def array_of(store: Store, key: str) -> Any:
    """Return a tensor, wherever it lies, or a list as a numpy array; None where there is none."""
    if not has(store, key):
        return None
    values = store[key]
    return np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)


def labels_of(store: Store, count: int) -> Array | None:
    """Return the class of every node, -1 where y does not list it; None without y."""
    labels, nodes = class_labels(array_of(store, "y")), array_of(store, "y_index")
    if labels is None or nodes is None:
        return labels
    # Some data sets give labels only of nodes that they list.
    whole = np.full(count, -1)
    is_listed = nodes.shape == labels.shape and ((nodes >= 0) & (nodes < count)).all()
    refuse_unless(bool(is_listed), f"y_index must name a node, of {count}, for every y")
    whole[nodes] = labels
    return whole


def splits_of(store: Store, num_nodes: int) -> tuple[Split, ...]:
    """Return the splits of the masks of a store, one a column."""
    if not any(has(store, mask) for mask in _MASKS):
        return ()
    columns = []
    for mask in _MASKS:
        values = array_of(store, mask) if has(store, mask) else np.zeros(num_nodes, dtype=bool)
        is_whole = len(values) == num_nodes
        refuse_unless(is_whole, f"{mask} must have one row per node, {num_nodes} in all")
        columns.append(values[:, None] if values.ndim == 1 else values)
    # A data set of many splits may share one test set: WikiCS has a single column there.
    count = max(column.shape[1] for column in columns)
    is_even = all(column.shape[1] in (1, count) for column in columns)
    refuse_unless(is_even, "the masks have different numbers of columns; give as many in each")
    wide = [np.broadcast_to(column, (num_nodes, count)) for column in columns]
    return tuple(Split(*(np.flatnonzero(mask[:, i]) for mask in wide)) for i in range(count))
