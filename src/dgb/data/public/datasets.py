"""The public graphs from their published files, each in its own form: Amazon, WikiCS, IMDB …"""

import gzip
import json
import zipfile
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib import resources
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.formats.arrays import class_labels, edge_matrix, open_npz, sparse_rows
from dgb.data.formats.npz import read_npz
from dgb.data.graph import Graph, Split, make_graph
from dgb.data.public.download import fetch
from dgb.data.public.planetoid import read_planetoid
from dgb.data.public.sources import PathLike, Source, find_local, find_own_form, find_source
from dgb.data.typed.graph import (
    HeteroGraph,
    NodeType,
    Relation,
    make_hetero_graph,
    make_node_type,
    make_relation,
)
from dgb.errors import refusing
from dgb.files.columns import open_parquet
from dgb.files.limits import read_whole, unpack

Table = Any  # pyarrow's, which ships no types
_CSR_PARTS = ("data", "indices", "indptr", "shape")


def fetch_dataset(
    name: str, *, data_folder: PathLike | None = None, offline: bool = False
) -> Path | None:
    """Fetch a public graph's files and return their folder; None for what is bundled."""
    source = find_source(name)
    if source.form == "bundled":
        return None
    own = find_own_form(source, data_folder)
    return own.parent if own else fetch(source, data_folder=data_folder, offline=offline)


def read_dataset(source: Source, data_folder: PathLike | None, offline: bool) -> Graph:
    """Read a public graph of one node type, fetching its files where needed."""
    if source.form == "bundled":
        with resources.as_file(resources.files("dgb.data") / f"{source.name}.npz") as path:
            return read_npz(path)
    own = find_own_form(source, data_folder)
    if own is not None and find_local(source, data_folder) is None:
        graph = replace(read_npz(own), name=source.name)
        # The same name must mean the same graph, wherever its file came from.
        return _with_binary_features(graph) if source.form == "gnn-benchmark" else graph
    folder = fetch(source, data_folder=data_folder, offline=offline)
    if source.form == "planetoid":
        return read_planetoid(source.name, folder)
    readers = {"gnn-benchmark": read_gnn_benchmark, "wikics": read_wikics, "ogb": read_ogbn_arxiv}
    return readers[source.form](source.name, folder / next(iter(source.files)))


def read_gnn_benchmark(name: str, path: Path) -> Graph:
    """Read an Amazon or Coauthor graph from gnn-benchmark's npz of two CSR matrices."""
    keys = {f"{prefix}_{part}" for prefix in ("adj", "attr") for part in _CSR_PARTS}
    arrays = open_npz(path, keys | {"labels"})
    with _refusing_others(path):
        edges, x = sparse_rows(arrays, "adj_"), sparse_rows(arrays, "attr_")
        graph = make_graph(name, x, edges, labels=class_labels(arrays["labels"]))
    return _with_binary_features(graph)


def _with_binary_features(graph: Graph) -> Graph:
    """Keep only whether a word occurs, as torch_geometric does and so all published figures do."""
    binary = graph.x.astype(np.float32)
    values = binary.data if sparse.issparse(binary) else binary
    values[values > 0] = 1
    return replace(graph, x=binary)


def read_wikics(name: str, path: Path) -> Graph:
    """Read WikiCS from its data.json, with its 20 splits that share one test set."""
    with _refusing_others(path):
        content = json.loads(read_whole(path))
        x = np.array(content["features"], np.float32)
        pairs = [(node, other) for node, others in enumerate(content["links"]) for other in others]
        edge_index = np.array(pairs, np.int64).reshape(-1, 2).T
        train, validation, (test,) = (
            [np.flatnonzero(np.array(mask, bool)) for mask in masks]
            for masks in (content["train_masks"], content["val_masks"], [content["test_mask"]])
        )
        splits = tuple(Split(*parts, test) for parts in zip(train, validation, strict=True))
        labels = class_labels(np.array(content["labels"]))
        return make_graph(name, x, edge_matrix(edge_index, len(x)), labels=labels, splits=splits)


def read_ogbn_arxiv(name: str, path: Path) -> Graph:
    """Read ogbn-arxiv straight from its zip of gzipped tables, with its split by year."""
    with _refusing_others(path):
        with zipfile.ZipFile(path) as archive:
            x = _read_csv(archive, "raw/node-feat").astype(np.float32)
            edge_index = _read_csv(archive, "raw/edge").T
            labels = class_labels(_read_csv(archive, "raw/node-label"))
            parts = ("train", "valid", "test")
            split = Split(*(_read_csv(archive, f"split/time/{part}")[:, 0] for part in parts))
        edges = edge_matrix(edge_index, len(x))
        return make_graph(name, x, edges, labels=labels, splits=(split,))


def _read_csv(archive: zipfile.ZipFile, name: str) -> Array:
    from pyarrow import csv

    member, options = f"arxiv/{name}.csv.gz", csv.ReadOptions(autogenerate_column_names=True)
    with archive.open(member) as packed, gzip.open(packed) as plain:
        table = csv.read_csv(BytesIO(unpack(plain, member)), read_options=options)
    return np.stack([column.to_numpy() for column in table.columns], axis=1)


def _refusing_others(path: Path) -> AbstractContextManager[None]:
    return refusing(path, "not the published files", "remove and fetch them again")


_TRAIN, _VALIDATION = 300, 300  # movies at the head of those with a genre; the others are to test


def read_imdb(name: str, folder: Path) -> HeteroGraph:
    """Read GTN's movies, directors and actors; nodes keep their numbers in its files."""
    with _refusing_others(folder):
        known = _read_parquet(folder, "movies_with_genre")
        nodes = {
            "movie": _node_type(known, _read_parquet(folder, "movies_without_genre")),
            "director": _node_type(_read_parquet(folder, "directors")),
            "actor": _node_type(_read_parquet(folder, "actors")),
        }
        relations = [
            _relation("director", "directed", nodes, _read_parquet(folder, "directed_in")),
            _relation("actor", "acted_in", nodes, _read_parquet(folder, "acted_in")),
        ]
        # The rows are GTN's lists of training, validation and test, one after the other.
        places = _places(nodes["movie"], known, "nodeId")
        labels = np.full(nodes["movie"].num_nodes, -1)
        labels[places] = _column(known, "genre")
        split = Split(*np.split(places, [_TRAIN, _TRAIN + _VALIDATION]))
        return make_hetero_graph(name, nodes, relations, "movie", labels=labels, splits=(split,))


def _read_parquet(folder: Path, what: str) -> Table:
    path = folder / f"imdb_{what}.parquet.gzip"
    # Not by its path: pyarrow takes the suffix for a packing of the whole file.
    with path.open("rb") as opened, open_parquet(opened, path) as file:
        return file.read()


def _column(table: Table, name: str) -> Array:
    return np.asarray(table.column(name).to_numpy())


def _node_type(*tables: Table) -> NodeType:
    ids = np.concatenate([_column(table, "nodeId") for table in tables])
    lists = [table.column("plot_keywords").combine_chunks() for table in tables]
    words = [np.asarray(w.flatten().to_numpy(), np.float32).reshape(len(w), -1) for w in lists]
    order = np.argsort(ids)
    return make_node_type(ids[order], sparse.csr_array(np.concatenate(words)[order]))


def _relation(source: str, name: str, nodes: dict[str, NodeType], edges: Table) -> Relation:
    ends = {"sourceNodeId": nodes[source], "targetNodeId": nodes["movie"]}
    places = np.stack([_places(found, edges, column) for column, found in ends.items()])
    shape = (nodes[source].num_nodes, nodes["movie"].num_nodes)
    return make_relation(source, name, "movie", edge_matrix(places, shape))


def _places(nodes: NodeType, table: Table, name: str) -> Array:
    wanted = _column(table, name)
    places = np.searchsorted(nodes.node_ids, wanted)
    found = nodes.node_ids[np.minimum(places, nodes.num_nodes - 1)]
    if not np.array_equal(found, wanted):
        raise ValueError(f"{name} names nodes that are not there")
    return places
