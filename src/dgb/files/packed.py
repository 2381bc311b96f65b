"""Files and members of archives as bytes, unpacked only as far as there is room for them."""

import gzip
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from dgb.files.limits import TRUST, refuse_beyond_room, room

_PIECE = 1 << 22


def read_whole(path: Path) -> bytes:
    """Return the bytes of a file, unpacked where its name ends in .gz."""
    if path.suffix.lower() == ".gz":
        with gzip.open(path) as file:
            return unpack(file, str(path))
    refuse_beyond_room(f"{path} has", path.stat().st_size, TRUST)
    return path.read_bytes()


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
