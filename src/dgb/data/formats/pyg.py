"""To and from torch_geometric's Data and HeteroData."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from dgb.data.formats.arrays import count_nodes
from dgb.data.formats.pyg_store import (
    array_of,
    count_rows,
    edges_of,
    has,
    labels_of,
    node_parts,
    set_edges,
    set_labels,
    set_nodes,
    splits_of,
)
from dgb.data.graph import Graph
from dgb.data.rules import merge_repeats
from dgb.data.structure import make_featured_graph
from dgb.data.typed.graph import (
    HeteroGraph,
    Relation,
    make_hetero_graph,
    make_node_type,
    make_relation,
)
from dgb.data.typed.resolve import choose_target, without_reverse
from dgb.errors import DGBError
from dgb.files.limits import refuse_nodes

# torch_geometric's; imported only inside the functions, for a quick start
Data = Any
HeteroData = Any


def from_pyg(
    data: Data, *, name: str = "graph", structure: str = "walk", repeats: str = "max"
) -> Graph:
    """Make a Graph of a torch_geometric Data: x, edge_index, edge_weight, y, masks and node_ids.

    Args:
        data: the Data; without edge_weight, an edge_attr of one number above 0 for each edge is
            the weight; its `feature_names`, where it has some, name the columns of x.
        name: what the graph is called.
        structure: the features that are made of the edges where there is no x.
        repeats: what an edge weighs that is listed again: `max`, `sum` or `count`.

    Returns:
        The graph.

    Example:
        >>> graph = dgb.from_pyg(Planetoid("data", "Cora")[0], name="cora")
    """
    if data.edge_index is None:
        raise DGBError("the Data has no edge_index; set data.edge_index, a [2, num_edges] tensor")
    count = count_rows(data)
    if count is None:
        with warnings.catch_warnings():
            # PyG warns where it can only count by the edges, which is all that there is then.
            warnings.simplefilter("ignore", UserWarning)
            count = int(data.num_nodes or 0)
    x, encoding, node_ids = node_parts(data, count)
    notes: list[str] = []
    graph = make_featured_graph(
        name,
        x,
        merge_repeats(edges_of(data, (count, count), notes), repeats, notes),
        structure,
        node_ids=node_ids,
        labels=labels_of(data, count),
        splits=splits_of(data, count),
    )
    return replace(graph, encoding=encoding or graph.encoding, notes=(*notes, *graph.notes))


def to_pyg(graph: Graph) -> Data:
    """Make a torch_geometric Data of a Graph; sparse features become a sparse COO tensor.

    Args:
        graph: the graph; the Data shares no memory with it.

    Returns:
        A Data with x, edge_index, edge_weight and node_ids, and with feature_names, y and masks
        where the graph has names, labels and splits.

    Example:
        >>> data = dgb.to_pyg(dgb.load_graph("cora"))
    """
    from torch_geometric import data as pyg

    data = pyg.Data()
    set_nodes(data, graph)
    set_edges(data, graph.adjacency)
    set_labels(data, graph)
    return data


def from_hetero_data(data: HeteroData, target: str = "", name: str = "graph") -> HeteroGraph:
    """Make a HeteroGraph of a torch_geometric HeteroData.

    Args:
        data: x, node_ids, feature_names, edge_index and edge_weight of all its types are taken,
            and y and the masks of the target.
        target: the type to embed; else the only one with y, else the only one with x.
        name: what the graph is called.

    Returns:
        The graph.

    Example:
        >>> graph = dgb.from_hetero_data(data, target="paper")
    """
    stores = {kind: data[kind] for kind in data.node_types}
    notes: list[str] = []
    counts = {kind: _count(data, kind, notes) for kind in _types(data)}
    refuse_nodes(sum(counts.values()))
    nodes = {}
    for kind, count in counts.items():
        try:
            x, encoding, ids = node_parts(stores.get(kind, {}), count)
        except DGBError as error:
            raise DGBError(f"type {kind}: {error}") from None
        nodes[kind] = make_node_type(np.arange(count) if ids is None else ids, x, encoding)
    labelled = [kind for kind, store in stores.items() if has(store, "y")]
    featured = [kind for kind, found in nodes.items() if found.x is not None]
    target = choose_target(target, nodes, labelled, featured)
    found = [_relation(data, key, counts, notes) for key in data.edge_types]
    relations, again = without_reverse(found)
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
    """Make a torch_geometric HeteroData of a HeteroGraph; relations keep their one direction.

    Args:
        graph: the graph; the HeteroData shares no memory with it.

    Returns:
        The HeteroData.

    Example:
        >>> data = dgb.to_hetero_data(dgb.load_hetero("examples/library", label="field"))
    """
    from torch_geometric import data as pyg

    data = pyg.HeteroData()
    for kind, nodes in graph.nodes.items():
        data[kind]["num_nodes"] = nodes.num_nodes
        set_nodes(data[kind], nodes)
    set_labels(data[graph.target], graph.target_graph())
    if graph.split_names:
        data[graph.target]["split_names"] = list(graph.split_names)
    for relation in graph.relations:
        set_edges(data[relation.source, relation.name, relation.target], relation.matrix)
    return data


def _types(data: HeteroData) -> list[str]:
    """Return the types of nodes that are there or that edges name, where all edges are there."""
    for key in data.edge_types:
        if not has(data[key], "edge_index"):
            raise DGBError(
                f"relation {'-'.join(key)} has no edge_index; set data{list(key)}.edge_index, a "
                "[2, num_edges] tensor"
            )
    found = dict.fromkeys([*data.node_types, *(end for key in data.edge_types for end in key[::2])])
    if not found:
        raise DGBError(
            "the HeteroData has no node types; give it some, such as data['paper'].x, and edges"
        )
    return list(found)


def _count(data: HeteroData, kind: str, notes: list[str]) -> int:
    rows = count_rows(data[kind]) if kind in data.node_types else None
    if rows is not None:
        return rows
    notes.append(f"nodes of type {kind} have no num_nodes and are counted by the edges")
    ends = [
        array_of(data[key], "edge_index")[end]
        for key in data.edge_types
        for end in (0, 1)
        if key[2 * end] == kind
    ]
    return count_nodes(np.concatenate(ends)) if ends else 0


def _relation(
    data: HeteroData, key: tuple[str, str, str], counts: dict[str, int], notes: list[str]
) -> Relation:
    source, name, target = key
    own: list[str] = []
    try:
        matrix = edges_of(data[key], (counts[source], counts[target]), own)
        notes += [f"relation {'-'.join(key)}: {note}" for note in own]
        return make_relation(source, name, target, matrix)
    except DGBError as error:
        raise DGBError(f"relation {'-'.join(key)}: {error}") from None
