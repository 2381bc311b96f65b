"""Files that hold a graph in another form than tables."""

from pathlib import Path

from dgb.data.align import align
from dgb.data.encoding import Encoding
from dgb.data.graph import Graph
from dgb.data.npz import read_npz
from dgb.recipe import Data

FILE_SUFFIXES = (".npz",)


def read_file(path: Path, reading: Data, encoding: Encoding | None) -> Graph | None:
    """Read a graph by the form that its suffix names, None where it is none of FILE_SUFFIXES."""
    if not path.name.lower().endswith(FILE_SUFFIXES):
        return None
    return align(read_npz(path, reading.structure), encoding)
