"""One process at a time in a run folder or on a file of results; a killed one leaves no lock."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dgb.errors import DGBError
from dgb.progress import say


@contextmanager
def locked(folder: Path, file: str = "") -> Iterator[None]:
    """Hold a folder, which is made where it is missing, or a file in it for this process alone.

    The lock is the operating system's: it ends with the process, however that ends.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / f".{file}.lock" if file else folder / ".lock", timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise DGBError(
            f"another process is working on {folder / file}; wait until it is done, or choose "
            "another folder"
        ) from None
    except NotImplementedError:
        say(f"warning: {folder} is on a disk without locks; let no second process work there")
    except OSError as error:
        raise DGBError(unwritable(folder, error)) from error
    try:
        yield
    finally:
        lock.release()


def unwritable(folder: Path, error: OSError) -> str:
    """Return that a folder cannot be written to, why, and what to do."""
    return f"cannot write to {folder}: {error.strerror or error}; choose another folder"
