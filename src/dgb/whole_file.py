"""Files that are written whole or not at all: a reader finds the old one or the new one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: Path, *, is_shared: bool = False) -> Iterator[Path]:
    """Give a temporary file beside `path` that takes its place once it is filled.

    `is_shared` keeps processes that may write the same file out of each other's way.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part" if is_shared else f"{path.name}.part")
    try:
        yield part
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink()
