"""A name or a path becomes a Graph."""

import os
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from dgb.data.align import align
from dgb.data.encoding import Encoding
from dgb.data.formats.npz import read_npz
from dgb.data.graph import Graph
from dgb.data.public.fetch import fetch, find_local, has_cached_files
from dgb.data.public.sources import Source, dataset_name, find_source, known_sources, local_folders
from dgb.errors import DGBError
from dgb.recipe import Data
from dgb.settings import make_section

PathLike = str | os.PathLike[str]


def load_graph(
    name_or_path: PathLike,
    *,
    data_folder: PathLike | None = None,
    offline: bool = False,
    encoding: Encoding | None = None,
    **reading: Any,
) -> Graph:
    """Load a public graph by name, fetching it where needed, or a graph from a file or folder.

    `reading` are keys of a recipe's data section (`nodes`, `labels`, `id`, `label`, `drop` …);
    `encoding` is that of a run, whose columns the features are then given.
    """
    given = {key: os.fspath(v) if isinstance(v, os.PathLike) else v for key, v in reading.items()}
    chosen = make_section(Data, "data", given | {"graph": os.fspath(name_or_path)})
    _refuse_hetero(chosen)
    if is_path(chosen.graph):
        from dgb.data.files import read_path

        return read_path(Path(name_or_path).expanduser(), chosen, encoding)
    source = find_source(chosen.graph)
    if chosen.nodes or chosen.labels:
        raise DGBError(
            f"{source.name} has its own nodes and labels; data.nodes and data.labels go with a "
            "file of edges"
        )
    return align(_load_known(source, data_folder, offline), encoding)


def _refuse_hetero(reading: Data) -> None:
    from dgb.data.typed.load import is_hetero

    if is_hetero(reading.graph):
        raise DGBError(f"{reading.graph} has several types of nodes; load it with dgb.load_hetero")
    if reading.target:
        raise DGBError(
            f"{reading.graph} has nodes of one type; data.target goes with a heterogeneous graph"
        )


def is_path(graph: str) -> bool:
    """Tell whether a graph is given by its place, not by a public name."""
    # A public name stays one where a file is called so too; ./cora is the file.
    if any(mark in graph for mark in {"/", os.sep, "~"}) or graph in (".", ".."):
        return True
    return bool(Path(graph).suffix) or (dataset_name(graph) is None and Path(graph).exists())


def _load_known(source: Source, data_folder: PathLike | None, offline: bool) -> Graph:
    if source.form == "bundled":
        return _read_bundled(source)
    own = _find_own_form(source, data_folder)
    if own is not None and find_local(source, data_folder) is None:
        return _in_published_form(source, replace(read_npz(own), name=source.name))
    return _read(source, fetch(source, data_folder=data_folder, offline=offline))


def fetch_dataset(
    name: str, *, data_folder: PathLike | None = None, offline: bool = False
) -> Path | None:
    """Fetch a public graph's files and return their folder; None for what is bundled."""
    source = find_source(name)
    if source.form == "bundled":
        return None
    own = _find_own_form(source, data_folder)
    return own.parent if own else fetch(source, data_folder=data_folder, offline=offline)


def list_datasets(*, data_folder: PathLike | None = None) -> list[dict[str, Any]]:
    """List the public graphs: name, description, counts, citation, and whether they are at hand."""
    counts = ("nodes", "edges", "features", "classes")
    return [
        {"name": source.name, "description": source.description}
        | {count: getattr(source, count) for count in counts}
        | {"citation": source.citation, "state": _state(source, data_folder)}
        for source in known_sources().values()
    ]


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


def _read_bundled(source: Source) -> Graph:
    with resources.as_file(resources.files("dgb.data").joinpath(f"{source.name}.npz")) as path:
        return read_npz(path)


def _read(source: Source, folder: Path) -> Graph:
    from dgb.data.public.planetoid import read_planetoid
    from dgb.data.public.readers import read_gnn_benchmark, read_ogbn_arxiv, read_wikics

    file = folder / next(iter(source.files))
    match source.form:
        case "planetoid":
            return read_planetoid(source.name, folder)
        case "gnn-benchmark":
            return read_gnn_benchmark(source.name, file)
        case "wikics":
            return read_wikics(source.name, file)
        case _:
            return read_ogbn_arxiv(source.name, file)


def _in_published_form(source: Source, graph: Graph) -> Graph:
    # The same name must mean the same graph, wherever its file came from.
    from dgb.data.public.readers import with_binary_features

    return with_binary_features(graph) if source.form == "gnn-benchmark" else graph
