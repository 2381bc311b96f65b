"""Edges in arrays (pairs, sparse, MatrixMarket), joined with the node rows of other files."""

import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.align import align
from dgb.data.encoding import Encoding
from dgb.data.formats.arrays import (
    Matrix,
    class_labels,
    count_nodes,
    edge_matrix,
    node_matrix,
    read_npy,
    read_sparse,
    refuse_unless,
)
from dgb.data.graph import Features, Graph, make_graph
from dgb.data.rules import merge_repeats
from dgb.data.structure import refuse_featureless, with_structure
from dgb.data.tables.from_tables import graph_from_matrix, graph_from_tables
from dgb.data.tables.nodes import ID_NAMES
from dgb.data.tables.source import read_table
from dgb.data.tables.table import Table, find_column
from dgb.data.tables.text_file import BLOCK, single_space
from dgb.errors import DGBError, refusing
from dgb.files.kinds import MATRICES, NPY, NPZ, find_kind
from dgb.files.limits import read_whole, refuse_nodes
from dgb.recipe import Data


def read_array_files(path: Path, reading: Data, encoding: Encoding | None) -> Graph:
    """Read edges from an array file, and features and labels from the files that `reading` names.

    Row i of these is position i of the edges; a table's id column only says what nodes are called.
    """
    problem, advice = "not edges between rows of nodes", "check that the files fit together"
    with refusing(path, problem, advice, reading.nodes, reading.labels):
        nodes: Table | Features | None = None
        if reading.nodes and find_kind(Path(reading.nodes)) in MATRICES:
            nodes = node_matrix(Path(reading.nodes))
        elif reading.nodes:
            nodes = read_table(Path(reading.nodes), charset=reading.charset)
        rows = nodes.content if isinstance(nodes, Table) else nodes
        count = None if rows is None else int(rows.shape[0])
        adjacency, notes = _read_edges(path, count)
        adjacency = sparse.coo_array(merge_repeats(adjacency, reading.repeats, notes))
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


def read_labels(reading: Data) -> Table | None:
    """Read the table of labels that a recipe names, if any."""
    path = Path(reading.labels)
    return read_table(path, charset=reading.charset) if reading.labels else None


def _join_matrix(name: str, x: Features | None, adjacency: Matrix, reading: Data) -> Graph:
    rows = np.zeros((adjacency.shape[0], 1), np.float32) if x is None else x
    if reading.labels and find_kind(Path(reading.labels)) == NPY:
        with refusing(Path(reading.labels), "not labels", "give one integer per node"):
            labels = class_labels(read_npy(Path(reading.labels)))
        graph = make_graph(name, rows, adjacency, labels=labels)
    else:
        graph = graph_from_matrix(name, adjacency, rows, read_labels(reading), reading)
    return with_structure(graph, reading.structure) if x is None else graph


def _join_table(
    name: str, nodes: Table, adjacency: Matrix, reading: Data, encoding: Encoding | None
) -> Graph:
    id_name = find_column(nodes, reading.id, ID_NAMES, "data.id")
    if id_name is None:
        ids = np.arange(nodes.content.num_rows)
        nodes = replace(nodes, content=nodes.content.append_column("id", [ids]))
    reading = replace(reading, id=id_name or "id")
    graph = graph_from_tables(name, adjacency, nodes, read_labels(reading), reading, encoding)
    ids, positions = graph.node_ids, np.arange(graph.num_nodes)
    is_sorted = ids.dtype.kind not in "iu" or np.array_equal(ids, positions)
    # Edges that were written by these ids would silently join other nodes.
    if not is_sorted and np.array_equal(np.sort(ids), positions):
        raise DGBError(
            f"{nodes.source}: its ids are 0 … {len(ids) - 1} in another order, but edges in an "
            "array count the rows; sort the rows by id"
        )
    return graph


def _read_edges(path: Path, num_nodes: int | None) -> tuple[Matrix, list[str]]:
    """Read edges between positions as an n × n matrix, with notes on what was guessed.

    `num_nodes` is known where there are node rows; pairs alone end at the last node they name.
    """
    kind = find_kind(path)
    if kind == NPY:
        return _read_pairs(path, num_nodes)
    matrix = read_sparse(path) if kind == NPZ else _read_market(path)
    if matrix.shape[0] != matrix.shape[1]:
        raise DGBError(
            f"{path}: {matrix.shape[0]} × {matrix.shape[1]} is not an adjacency; give a square "
            "matrix whose rows and columns are the same nodes"
        )
    if matrix.dtype.kind not in "biuf":
        raise DGBError(f"{path}: edge weights must be real numbers, not {matrix.dtype}")
    return matrix, []


def _read_pairs(path: Path, num_nodes: int | None) -> tuple[Matrix, list[str]]:
    pairs = read_npy(path)
    if pairs.ndim != 2 or 2 not in pairs.shape or pairs.dtype.kind not in "iu":
        raise DGBError(
            f"{path}: edges must be integers of shape [2, E] or [E, 2], not {pairs.dtype} of "
            f"shape {list(pairs.shape)}; give a table (CSV, Parquet) for other ids or weights"
        )
    edge_index = pairs if pairs.shape[0] == 2 else pairs.T
    note = f"{path.name}: 2 × 2 was read as two columns of edges, [[sources], [targets]]"
    notes = [note] if pairs.shape == (2, 2) else []
    return edge_matrix(edge_index, num_nodes or count_nodes(edge_index)), notes


# The banner, comments and empty lines, then rows, columns and entries.
_HEAD = re.compile(
    rb"%%MatrixMarket[ \t]++matrix[ \t]++(\w++)[ \t]++([\w-]++)[ \t]++([\w-]++)[ \t]*+\r?\n"
    rb"(?:[ \t]*+(?:%[^\n]*+)?+\r?\n)*+"
    rb"[ \t]*+(\d{1,18})[ \t]++(\d{1,18})[ \t]++(\d{1,18})[ \t]*+(?:\r?\n|\Z)",
    re.IGNORECASE,
)
_VALUES = ("pattern", "real", "double", "integer", "unsigned-integer")


def _read_market(path: Path) -> Matrix:
    """Read a sparse matrix; of a symmetric one, only the half that the file holds."""
    advice = "get it again or write it with scipy.io.mmwrite"
    with refusing(path, "not a readable MatrixMarket file", advice):
        content = read_whole(path)
        head = _HEAD.match(content)
        if head is None:
            raise ValueError("no head of `%%MatrixMarket matrix coordinate …`, rows, columns")
        form, kind = (word.decode("ascii").lower() for word in head.groups()[:2])
        refuse_unless(form == "coordinate", f"the form must be coordinate, not {form}")
        refuse_unless(kind in _VALUES, f"edge weights must be real numbers, not {kind}")
        rows, columns, entries = (int(size) for size in head.groups()[3:])
        refuse_nodes(max(rows, columns))
        places, values = _read_entries(content[head.end() :], has_values=kind != "pattern")
        if len(values) != entries:
            raise ValueError(f"{entries:,} entries declared, {len(values):,} there")
        for end, size in zip(places, (rows, columns), strict=True):
            if len(end) and not 1 <= end.min() <= end.max() <= size:
                raise ValueError(f"positions must be from 1 to {size}")
        return sparse.coo_array((values, tuple(places - 1)), shape=(rows, columns))


def _read_entries(body: bytes, *, has_values: bool) -> tuple[Array, Array]:
    """Return the positions [2, entries], counted from 1 as they stand there, and the values."""
    import pyarrow as pa
    from pyarrow import csv

    types: dict[str, Any] = {"row": pa.int64(), "column": pa.int64()}
    types |= {"value": pa.float64()} if has_values else {}
    if not body or body.isspace():
        return np.zeros((2, 0), np.int64), np.zeros(0)
    table = csv.read_csv(
        BytesIO(single_space(body)),
        csv.ReadOptions(column_names=list(types), block_size=BLOCK),
        csv.ParseOptions(delimiter=" ", quote_char=False),
        csv.ConvertOptions(column_types=types, null_values=[]),
    )
    found = [np.asarray(column.to_numpy()) for column in table.columns]
    return np.stack(found[:2]), found[2] if has_values else np.ones(table.num_rows)
