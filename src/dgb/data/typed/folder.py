"""A folder with nodes/TYPE.csv and edges/SOURCE-TARGET.csv becomes a HeteroGraph."""

from pathlib import Path

from dgb.data.tables.source import read_table
from dgb.data.typed.from_tables import Encodings, hetero_from_tables
from dgb.data.typed.graph import UNNAMED, HeteroGraph
from dgb.data.typed.schema import Triple
from dgb.errors import DGBError
from dgb.files.kinds import TABLES, find_kind, is_parts, known_suffixes, suffix_of
from dgb.recipe import Data
from dgb.terminal import some


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
    node_files = {stem(path): path for path in _tables(folder / "nodes")}
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


def stem(path: Path) -> str:
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
    stems = [stem(path) for path in found]
    twice = [path.name for path in found if stems.count(stem(path)) > 1]
    if twice:
        raise DGBError(f"{folder} holds {some(twice)}; leave one file of that name there")
    return found


def _relation_files(folder: Path) -> dict[Triple, Path]:
    found: dict[Triple, Path] = {}
    for path in _tables(folder):
        name = stem(path)
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
