"""Edges between positions 0 … n−1, joined with the node rows and labels of other files."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from dgb.arrays import Array
from dgb.data.align import align
from dgb.data.encoding import Encoding
from dgb.data.formats.arrays import Matrix, class_labels
from dgb.data.formats.matrix_files import MATRIX_SUFFIXES, node_matrix, read_edge_array, read_npy
from dgb.data.graph import Features, Graph, make_graph, undirected
from dgb.data.structure import refuse_featureless, structural_features, with_structure
from dgb.data.tables.from_tables import graph_from_matrix, graph_from_tables
from dgb.data.tables.nodes import ID_NAMES
from dgb.data.tables.table import Table, find_column, read_table, table_of
from dgb.errors import DGBError, refusing
from dgb.recipe import Data


def read_array_files(path: Path, reading: Data, encoding: Encoding | None) -> Graph:
    """Read edges from an array file, and features and labels from the files that `reading` names.

    Row i of these is position i of the edges; a table's id column only says what nodes are called.
    """
    problem, advice = "not edges between rows of nodes", "check that the files fit together"
    with refusing(path, problem, advice, reading.nodes, reading.labels):
        return _read_together(path, reading, encoding)


def _read_together(path: Path, reading: Data, encoding: Encoding | None) -> Graph:
    nodes = _read_nodes(reading.nodes)
    rows = nodes.content if isinstance(nodes, Table) else nodes
    count = None if rows is None else int(rows.shape[0])
    adjacency, notes = read_edge_array(path, count)
    if nodes is None:  # before as much as an id is made for each
        refuse_featureless(adjacency.shape[0])
    if count not in (None, adjacency.shape[0]):
        raise DGBError(
            f"{path} has {adjacency.shape[0]} nodes but {reading.nodes} {count} rows; "
            "give one row per node, in the same order"
        )
    name = path.name.split(".")[0]
    if isinstance(nodes, Table):
        graph = _join_table(name, nodes, adjacency, reading, encoding)
    else:
        graph = align(_join_matrix(name, nodes, adjacency, reading), encoding)
    return replace(graph, notes=(*notes, *graph.notes))


def _read_nodes(path: str) -> Table | Features | None:
    if not path:
        return None
    is_matrix = path.lower().endswith(MATRIX_SUFFIXES)
    return node_matrix(Path(path)) if is_matrix else read_table(Path(path))


def _join_matrix(name: str, x: Features | None, adjacency: Matrix, reading: Data) -> Graph:
    rows = np.zeros((adjacency.shape[0], 1), np.float32) if x is None else x
    if reading.labels.lower().endswith(".npy"):
        with refusing(Path(reading.labels), "no labels", "give one integer per node"):
            labels = class_labels(read_npy(Path(reading.labels)))
        graph = make_graph(name, rows, adjacency, labels=labels)
    else:
        labels_of = _label_table(reading)
        graph = graph_from_matrix(name, _no_edges(), rows, labels_of, replace(reading, weight=""))
        graph = replace(graph, adjacency=undirected(adjacency))
    return with_structure(graph, reading.structure) if x is None else graph


def _join_table(
    name: str, nodes: Table, adjacency: Matrix, reading: Data, encoding: Encoding | None
) -> Graph:
    id_name = find_column(nodes, reading.id, ID_NAMES, "data.id")
    if id_name is None:
        ids = np.arange(nodes.content.num_rows)
        nodes = replace(nodes, content=nodes.content.append_column("id", [ids]))
    reading = replace(reading, weight="", id=id_name or "id")
    labels = _label_table(reading)
    graph = graph_from_tables(name, _no_edges(), nodes, labels, reading, encoding)
    _refuse_shuffled(nodes, graph.node_ids)
    graph = replace(graph, adjacency=undirected(adjacency))
    if graph.encoding is None or not graph.encoding.structure:
        return graph
    kind = graph.encoding.structure
    return replace(graph, x=structural_features(graph.adjacency, graph.node_ids, kind))


def _refuse_shuffled(nodes: Table, ids: Array) -> None:
    # Edges that were written by these ids would silently join other nodes.
    positions = np.arange(len(ids))
    is_shuffled = ids.dtype.kind in "iu" and np.array_equal(np.sort(ids), positions)
    if is_shuffled and not np.array_equal(ids, positions):
        raise DGBError(
            f"{nodes.source}: its ids are 0 … {len(ids) - 1} in another order, but edges in an "
            "array count the rows; sort the rows by id"
        )


def _label_table(reading: Data) -> Table | None:
    return read_table(Path(reading.labels)) if reading.labels else None


def _no_edges() -> Table:
    # Positions need no search among ids: the edges are put in afterwards.
    none = np.zeros(0, np.int64)
    return table_of({"source": none, "target": none}, "edges")
