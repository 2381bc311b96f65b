"""A name or a path becomes a graph, of one node type or of several."""

import os
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from dgb.data.align import align, align_hetero
from dgb.data.encoding import Encoding
from dgb.data.formats.pyg_file import holds_hetero_data, read_hetero_data
from dgb.data.graph import Graph
from dgb.data.public.datasets import read_dataset, read_imdb
from dgb.data.public.download import fetch
from dgb.data.public.sources import PathLike, dataset_name, find_source
from dgb.data.structure import with_weights
from dgb.data.typed.graph import HeteroGraph
from dgb.data.typed.resolve import with_target
from dgb.data.typed.schema import Schema
from dgb.errors import DGBError
from dgb.files.kinds import TORCH, find_kind, refuse_missing
from dgb.recipe import Data
from dgb.settings import make_section


def load_graph(
    name_or_path: PathLike,
    *,
    data_folder: PathLike | None = None,
    offline: bool = False,
    encoding: Encoding | None = None,
    **reading: Any,
) -> Graph:
    """Load a public graph by name, fetching it where needed, or a graph from a file or folder.

    Args:
        name_or_path: A known data set, a file of edges, or a folder with edges and nodes.
        data_folder: Where files of known data sets lie.
        offline: Refuse to use the network.
        encoding: That of a run, whose columns the features are then given.
        reading: Keys of a recipe's data section (`nodes`, `labels`, `id`, `label`, `drop` …).

    Returns:
        The graph; `notes` says what was made, guessed or left out in reading it.

    Example:
        >>> graph = load_graph("examples/company", label="team")
    """
    data = _data_section(name_or_path, reading)
    if is_hetero(data.graph):
        raise DGBError(f"{data.graph} has several types of nodes; load it with dgb.load_hetero")
    return _read_one_type(data, data_folder, offline, encoding)


def load_hetero(
    name_or_path: PathLike,
    *,
    data_folder: PathLike | None = None,
    offline: bool = False,
    schema: Schema | None = None,
    **reading: Any,
) -> HeteroGraph:
    """Load a public heterogeneous graph by name, or one from a folder or a file of HeteroData.

    Args:
        name_or_path: A known data set, a folder of nodes and edges by type, or a `.pt` file.
        data_folder: Where files of known data sets lie.
        offline: Refuse to use the network.
        schema: That of a run, whose types, columns and relations the graph is then given.
        reading: Keys of a recipe's data section (`target`, `label`, `drop`, `unknown` …).

    Returns:
        The graph; `notes` says what was made, guessed or left out in reading it.

    Example:
        >>> library = load_hetero("examples/library", label="field")
    """
    data = _data_section(name_or_path, reading)
    if not is_hetero(data.graph):
        raise _not_hetero(data.graph)
    return _read_several_types(data, data_folder, offline, schema)


def read_graph(
    data: Data,
    *,
    data_folder: PathLike | None = None,
    offline: bool = False,
    encoding: Encoding | None = None,
    schema: Schema | None = None,
) -> Graph | HeteroGraph:
    """Read the graph of a recipe's data section, whichever kind it is.

    `encoding` and `schema` are those of a run on a graph of one node type, or of several.
    """
    if is_hetero(data.graph):
        return _read_several_types(data, data_folder, offline, schema)
    if schema is not None:
        raise _not_hetero(data.graph)
    return _read_one_type(data, data_folder, offline, encoding)


def is_hetero(name_or_path: PathLike) -> bool:
    """Tell whether a name, file or folder is of a graph with several types of nodes."""
    given = os.fspath(name_or_path)
    if not is_path(given):
        return find_source(given).is_hetero
    # Here and below, readers of files wait until one is read: a public name needs no pyarrow.
    from dgb.data.files import is_hetero_folder
    from dgb.data.typed.heco import is_heco

    path = Path(given).expanduser()
    if path.is_file() and find_kind(path) == TORCH:
        state = path.stat()
        return _holds_hetero_data(path, (state.st_ino, state.st_size, state.st_mtime_ns))
    return is_hetero_folder(path) or is_heco(path)


@lru_cache(maxsize=8)
def _holds_hetero_data(path: Path, _state: tuple[int, ...]) -> bool:
    # A command asks several times, and each answer would open the archive again.
    return holds_hetero_data(path)


def is_path(graph: str) -> bool:
    """Tell whether a graph is given by its place, not by a public name."""
    # A public name stays one where a file is called so too; ./cora is the file.
    if any(mark in graph for mark in {"/", os.sep, "~"}) or graph in (".", ".."):
        return True
    return bool(Path(graph).suffix) or (dataset_name(graph) is None and Path(graph).exists())


def _data_section(name_or_path: PathLike, reading: dict[str, Any]) -> Data:
    given = (reading | {"graph": name_or_path}).items()
    plain = {k: os.fspath(v) if isinstance(v, os.PathLike) else v for k, v in given}
    return make_section(Data, "data", plain)


def _not_hetero(graph: str) -> DGBError:
    if is_path(graph):
        refuse_missing(Path(graph).expanduser())
    return DGBError(
        f"{graph} is not a heterogeneous graph; give a folder with nodes/TYPE.csv and "
        "edges/SOURCE-TARGET.csv, one of HeCo's, a .pt file of a HeteroData, or imdb"
    )


def _read_one_type(
    data: Data, data_folder: PathLike | None, offline: bool, encoding: Encoding | None
) -> Graph:
    if data.target:
        raise DGBError(
            f"{data.graph} has nodes of one type; data.target goes with a heterogeneous graph"
        )
    if is_path(data.graph):
        from dgb.data.files import read_path

        return with_weights(read_path(Path(data.graph).expanduser(), data, encoding), data.weights)
    source = find_source(data.graph)
    if data.nodes or data.labels or data.repeats != "max":
        raise DGBError(
            f"{source.name} has its own nodes, labels and edges; data.nodes, data.labels and "
            "data.repeats go with a file of edges"
        )
    graph = align(read_dataset(source, data_folder, offline), encoding)
    return with_weights(graph, data.weights)


def _read_several_types(
    data: Data, data_folder: PathLike | None, offline: bool, schema: Schema | None
) -> HeteroGraph:
    from dgb.data.files import is_hetero_folder, read_hetero_folder
    from dgb.data.typed.heco import read_heco

    if data.nodes or data.labels:
        raise DGBError(
            f"{data.graph} holds its nodes and labels itself; leave data.nodes and data.labels "
            "out, which go with a file of edges"
        )
    if (data.ends, data.weights, data.repeats) != ("", "as-is", "max"):
        raise DGBError(
            "data.ends, data.weights and data.repeats are for graphs of one node type; unset them"
        )
    data = data if schema is None else replace(data, target=schema.target)
    path = Path(data.graph).expanduser()
    if not is_path(data.graph):
        source = find_source(data.graph)
        folder = fetch(source, data_folder=data_folder, offline=offline)
        graph = with_target(read_imdb(source.name, folder), data.target)
    elif is_hetero_folder(path):
        graph = read_hetero_folder(path, data, schema.encodings() if schema else None)
    elif path.is_dir():
        graph = read_heco(path, data.target)
    else:
        graph = read_hetero_data(path, data.target)
    return graph if schema is None else align_hetero(graph, schema)
