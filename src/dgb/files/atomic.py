"""Files that survive a kill and a second process: written whole, line by line, or under a lock.

A reader finds the old file or the new one. Of JSON lines, one that is half-written is left out, and
gone by the next write. A killed process leaves no lock.
"""

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
from dgb.terminal import log

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of an OSError: the disk is full
UNWRITABLE = (*NO_ROOM, errno.EACCES, errno.EPERM, errno.EROFS)
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # of an OSError: the disk knows none
_FOLDERS = ("scratch", "ray", "embeddings.parquet")  # that a run writes into
_SUFFIXES = (*(".toml", ".jsonl", ".json", ".safetensors", ".parquet"), ".html", ".csv", ".part")


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


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a JSON-lines file, none where there is no file."""
    if not path.exists():
        return []
    lines = []
    for text in path.read_text("utf-8", errors="replace").splitlines():
        try:
            lines.append(json.loads(text))
        except (ValueError, RecursionError):
            continue
    return [line for line in lines if isinstance(line, dict)]


def rewrite_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    """Write a JSON-lines file again, atomically."""
    write_text(path, "".join(json.dumps(line) + "\n" for line in lines))


def append_line(path: Path, line: dict[str, Any]) -> None:
    """Append one JSON line in a single write, so that processes do not mix theirs."""
    refuse_link(path)
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(line) + "\n")


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
        if isinstance(error, OSError) and error.errno not in _NO_LOCKS:
            raise DGBError(unwritable(folder, error)) from error
        log(f"warning: {folder} is on a disk without locks; let no second process work there")
    try:
        yield
    finally:
        lock.release()


def _written_in(folder: Path) -> Iterator[Path]:
    """Return what a run may write to; what else lies in the folder is somebody's own matter."""
    for path in folder.iterdir():
        if path.name in _FOLDERS or path.suffix in _SUFFIXES or path.name == ".lock":
            yield path
            for parent, folders, names in os.walk(path) if path.name in _FOLDERS else ():
                yield from (Path(parent) / name for name in (*folders, *names))


def unwritable(folder: Path, error: OSError) -> str:
    """Return that a folder cannot be written to, why, and what to do."""
    return f"cannot write to {folder}: {error.strerror or error}; choose another folder"
