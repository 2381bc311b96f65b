"""A file or a folder of files becomes a graph: tables, arrays, MatrixMarket, GraphML, PyG data."""

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
from dgb.data.typed.from_tables import Encodings, hetero_from_tables
from dgb.data.typed.graph import UNNAMED, HeteroGraph
from dgb.data.typed.schema import Triple
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
    list_folder,
    refuse_missing,
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
    edges, reading = find_tables(path, reading)
    graph = _read_tables(graph_name(path), edges, reading, encoding)
    unread = () if edges == path or reading.nodes else _tell_unread(path, edges, reading)
    return replace(graph, notes=(*unread, *graph.notes))


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
    note = f"{folder.name} has no nodes.csv or the like, and these are not read: {some(others)}"
    return (f"{note}; data.nodes=FILE takes one for the nodes",) if others else ()


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
            f"{folder} holds no edges.csv (nor .tsv, .parquet …); it holds {list_folder(folder)}; "
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


def is_hetero_folder(folder: Path) -> bool:
    """Tell whether a folder holds its edges in a folder of their own, a file for each relation."""
    edges = folder / "edges"
    return edges.is_dir() and not is_parts(edges)


def read_hetero_folder(
    folder: Path, reading: Data, encodings: Encodings | None = None
) -> HeteroGraph:
    """Read nodes/TYPE.csv and edges/SOURCE-TARGET.csv or SOURCE-RELATION-TARGET.csv.

    A type without a file of nodes has those that its edges name.
    """
    node_files = {_stem(path): path for path in _tables(folder / "nodes")}
    edge_files = _relation_files(folder / "edges")
    if not edge_files:
        raise DGBError(f"{folder / 'edges'} holds no table; give SOURCE-TARGET.csv, or .parquet …")
    spelt: dict[str, str] = {}
    for kind in (*node_files, *(end for triple in edge_files for end in triple[::2])):
        other = spelt.setdefault(kind.lower(), kind)
        if other != kind:
            raise DGBError(
                f"{folder}: the types {other} and {kind} differ in case alone; name their files "
                "alike, or name them differently"
            )
    nodes = {kind: read_table(path, charset=reading.charset) for kind, path in node_files.items()}
    edges = {
        triple: read_table(path, has_names=False, charset=reading.charset)
        for triple, path in edge_files.items()
    }
    return hetero_from_tables(folder.resolve().name, nodes, edges, reading, encodings)


def _stem(path: Path) -> str:
    """Return the name of a table without the suffixes that say how it is written."""
    return path.name[: len(path.name) - len(suffix_of(path.name))]


def _tables(folder: Path) -> list[Path]:
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    found = [path for path in found if not path.name.startswith(".")]
    others = [path.name for path in found if find_kind(path) not in TABLES]
    if others:
        raise DGBError(
            f"{folder} holds what is not a table: {some(others)}; leave only files of "
            f"{known_suffixes(*TABLES)} there"
        )
    stems = [_stem(path) for path in found]
    twice = [path.name for path in found if stems.count(_stem(path)) > 1]
    if twice:
        raise DGBError(f"{folder} holds {some(twice)}; leave one file of that name there")
    return found


def _relation_files(folder: Path) -> dict[Triple, Path]:
    found: dict[Triple, Path] = {}
    for path in _tables(folder):
        name = _stem(path)
        parts = name.split("__") if "__" in name else name.split("-")
        if len(parts) not in (2, 3) or not all(parts):
            raise DGBError(
                f"{path}: the name must be SOURCE-TARGET or SOURCE-RELATION-TARGET, the types of "
                "nodes that the edges join; write __ between them where a name has a - in it"
            )
        triple = (parts[0], parts[1] if len(parts) == 3 else UNNAMED, parts[-1])
        other = found.setdefault(triple, path)
        if other != path:
            raise DGBError(
                f"{folder}: {other.name} and {path.name} are of the same relation; name them apart "
                "as SOURCE-RELATION-TARGET, or leave one there"
            )
    return found
