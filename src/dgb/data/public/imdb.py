"""GTN's IMDB from the Parquet files of the Python package graphdatascience."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.formats.arrays import relation_matrix
from dgb.data.graph import Split
from dgb.data.typed.graph import (
    HeteroGraph,
    NodeType,
    Relation,
    make_hetero_graph,
    make_node_type,
    make_relation,
)
from dgb.errors import refusing
from dgb.files.parquet import open_parquet

Table = Any  # pyarrow's, which ships no types
_TRAIN, _VALIDATION = 300, 300  # movies at the head of those with a genre; the others are to test


def read_imdb(name: str, folder: Path) -> HeteroGraph:
    """Read movies, directors and actors; nodes keep their numbers in GTN's files."""
    with refusing(folder, "not the published files", "remove them and fetch them again"):
        known = _read(folder, "movies_with_genre")
        nodes = {
            "movie": _node_type(known, _read(folder, "movies_without_genre")),
            "director": _node_type(_read(folder, "directors")),
            "actor": _node_type(_read(folder, "actors")),
        }
        relations = [
            _relation("director", "directed", nodes, _read(folder, "directed_in")),
            _relation("actor", "acted_in", nodes, _read(folder, "acted_in")),
        ]
        # The rows are GTN's lists of training, validation and test, one after the other.
        places = _places(nodes["movie"], known, "nodeId")
        labels = np.full(nodes["movie"].num_nodes, -1)
        labels[places] = _column(known, "genre")
        split = Split(*np.split(places, [_TRAIN, _TRAIN + _VALIDATION]))
        return make_hetero_graph(name, nodes, relations, "movie", labels=labels, splits=(split,))


def _read(folder: Path, what: str) -> Table:
    path = folder / f"imdb_{what}.parquet.gzip"
    # Not by its path: pyarrow takes the suffix for a packing of the whole file.
    with path.open("rb") as opened, open_parquet(opened, path) as file:
        return file.read()


def _column(table: Table, name: str) -> Array:
    return np.asarray(table.column(name).to_numpy())


def _node_type(*tables: Table) -> NodeType:
    ids = np.concatenate([_column(table, "nodeId") for table in tables])
    words = np.concatenate([_keywords(table) for table in tables])
    order = np.argsort(ids)
    return make_node_type(ids[order], sparse.csr_array(words[order]))


def _keywords(table: Table) -> Array:
    lists = table.column("plot_keywords").combine_chunks()
    return np.asarray(lists.flatten().to_numpy(), np.float32).reshape(len(lists), -1)


def _relation(source: str, name: str, nodes: dict[str, NodeType], edges: Table) -> Relation:
    ends = (
        _places(nodes[source], edges, "sourceNodeId"),
        _places(nodes["movie"], edges, "targetNodeId"),
    )
    shape = (nodes[source].num_nodes, nodes["movie"].num_nodes)
    return make_relation(source, name, "movie", relation_matrix(np.stack(ends), shape))


def _places(nodes: NodeType, table: Table, name: str) -> Array:
    wanted = _column(table, name)
    places = np.searchsorted(nodes.node_ids, wanted)
    found = nodes.node_ids[np.minimum(places, nodes.num_nodes - 1)]
    if not np.array_equal(found, wanted):
        raise ValueError(f"{name} names nodes that are not there")
    return places
