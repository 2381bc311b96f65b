"""How much memory the content of a file may take: asked before any of it is taken, or unpacked."""

import gzip
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

from dgb.errors import DGBError
from dgb.files.kinds import PACKED

GROUP = Path("/sys/fs/cgroup")  # where Linux keeps the limits of a container
SHARE = 0.5  # of what is free: whatever is read is copied at least once on its way
UNKNOWN_FREE = 16e9  # bytes that are taken for free where the system does not say
NODE = 32  # bytes that a node takes at the least: an id, and its place in the rows of edges
TRUST = "if you trust it, read it where there is more memory, or get it in smaller parts"


def free_bytes() -> float | None:
    """Return the memory that a process can still take; None where it is not known."""
    import psutil

    try:
        free = float(psutil.virtual_memory().available)
    except (OSError, RuntimeError):  # such as a /proc that is not mounted
        return None
    # What a container leaves to its processes, which psutil does not know.
    with suppress(OSError, ValueError):  # no limit is written as "max"
        limit = int((GROUP / "memory.max").read_text())
        stat = dict(line.split() for line in (GROUP / "memory.stat").read_text().splitlines())
        free = min(free, limit - int(stat["anon"]))
    return free


def room() -> float:
    """Return the bytes that one file may take."""
    free = free_bytes()
    return SHARE * (UNKNOWN_FREE if free is None else free)


def refuse_beyond_room(what: str, size: float, advice: str = TRUST, share: float = SHARE) -> None:
    """Refuse content of so many bytes where there is no room for it; `what` ends in a verb."""
    limit = share / SHARE * room()
    if size > limit:
        free = "free" if free_bytes() is not None else "taken for free, as the system does not say"
        raise DGBError(
            f"{what} {_gb(size)}, more than {share:.0%} of the {_gb(limit / share)} of memory that "
            f"are {free}; {advice}"
        )


def refuse_nodes(count: int) -> None:
    """Refuse a number of nodes that a file declares and no memory holds."""
    advice = "correct the number of nodes that the file declares"
    refuse_beyond_room(f"{count:,} nodes take at least", NODE * count, advice)


def _gb(size: float) -> str:
    return f"{size / 1e9:,.1f} GB"


_PIECE = 1 << 22


def read_whole(path: Path) -> bytes:
    """Return the bytes of a file, unpacked where it begins as gzip does."""
    refuse_beyond_room(f"{path} has", path.stat().st_size, TRUST)
    with path.open("rb") as file:
        is_packed = file.read(2) == PACKED
    if not is_packed:
        return path.read_bytes()
    with gzip.open(path) as unpacked:
        return unpack(unpacked, str(path))


def unpack(file: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
    """Return what a packed stream holds, a piece at a time: nobody can say its size before."""
    limit, size = room(), 0
    pieces: list[bytes] = []
    while piece := file.read(_PIECE):
        size += len(piece)
        if size > limit:
            pieces.clear()
            refuse_beyond_room(f"{name} unpacks to more than", size)
        pieces.append(piece)
    return b"".join(pieces)


def check_members(path: Path, members: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse members of an archive that unpack to more than there is room for.

    Their sizes can be believed: zipfile never unpacks more than a member declares.
    """
    refuse_beyond_room(f"{path} unpacks to", sum(member.file_size for member in members))
