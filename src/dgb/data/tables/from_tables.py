"""Tables of edges, nodes and labels become a Graph."""

from dataclasses import replace
from typing import Any

import numpy as np

from dgb.data.encoding import Encoding
from dgb.data.formats.arrays import Matrix, edge_matrix
from dgb.data.graph import Features, Graph, make_graph
from dgb.data.ids import id_array, ids_of_ends
from dgb.data.rules import merge_repeats
from dgb.data.structure import make_featured_graph
from dgb.data.tables.edge_names import Ends
from dgb.data.tables.edges import Edges, read_edges
from dgb.data.tables.features import make_features
from dgb.data.tables.labels import join_labels
from dgb.data.tables.nodes import (
    NodeRows,
    read_label_rows,
    read_nodes,
    refuse_nameless,
)
from dgb.data.tables.rows import without_missing
from dgb.data.tables.source import table_of
from dgb.data.tables.suspects import note_leaks
from dgb.data.tables.table import Cells, Table
from dgb.data.tables.unknown import add_rows, edges_between, find_other_ids
from dgb.errors import DGBError, Faults
from dgb.recipe import Data

Columns = tuple[Features | None, Encoding | None]


def graph_from_tables(
    name: str,
    edges: Table | Matrix,
    nodes: Table | None,
    labels: Table | None,
    reading: Data,
    encoding: Encoding | None = None,
) -> Graph:
    """Make a Graph of tables; with the encoding of a run, its features have the run's columns.

    In place of a table of edges, a matrix joins the rows of the nodes by their positions.
    """
    notes: list[str] = []
    of_nodes = reading if labels is None else replace(reading, label="", split="")  # of the other
    if encoding and nodes:  # new nodes often have no labels, and need none to be embedded
        of_nodes = without_missing(of_nodes, nodes.names)
    rows = None if nodes is None else read_nodes(nodes, of_nodes, encoding, notes)
    found, faults = None, Faults()
    with faults:
        found = _read_edges(edges, rows, reading, notes)
        if rows and isinstance(found, Edges) and reading.unknown == "add":
            rows = add_rows(rows, (found.source, found.target), notes)
    with faults:
        x, learned = _features(rows, reading, encoding, notes)
    with faults:
        parts = {} if found is None else _read_parts(found, rows, labels, reading, notes)
    faults.refuse()
    if rows and not encoding:
        notes += note_leaks(rows.table, rows.features, parts["labels"])
    structure = encoding.structure if encoding else reading.structure
    graph = make_featured_graph(name, x, structure=structure, **parts)
    return replace(graph, encoding=learned or graph.encoding, notes=(*notes, *graph.notes))


def graph_from_matrix(
    name: str, edges: Table | Matrix, x: Features, labels: Table | None, reading: Data
) -> Graph:
    """Make a Graph of edges, a table or a matrix, between the positions 0 … n−1 of rows of x."""
    notes: list[str] = []
    positions = table_of({"id": np.arange(x.shape[0])}, "features")
    rows = read_nodes(positions, Data(), None, notes)
    found = _read_edges(edges, rows, reading, notes)
    parts = _read_parts(found, rows, labels, reading, notes)
    graph = make_graph(name, x, **parts)
    return replace(graph, notes=(*notes, *graph.notes))


def _read_edges(
    edges: Table | Matrix, rows: NodeRows | None, reading: Data, notes: list[str]
) -> Edges | Matrix:
    if not isinstance(edges, Table):
        if reading.ends:
            raise DGBError("data.ends names columns of a table, and edges are an array; unset it")
        return edges
    return read_edges(edges, Ends((rows.ids, rows.ids)) if rows else Ends(), reading, notes)


def _read_parts(
    found: Edges | Matrix,
    rows: NodeRows | None,
    labels: Table | None,
    reading: Data,
    notes: list[str],
) -> dict[str, Any]:
    """Return what `make_graph` takes next to the features."""
    is_read, faults = isinstance(found, Edges), Faults()  # else there are rows
    both = (found.source, found.target) if is_read else ()
    if rows:
        refuse_nameless(rows.table, rows.id_name, reading, *both)
    is_text_file = (rows.table if rows else found.table).text is not None
    ids = rows.ids if rows else ids_of_ends(both, is_text_file=is_text_file)
    with faults:
        edges = _join_edges(found, ids, rows, reading, notes) if is_read else found
    with faults:
        label_rows = read_label_rows(labels, ids, reading, notes) if labels else None
        y, names, splits = join_labels([label_rows, rows.labels if rows else None], len(ids), notes)
    faults.refuse()
    if len(ids) < 2:
        source = found.table.source if is_read else "edges"
        raise DGBError(f"{source}: {len(ids)} nodes; a graph needs at least two")
    return {
        "edges": merge_repeats(edges, reading.repeats, notes) if is_read else edges,
        "node_ids": id_array(ids, is_text_file=is_text_file),
        "labels": y,
        "label_names": names,
        "splits": splits,
    }


def _join_edges(
    found: Edges, ids: Cells, rows: NodeRows | None, reading: Data, notes: list[str]
) -> Matrix:
    """Return edges between nodes; where many have no row, another column may be that of ids."""
    try:
        ends, weight = edges_between(found, (ids, ids), reading, notes)
    except DGBError as error:
        used = ids_of_ends((found.source, found.target))
        other = find_other_ids(rows, used) if rows and not reading.id else ""
        raise DGBError(*error.args, *([other] if other else [])) from None
    return edge_matrix(ends, len(ids), weight)


def _features(
    rows: NodeRows | None, reading: Data, encoding: Encoding | None, notes: list[str]
) -> Columns:
    if encoding is not None and encoding.structure:
        if rows and rows.features:
            notes.append(f"{rows.table.source}: features not used: the run was trained on edges")
        return None, None
    if rows is not None:
        return make_features(rows.table, rows.features, encoding or reading, notes)
    if encoding is not None:
        raise DGBError(
            f"the run was trained on {len(encoding.columns)} columns of nodes; give a table of "
            "nodes that has them (data.nodes=FILE)"
        )
    return None, None
