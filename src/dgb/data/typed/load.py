"""A name or a path becomes a HeteroGraph."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from dgb.data.files import refuse_missing
from dgb.data.load import PathLike, is_path
from dgb.data.public.fetch import fetch
from dgb.data.public.imdb import read_imdb
from dgb.data.public.sources import find_source
from dgb.data.typed.align import align_hetero
from dgb.data.typed.folder import is_hetero_folder, read_hetero_folder
from dgb.data.typed.graph import HeteroGraph
from dgb.data.typed.heco import is_heco, read_heco
from dgb.data.typed.schema import Schema
from dgb.data.typed.target import with_target
from dgb.errors import DGBError
from dgb.recipe import Data
from dgb.settings import make_section


def is_hetero(name_or_path: PathLike) -> bool:
    """Tell whether a name, file or folder is of a graph with several types of nodes."""
    given = os.fspath(name_or_path)
    if not is_path(given):
        return find_source(given).is_hetero
    path = Path(given).expanduser()
    if path.suffix.lower() == ".pt" and path.is_file():
        from dgb.data.formats.pyg import holds_hetero_data

        return holds_hetero_data(path)
    return is_hetero_folder(path) or is_heco(path)


def load_hetero(
    name_or_path: PathLike,
    *,
    data_folder: PathLike | None = None,
    offline: bool = False,
    schema: Schema | None = None,
    **reading: Any,
) -> HeteroGraph:
    """Load a public heterogeneous graph by name, or one from a folder or a file of HeteroData.

    `reading` are keys of a recipe's data section (`target`, `label`, `drop`, `unknown` …);
    `schema` is that of a run, whose types, columns and relations the graph is then given.
    """
    chosen = make_section(Data, "data", reading | {"graph": os.fspath(name_or_path)})
    path = Path(chosen.graph).expanduser() if is_path(chosen.graph) else None
    if path is not None:
        refuse_missing(path)
    if not is_hetero(chosen.graph):
        raise DGBError(
            f"{chosen.graph} is no heterogeneous graph; give a folder with nodes/TYPE.csv and "
            "edges/SOURCE-TARGET.csv, one of HeCo's, a .pt file of a HeteroData, or imdb"
        )
    if chosen.nodes or chosen.labels:
        raise DGBError(
            f"{chosen.graph} holds its nodes and labels itself; leave data.nodes and data.labels "
            "out, which go with a file of edges"
        )
    if schema is not None:
        chosen = replace(chosen, target=schema.target)
    if path is None:
        source = find_source(chosen.graph)
        folder = fetch(source, data_folder=data_folder, offline=offline)
        graph = with_target(read_imdb(source.name, folder), chosen.target)
    else:
        graph = _read_path(path, chosen, schema)
    return graph if schema is None else align_hetero(graph, schema)


def _read_path(path: Path, reading: Data, schema: Schema | None) -> HeteroGraph:
    if is_hetero_folder(path):
        return read_hetero_folder(path, reading, schema.encodings() if schema else None)
    if path.is_dir():
        return read_heco(path, reading.target)
    from dgb.data.typed.pyg import read_hetero_data

    return read_hetero_data(path, reading.target)
