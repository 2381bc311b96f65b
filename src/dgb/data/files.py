"""A file or a folder of files becomes a Graph: tables, arrays, MatrixMarket, GraphML, PyG data."""

import difflib
from dataclasses import replace
from pathlib import Path

from dgb.data.align import align
from dgb.data.encoding import Encoding
from dgb.data.formats.array_files import read_array_files, read_labels
from dgb.data.formats.arrays import node_matrix, open_npz
from dgb.data.formats.networks import read_graphml
from dgb.data.formats.npz import read_npz
from dgb.data.formats.pyg_file import read_pyg
from dgb.data.graph import Graph
from dgb.data.tables.from_tables import graph_from_matrix, graph_from_tables
from dgb.data.tables.source import read_table
from dgb.errors import DGBError
from dgb.files.kinds import (
    GRAPHML,
    MATRICES,
    NPZ,
    TABLES,
    TORCH,
    WHOLE,
    find_kind,
    is_parts,
    known_suffixes,
    suffix_of,
)
from dgb.recipe import Data
from dgb.terminal import some


def read_file(path: Path, reading: Data, encoding: Encoding | None) -> Graph:
    """Read a graph from a file that is not a table, by its kind."""
    kind = find_kind(path)
    if kind in ("", *TABLES):
        raise DGBError(
            f"{path}: not a file of a known form; give a folder with edges.csv and nodes.csv, or "
            f"one of {known_suffixes()}"
        )
    if not path.is_file():
        raise DGBError(f"{path}: no such file; check the path")
    is_own = kind == NPZ and bool(open_npz(path, ("edge_index",)))
    if not is_own and kind not in WHOLE:
        return read_array_files(path, reading, encoding)
    if reading.nodes or reading.labels:
        raise DGBError(
            f"{path} holds its nodes itself; leave data.nodes and data.labels out, which go with "
            "files of edges alone"
        )
    if kind == GRAPHML:
        return read_graphml(path, reading, encoding)
    if kind == TORCH:
        return align(read_pyg(path, reading.structure, reading.repeats), encoding)
    return align(read_npz(path, reading.structure, reading.repeats), encoding)


def read_path(path: Path, reading: Data, encoding: Encoding | None = None) -> Graph:
    """Read a graph from a file by its kind, or from a folder with edges, nodes and labels."""
    refuse_missing(path)
    name = graph_name(path)
    folder = path
    path, reading = find_tables(path, reading)
    if folder != path and not reading.nodes:
        graph = _read_tables(name, path, reading, encoding)
        return replace(graph, notes=(*_tell_unread(folder, path, reading), *graph.notes))
    return _read_tables(name, path, reading, encoding)


def _read_tables(name: str, path: Path, reading: Data, encoding: Encoding | None) -> Graph:
    for other in (reading.nodes, reading.labels):
        if other:
            refuse_missing(Path(other))
    if find_kind(path) not in TABLES:
        return replace(read_file(path, reading, encoding), name=name)
    edges = read_table(path, has_names=False, charset=reading.charset)
    labels = read_labels(reading)
    if reading.nodes and find_kind(Path(reading.nodes)) in MATRICES:
        x = node_matrix(Path(reading.nodes))
        return align(graph_from_matrix(name, edges, x, labels, reading), encoding)
    rows = Path(reading.nodes)
    nodes = read_table(rows, charset=reading.charset) if reading.nodes else None
    return graph_from_tables(name, edges, nodes, labels, reading, encoding)


def _tell_unread(folder: Path, edges: Path, reading: Data) -> tuple[str, ...]:
    """Say which tables of a folder are not read, where none of them is of the nodes."""
    read = {edges, Path(reading.labels)}
    others = [p.name for p in sorted(folder.iterdir()) if p not in read and find_kind(p) in TABLES]
    told = f"{folder.name} has no nodes.csv or the like, and these are not read: {some(others)}"
    return (f"{told}; data.nodes=FILE takes one for the nodes",) if others else ()


def graph_name(path: Path) -> str:
    """Name a graph by its file, or by its folder where the file is called edges like many."""
    path = path.resolve()
    ending = suffix_of(path.name)
    if path.is_dir() and not is_parts(path):
        return path.name
    stem = path.name[: -len(ending)] if ending else path.stem
    return path.parent.name if stem.lower() == "edges" else stem


def find_tables(folder: Path, reading: Data) -> tuple[Path, Data]:
    """Return the file of edges in a folder, and settings that name its nodes and labels."""
    if not folder.is_dir() or find_kind(folder) in TABLES:
        return folder, reading
    edges, nodes, labels = (_only_file(folder, what) for what in ("edges", "nodes", "labels"))
    if not edges:
        raise DGBError(
            f"{folder} holds no edges.csv (nor .tsv, .parquet …); it holds {_list_folder(folder)}; "
            "give the file of edges itself, and that of the nodes as data.nodes=FILE"
        )
    reading = replace(reading, nodes=reading.nodes or nodes, labels=reading.labels or labels)
    return Path(edges), reading


def _only_file(folder: Path, what: str) -> str:
    files = (path for path in sorted(folder.iterdir()) if path.is_file() or is_parts(path))
    found = [path for path in files if path.name.split(".")[0].lower() == what]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise DGBError(f"{folder} holds {names}; leave one file of {what} there")
    return str(found[0]) if found else ""


def refuse_missing(path: Path) -> None:
    """Refuse a path at which there is nothing, with a name like it from the same folder."""
    if path.exists():
        return
    for place, part in enumerate(path.parts):
        if part in ("http:", "https:", "s3:", "gs:", "ftp:"):
            address = "/".join((f"{part}/", *path.parts[place + 1 :]))
            raise DGBError(f"{address} is an address; download the file, and give the path of it")
    if not path.parent.is_dir():
        raise DGBError(f"{path} does not exist, nor does its folder {path.parent}; check the path")
    near = difflib.get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=1)
    hint = f"did you mean {near[0]}?" if near else f"its folder holds {_list_folder(path.parent)}"
    raise DGBError(f"{path} does not exist; {hint}")


def _list_folder(folder: Path) -> str:
    return some(sorted(path.name for path in folder.iterdir()), 8) or "nothing"
