"""Files of other programs that hold a graph: arrays, MatrixMarket, GraphML, PyG's Data."""

from pathlib import Path

from dgb.data.align import align
from dgb.data.encoding import Encoding
from dgb.data.formats.array_files import read_array_files
from dgb.data.formats.arrays import open_npz
from dgb.data.formats.edge_arrays import SUFFIXES as ARRAY_SUFFIXES
from dgb.data.formats.npz import read_npz
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.recipe import Data

WHOLE_SUFFIXES = (".graphml", ".pt")
FILE_SUFFIXES = (*ARRAY_SUFFIXES, *WHOLE_SUFFIXES)


def read_file(path: Path, reading: Data, encoding: Encoding | None) -> Graph | None:
    """Read a graph by the form that its suffix names, None where it is none of FILE_SUFFIXES."""
    suffix = path.suffix.lower()
    if not path.name.lower().endswith(FILE_SUFFIXES):
        return None
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
        from dgb.data.formats.networks import read_graphml

        return read_graphml(path, reading, encoding)
    if suffix == ".pt":
        from dgb.data.formats.pyg_file import read_pyg

        return align(read_pyg(path, reading.structure), encoding)
    return align(read_npz(path, reading.structure), encoding)
