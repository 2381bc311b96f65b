"""Arrays that lie in a new file, whose room on the disk is taken before anything is written."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from dgb.data.graph import Array
from dgb.whole_file import NO_ROOM, refuse_link


def new_mapped(path: Path, dtype: Any, shape: tuple[int, ...]) -> Array:
    """Return an array in a new .npy file, or raise OSError where the disk has no room for it.

    Without that, a disk that fills up later would end the process with SIGBUS and not a word.
    """
    refuse_link(path)
    array = np.lib.format.open_memmap(path, "w+", dtype, shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            _take_room(file.fileno(), path.stat().st_size)
    return array


def _take_room(file: int, size: int) -> None:
    try:
        os.posix_fallocate(file, 0, size)
    except OSError as error:  # not every file system can do it
        if error.errno in NO_ROOM:
            raise
