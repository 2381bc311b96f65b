"""To and from torch_geometric's HeteroData, in memory and in files."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.formats.arrays import (
    class_labels,
    count_nodes,
    own_ids,
    refuse_unless,
    relation_matrix,
)
from dgb.data.formats.pyg import load_pyg, refusal
from dgb.data.formats.pyg_store import (
    Store,
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
from dgb.data.typed.graph import (
    HeteroGraph,
    NodeType,
    Relation,
    make_hetero_graph,
    make_node_type,
    make_relation,
)
from dgb.data.typed.reverse import without_reverse
from dgb.data.typed.target import choose_target
from dgb.errors import DGBError, refusing
from dgb.files.limits import refuse_nodes

HeteroData = Any  # torch_geometric's; imported only inside the functions, for a quick start


def from_hetero_data(data: HeteroData, target: str = "", name: str = "graph") -> HeteroGraph:
    """Make a HeteroGraph of a torch_geometric HeteroData.

    Taken are x, node_ids, feature_names, edge_index and edge_weight of all types, and y and the
    masks of the target: the type asked for, else the only one with y, else the only one with x.
    """
    stores = {kind: data[kind] for kind in data.node_types}
    notes: list[str] = []
    counts = {kind: _count(data, kind, notes) for kind in _types(data)}
    refuse_nodes(sum(counts.values()))
    nodes = {kind: node_type_of(stores.get(kind, {}), kind, counts[kind]) for kind in counts}
    labelled = [kind for kind, store in stores.items() if has(store, "y")]
    featured = [kind for kind, found in nodes.items() if found.x is not None]
    target = choose_target(target, nodes, labelled, featured)
    relations, again = without_reverse(_relation(data, key, counts) for key in data.edge_types)
    chosen, count = stores.get(target, {}), counts[target]
    splits = splits_of(chosen, count)
    names = tuple(map(str, chosen["split_names"])) if has(chosen, "split_names") else ()
    return make_hetero_graph(
        name,
        nodes,
        relations,
        target,
        labels=labels_of(chosen, count),
        splits=splits,
        split_names=names if len(names) == len(splits) else (),
        notes=(*notes, *again),
    )


def to_hetero_data(graph: HeteroGraph) -> HeteroData:
    """Make a torch_geometric HeteroData of a HeteroGraph; relations keep their one direction."""
    from torch_geometric import data as pyg

    data = pyg.HeteroData()
    for kind, nodes in graph.nodes.items():
        store = data[kind]
        store["num_nodes"] = nodes.num_nodes
        if nodes.x is not None:
            store["x"] = tensor_of(nodes.x)
        set_nodes(store, nodes.node_ids, nodes.encoding)
    store = data[graph.target]
    set_labels(store, graph.labels, graph.splits, graph.nodes[graph.target].num_nodes)
    if graph.split_names:
        store["split_names"] = list(graph.split_names)
    for relation in graph.relations:
        _set_edges(data[relation.source, relation.name, relation.target], relation)
    return data


def _set_edges(store: Store, relation: Relation) -> None:
    import torch

    edges = sparse.coo_array(relation.matrix)
    store["edge_index"] = torch.from_numpy(np.stack(edges.coords).astype(np.int64))
    store["edge_weight"] = torch.from_numpy(edges.data.copy())


def _types(data: HeteroData) -> list[str]:
    ends = [end for source, _, target in data.edge_types for end in (source, target)]
    found = list(dict.fromkeys([*data.node_types, *ends]))
    if not found:
        raise DGBError(
            "the HeteroData has no node types; give it some, such as data['paper'].x, and edges"
        )
    return found


def _count(data: HeteroData, kind: str, notes: list[str]) -> int:
    store = data[kind] if kind in data.node_types else {}
    if has(store, "x"):
        return len(store["x"])
    rows = int(store["num_nodes"]) if has(store, "num_nodes") else count_rows(store)
    if rows is not None:
        return rows
    notes.append(f"nodes of type {kind} have no num_nodes and are counted by the edges")
    ends = [
        _edge_index(data, key)[end]
        for key in data.edge_types
        for end in (0, 1)
        if key[2 * end] == kind
    ]
    return count_nodes(np.concatenate(ends)) if ends else 0


def _relation(data: HeteroData, key: tuple[str, str, str], counts: dict[str, int]) -> Relation:
    source, name, target = key
    store, edges = data[key], _edge_index(data, key)
    weight = array_of(store["edge_weight"]).ravel() if has(store, "edge_weight") else None
    shape = (counts[source], counts[target])
    try:
        return make_relation(source, name, target, relation_matrix(edges, shape, weight))
    except DGBError as error:
        raise DGBError(f"relation {'-'.join(key)}: {error}") from None


def _edge_index(data: HeteroData, key: tuple[str, str, str]) -> Array:
    if not has(data[key], "edge_index"):
        raise DGBError(
            f"relation {'-'.join(key)} has no edge_index; set data{list(key)}.edge_index, a "
            "[2, num_edges] tensor"
        )
    return array_of(data[key]["edge_index"])


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


def read_hetero_data(path: Path, target: str = "") -> HeteroGraph:
    """Read a torch_geometric HeteroData that was saved with torch.save(data, path)."""
    data = load_pyg(path)
    if type(data).__name__ != "HeteroData":
        raise refusal(path, "holds no HeteroData")
    with refusing(path, "not a whole HeteroData", "save it again"):
        return from_hetero_data(data, target, path.stem)
