"""Files that are written whole or not at all: a reader finds the old one or the new one."""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.errors import DGBError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of an OSError: the disk is full
UNWRITABLE = (*NO_ROOM, errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def whole_file(
    path: Path, *, is_shared: bool = False, previous: Path | None = None
) -> Iterator[Path]:
    """Give a temporary file next to `path` that takes its place once it is filled.

    `is_shared` keeps processes that may write the same file out of each other's way. What was
    there before is kept as `previous`, where one is named.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part" if is_shared else f"{path.name}.part")
    try:
        # What a kill has left there, or a link to another file, goes first.
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield part
        with part.open("r+b") as file:  # or the new name could outlive a power cut, without content
            os.fsync(file.fileno())
        if previous is not None and path.exists():
            path.replace(previous)
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink()


def refuse_link(path: Path) -> None:
    """Refuse to write where a link leads elsewhere: it may be somebody else's file."""
    if path.is_symlink():
        raise DGBError(
            f"{path} is a link, and what is written there would change another file; remove the "
            "link, or put a copy of the file in its place"
        )


def new_mapped(path: Path, dtype: Any, shape: tuple[int, ...]) -> Array:
    """Return an array in a new .npy file, or raise OSError where the disk has no room for it.

    Without that, a disk that fills up later would end the process with SIGBUS and not a word.
    """
    refuse_link(path)
    array = np.lib.format.open_memmap(path, "w+", dtype, shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
            except OSError as error:  # not every file system can do it
                if error.errno in NO_ROOM:
                    raise
    return array


def write_json(path: Path, values: Any) -> None:
    """Write JSON atomically."""
    write_text(path, json.dumps(values, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with whole_file(path) as part:
        part.write_text(text, "utf-8")
