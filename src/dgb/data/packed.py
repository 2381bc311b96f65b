"""Files and members of archives as bytes, unpacked only as far as there is room for them."""

import gzip
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from dgb.data.room import SHARE, TRUST, refuse_beyond_room, room

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


def open_parquet(source: Any, name: Path, **options: Any) -> Any:
    """Open a Parquet file, refusing one whose columns are larger than there is room for."""
    from pyarrow import parquet

    file = parquet.ParquetFile(source, **options)
    check_columns(str(name), file)
    return file


def check_columns(name: str, *files: Any, share: float = SHARE) -> None:
    """Refuse Parquet by its metadata: a value that is repeated a billion times takes no page."""
    for measure in (_typed_size, _unpacked_size):
        refuse_beyond_room(f"{name} unpacks to", sum(map(measure, files)), share=share)


def _typed_size(file: Any) -> float:
    """Return the bytes that the rows take by the types of their columns alone."""
    fixed = sum(_fixed_width(field.type) for field in file.schema_arrow)
    return float(file.metadata.num_rows * fixed)


def _unpacked_size(file: Any) -> float:
    """Return the bytes that the values take by their number, which pages need not show."""
    for group in range(file.num_row_groups):
        # A row of each: metadata that is broken ends the process when it is looked at unread.
        next(file.iter_batches(1, row_groups=[group], use_threads=False), None)
    groups = (file.metadata.row_group(i) for i in range(file.num_row_groups))
    columns = (group.column(i) for group in groups for i in range(group.num_columns))
    return float(sum(max(c.total_uncompressed_size, c.num_values * _width(c)) for c in columns))


def _width(column: Any) -> float:
    return {"BOOLEAN": 1 / 8, "INT32": 4, "FLOAT": 4}.get(column.physical_type, 8)


def _fixed_width(kind: Any) -> float:
    """Return the bytes that a cell takes by its type alone: an empty list of a fixed length too."""
    from pyarrow import types

    if types.is_fixed_size_list(kind):
        return float(kind.list_size) * _fixed_width(kind.value_type)
    if types.is_struct(kind):
        return sum(_fixed_width(kind.field(i).type) for i in range(kind.num_fields))
    return kind.bit_width / 8 if types.is_primitive(kind) or types.is_fixed_size_binary(kind) else 0
