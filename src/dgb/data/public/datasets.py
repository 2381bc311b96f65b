"""The public graphs: which there are, their files, and the readers of what is not Planetoid's."""

import gzip
import json
import os
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
from dgb.data.public.fetch import fetch, find_local, has_cached_files
from dgb.data.public.planetoid import read_planetoid
from dgb.data.public.sources import Source, find_source, known_sources, local_folders
from dgb.errors import refusing
from dgb.files.limits import read_whole, unpack

PathLike = str | os.PathLike[str]
_CSR_PARTS = ("data", "indices", "indptr", "shape")


def list_datasets(*, data_folder: PathLike | None = None) -> list[dict[str, Any]]:
    """List the public graphs: name, description, counts, citation, and whether they are there."""
    counts = ("nodes", "edges", "features", "classes")
    return [
        {"name": source.name, "description": source.description}
        | {count: getattr(source, count) for count in counts}
        | {"citation": source.citation, "state": _state(source, data_folder)}
        for source in known_sources().values()
    ]


def fetch_dataset(
    name: str, *, data_folder: PathLike | None = None, offline: bool = False
) -> Path | None:
    """Fetch a public graph's files and return their folder; None for what is bundled."""
    source = find_source(name)
    if source.form == "bundled":
        return None
    own = _find_own_form(source, data_folder)
    return own.parent if own else fetch(source, data_folder=data_folder, offline=offline)


def read_dataset(source: Source, data_folder: PathLike | None, offline: bool) -> Graph:
    """Read a public graph of one node type, fetching its files where needed."""
    if source.form == "bundled":
        with resources.as_file(resources.files("dgb.data") / f"{source.name}.npz") as path:
            return read_npz(path)
    own = _find_own_form(source, data_folder)
    if own is not None and find_local(source, data_folder) is None:
        graph = replace(read_npz(own), name=source.name)
        # The same name must mean the same graph, wherever its file came from.
        return with_binary_features(graph) if source.form == "gnn-benchmark" else graph
    folder = fetch(source, data_folder=data_folder, offline=offline)
    if source.form == "planetoid":
        return read_planetoid(source.name, folder)
    read = _READERS[source.form]
    return read(source.name, folder / next(iter(source.files)))


def _state(source: Source, data_folder: PathLike | None) -> str:
    if source.form == "bundled":
        return "bundled"
    if find_local(source, data_folder) or _find_own_form(source, data_folder):
        return "local"
    return "cached" if has_cached_files(source) else "not fetched"


def _find_own_form(source: Source, data_folder: PathLike | None) -> Path | None:
    if source.is_hetero:  # our own files hold nodes of one type
        return None
    name = f"{source.name.replace('-', '_')}.npz"
    paths = (folder / name for folder in local_folders(data_folder))
    return next((path for path in paths if path.is_file()), None)


def read_gnn_benchmark(name: str, path: Path) -> Graph:
    """Read an Amazon or Coauthor graph from gnn-benchmark's npz of two CSR matrices."""
    keys = {f"{prefix}_{part}" for prefix in ("adj", "attr") for part in _CSR_PARTS}
    arrays = open_npz(path, keys | {"labels"})
    with _refusing_others(path):
        edges, x = sparse_rows(arrays, "adj_"), sparse_rows(arrays, "attr_")
        graph = make_graph(name, x, edges, labels=class_labels(arrays["labels"]))
    return with_binary_features(graph)


def with_binary_features(graph: Graph) -> Graph:
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
        test = _nodes(content["test_mask"])
        masks = zip(content["train_masks"], content["val_masks"], strict=True)
        splits = tuple(Split(_nodes(train), _nodes(chosen), test) for train, chosen in masks)
        labels = class_labels(np.array(content["labels"]))
        return make_graph(name, x, edge_matrix(edge_index, len(x)), labels=labels, splits=splits)


def read_ogbn_arxiv(name: str, path: Path) -> Graph:
    """Read ogbn-arxiv straight from its zip of gzipped tables, with its split by year."""
    with _refusing_others(path):
        with zipfile.ZipFile(path) as archive:
            x = _table(archive, "arxiv/raw/node-feat.csv.gz").astype(np.float32)
            edge_index = _table(archive, "arxiv/raw/edge.csv.gz").T
            labels = class_labels(_table(archive, "arxiv/raw/node-label.csv.gz"))
            train, validation, test = (
                _table(archive, f"arxiv/split/time/{part}.csv.gz")[:, 0]
                for part in ("train", "valid", "test")
            )
        edges = edge_matrix(edge_index, len(x))
        return make_graph(name, x, edges, labels=labels, splits=(Split(train, validation, test),))


def _table(archive: zipfile.ZipFile, member: str) -> Array:
    from pyarrow import csv

    options = csv.ReadOptions(autogenerate_column_names=True)
    with archive.open(member) as packed, gzip.open(packed) as plain:
        table = csv.read_csv(BytesIO(unpack(plain, member)), read_options=options)
    return np.stack([column.to_numpy() for column in table.columns], axis=1)


def _nodes(mask: list[bool]) -> Array:
    return np.flatnonzero(np.array(mask, dtype=bool))


def _refusing_others(path: Path) -> AbstractContextManager[None]:
    return refusing(path, "not the published file", "remove it and fetch it again")


_READERS = {"gnn-benchmark": read_gnn_benchmark, "wikics": read_wikics, "ogb": read_ogbn_arxiv}
