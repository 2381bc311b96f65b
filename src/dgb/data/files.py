"""A file or a folder of files becomes a Graph: tables, arrays, MatrixMarket, GraphML, PyG data."""

import difflib
from dataclasses import replace
from pathlib import Path

from dgb.data.align import align
from dgb.data.encoding import Encoding
from dgb.data.formats.array_files import ARRAY_SUFFIXES, read_array_files
from dgb.data.formats.arrays import MATRIX_SUFFIXES, node_matrix, open_npz
from dgb.data.formats.networks import read_graphml
from dgb.data.formats.npz import read_npz
from dgb.data.formats.pyg_file import read_pyg
from dgb.data.graph import Graph
from dgb.data.tables.from_tables import graph_from_matrix, graph_from_tables
from dgb.data.tables.table import TABLE_SUFFIXES, is_table, read_table
from dgb.errors import DGBError
from dgb.recipe import Data
from dgb.terminal import some

WHOLE_SUFFIXES = (".graphml", ".pt")
FILE_SUFFIXES = (*ARRAY_SUFFIXES, *WHOLE_SUFFIXES)
GRAPH_SUFFIXES = (*TABLE_SUFFIXES, *FILE_SUFFIXES)


def read_file(path: Path, reading: Data, encoding: Encoding | None) -> Graph:
    """Read a graph from a file that is not a table, by the form that its suffix names."""
    suffix = path.suffix.lower()
    if not path.name.lower().endswith(FILE_SUFFIXES):
        raise DGBError(
            f"{path}: not a file of a known form; give a folder with edges.csv and nodes.csv, or "
            f"one of {', '.join(GRAPH_SUFFIXES)}"
        )
    if not path.is_file():
        raise DGBError(f"{path}: no such file; check the path")
    is_own = suffix == ".npz" and bool(open_npz(path, ("edge_index",)))
    if not is_own and suffix not in WHOLE_SUFFIXES:
        return read_array_files(path, reading, encoding)
    if reading.nodes or reading.labels:
        raise DGBError(
            f"{path} holds its nodes itself; leave data.nodes and data.labels out, which go with "
            "files of edges alone"
        )
    if suffix == ".graphml":
        return read_graphml(path, reading, encoding)
    if suffix == ".pt":
        return align(read_pyg(path, reading.structure, reading.repeats), encoding)
    return align(read_npz(path, reading.structure, reading.repeats), encoding)


def read_path(path: Path, reading: Data, encoding: Encoding | None = None) -> Graph:
    """Read a graph from a file by its suffix, or from a folder with edges, nodes and labels."""
    refuse_missing(path)
    name = graph_name(path)
    if path.is_dir():
        path, reading = _in_folder(path, reading)
    for other in (reading.nodes, reading.labels):
        if other:
            refuse_missing(Path(other))
    if not is_table(path):
        return replace(read_file(path, reading, encoding), name=name)
    edges = read_table(path, has_names=False)
    labels = read_table(Path(reading.labels)) if reading.labels else None
    if reading.nodes.lower().endswith(MATRIX_SUFFIXES):
        x = node_matrix(Path(reading.nodes))
        return align(graph_from_matrix(name, edges, x, labels, reading), encoding)
    nodes = read_table(Path(reading.nodes)) if reading.nodes else None
    return graph_from_tables(name, edges, nodes, labels, reading, encoding)


def graph_name(path: Path) -> str:
    """Name a graph by its file, or by its folder where the file is called edges like many."""
    path = path.resolve()
    if path.is_dir():
        return path.name
    endings = [suffix for suffix in GRAPH_SUFFIXES if path.name.lower().endswith(suffix)]
    stem = path.name[: -len(max(endings, key=len))] if endings else path.stem
    return path.parent.name if stem.lower() == "edges" else stem


def _in_folder(folder: Path, reading: Data) -> tuple[Path, Data]:
    edges, nodes, labels = (_only_file(folder, what) for what in ("edges", "nodes", "labels"))
    if not edges:
        raise DGBError(
            f"{folder} holds no edges.csv (nor .tsv, .parquet …); it holds {_list_folder(folder)}"
        )
    reading = replace(reading, nodes=reading.nodes or nodes, labels=reading.labels or labels)
    return Path(edges), reading


def _only_file(folder: Path, what: str) -> str:
    files = (path for path in sorted(folder.iterdir()) if path.is_file())
    found = [path for path in files if path.name.split(".")[0].lower() == what]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise DGBError(f"{folder} holds {names}; leave one file of {what} there")
    return str(found[0]) if found else ""


def refuse_missing(path: Path) -> None:
    """Refuse a path at which there is nothing, with a name like it from the same folder."""
    if path.exists():
        return
    if not path.parent.is_dir():
        raise DGBError(f"{path} does not exist, nor does its folder {path.parent}; check the path")
    near = difflib.get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=1)
    hint = f"did you mean {near[0]}?" if near else f"its folder holds {_list_folder(path.parent)}"
    raise DGBError(f"{path} does not exist; {hint}")


def _list_folder(folder: Path) -> str:
    return some(sorted(path.name for path in folder.iterdir()), 8) or "nothing"
