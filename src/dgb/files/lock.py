"""One process at a time in a run folder or on a file of results; a killed one leaves no lock."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dgb.errors import DGBError
from dgb.files.atomic import refuse_link
from dgb.terminal import log

NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # of an OSError: the disk knows none
FOLDERS = ("scratch", "ray", "embeddings.parquet")  # that a run writes into
SUFFIXES = (*(".toml", ".jsonl", ".json", ".safetensors", ".parquet"), ".html", ".csv", ".part")


@contextmanager
def locked(folder: Path, file: str = "") -> Iterator[None]:
    """Hold a folder, which is made where it is missing, or a file in it for this process alone.

    The lock is the operating system's: it ends with the process, however that ends. Links in the
    folder are refused: somebody may have sent it, and what is written would go elsewhere.
    """
    from filelock import FileLock, Timeout

    path = folder / (f".{file}.lock" if file else ".lock")
    lock = FileLock(path, timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for written in (path, folder / file) if file else _written_in(folder):
            refuse_link(written)
        lock.acquire()
    except Timeout:
        raise DGBError(
            f"another process is working on {folder / file}; wait until it is done, or choose "
            "another folder"
        ) from None
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno not in NO_LOCKS:
            raise DGBError(unwritable(folder, error)) from error
        log(f"warning: {folder} is on a disk without locks; let no second process work there")
    try:
        yield
    finally:
        lock.release()


def _written_in(folder: Path) -> Iterator[Path]:
    """Return what a run may write to; what else lies in the folder is somebody's own matter."""
    for path in folder.iterdir():
        if path.name in FOLDERS or path.suffix in SUFFIXES or path.name == ".lock":
            yield path
            for parent, folders, names in os.walk(path) if path.name in FOLDERS else ():
                yield from (Path(parent) / name for name in (*folders, *names))


def unwritable(folder: Path, error: OSError) -> str:
    """Return that a folder cannot be written to, why, and what to do."""
    return f"cannot write to {folder}: {error.strerror or error}; choose another folder"
