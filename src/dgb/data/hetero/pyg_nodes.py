"""The nodes of one type in torch_geometric's HeteroData: ids, features and labels."""

import numpy as np

from dgb.data.formats.arrays import class_labels, own_ids, refuse_unless
from dgb.data.formats.pyg_store import Store, array_of, column_encoding, features_of, has
from dgb.data.graph import Array
from dgb.data.hetero.graph import NodeType, make_node_type
from dgb.errors import DGBError


def node_type_of(store: Store, kind: str, count: int) -> NodeType:
    """Return the nodes of a type with their features; positions are ids where none are given."""
    x = features_of(store["x"]) if has(store, "x") else None
    encoding = None if x is None else column_encoding(store, x.shape[1])
    ids = array_of(store["node_ids"]) if has(store, "node_ids") else None
    try:
        own_ids(ids, count)
    except DGBError as error:
        raise DGBError(f"type {kind}: {error}") from None
    return make_node_type(np.arange(count) if ids is None else ids, x, encoding)


def labels_of(store: Store, count: int) -> Array | None:
    """Return the class of every node, -1 where y does not list it; None without y."""
    labels = class_labels(array_of(store["y"])) if has(store, "y") else None
    if labels is None or not has(store, "y_index"):
        return labels
    # Some data sets give labels only of nodes that they list.
    whole, nodes = np.full(count, -1), array_of(store["y_index"])
    is_listed = nodes.shape == labels.shape and ((nodes >= 0) & (nodes < count)).all()
    refuse_unless(bool(is_listed), f"y_index must name a node, of {count}, for every y")
    whole[nodes] = labels
    return whole
