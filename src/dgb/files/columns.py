"""Tables in files: Parquet, read as there is room and checked in full; results, as CSV too."""

import csv
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from dgb.errors import refusing
from dgb.files.atomic import whole_file
from dgb.files.limits import SHARE, refuse_beyond_room
from dgb.terminal import byte_bar

ROWS = 100_000  # that are text at a time
_WIDTHS = {"BOOLEAN": 1 / 8, "INT32": 4, "FLOAT": 4}  # bytes of a number; of all others 8


def read_parquet(path: Path) -> Any:
    """Return the Arrow table of a Parquet file, or of a folder of them."""
    with refusing(path, "not a readable Parquet file", "write it again"):
        content = _read_parts(path) if path.is_dir() else _read_groups(path)
        content.validate(full=True)  # pyarrow itself takes any bytes for text
        return content


def _read_parts(path: Path) -> Any:
    """Read a folder of parts, as many programs write them."""
    from pyarrow import parquet

    parts = parquet.ParquetDataset(path)
    with ExitStack() as stack:
        opened = (parquet.ParquetFile(part.path) for part in parts.fragments)
        check_columns(str(path), *(stack.enter_context(file) for file in opened))
    return parts.read()


def _read_groups(path: Path) -> Any:
    import pyarrow as pa

    with open_parquet(path, path) as file, byte_bar(path.name, path.stat().st_size) as bar:
        groups = [file.schema_arrow.empty_table()]
        for group in range(file.num_row_groups):
            groups.append(file.read_row_group(group))
            bar.update(bar.total // file.num_row_groups)
        return pa.concat_tables(groups)


def open_parquet(source: Any, name: Path, **options: Any) -> Any:
    """Open a Parquet file, refusing one whose columns are larger than there is room for."""
    from pyarrow import parquet

    file = parquet.ParquetFile(source, **options)
    check_columns(str(name), file)
    return file


def check_columns(name: str, *files: Any, share: float = SHARE) -> None:
    """Refuse Parquet by its metadata: a value that is repeated a billion times takes no page."""
    widths = [sum(_fixed_width(field.type) for field in file.schema_arrow) for file in files]
    rows = [file.metadata.num_rows for file in files]
    by_type = float(sum(count * width for count, width in zip(rows, widths, strict=True)))
    refuse_beyond_room(f"{name} unpacks to", by_type, share=share)
    refuse_beyond_room(f"{name} unpacks to", sum(map(_unpacked_size, files)), share=share)


def _unpacked_size(file: Any) -> float:
    """Return the bytes that the values take by their number, which pages need not show."""
    for group in range(file.num_row_groups):
        # A row of each: metadata that is broken ends the process when it is looked at unread.
        next(file.iter_batches(1, row_groups=[group], use_threads=False), None)
    groups = (file.metadata.row_group(i) for i in range(file.num_row_groups))
    columns = (group.column(i) for group in groups for i in range(group.num_columns))
    sizes = ((c, _WIDTHS.get(c.physical_type, 8)) for c in columns)
    return float(sum(max(c.total_uncompressed_size, c.num_values * width) for c, width in sizes))


def _fixed_width(kind: Any) -> float:
    """Return the bytes that a cell takes by its type alone: an empty list of a fixed length too."""
    from pyarrow import types

    if types.is_fixed_size_list(kind):
        return float(kind.list_size) * _fixed_width(kind.value_type)
    if types.is_struct(kind):
        return sum(_fixed_width(kind.field(i).type) for i in range(kind.num_fields))
    return kind.bit_width / 8 if types.is_primitive(kind) or types.is_fixed_size_binary(kind) else 0


def write_parquet(path: Path, table: Any) -> None:
    """Write an Arrow table atomically."""
    from pyarrow import parquet

    with whole_file(path) as part:
        parquet.write_table(table, part)


def write_columns(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of equal length, each an array or an Arrow array, whole or not at all."""
    import pyarrow as pa

    table = pa.table(dict(columns))
    if path.suffix == ".parquet":
        write_parquet(path, table)
        return
    # Older versions of Python put no quotes around a text with a carriage return alone.
    quotes: dict[str, Any] = {"quoting": csv.QUOTE_NONNUMERIC} if _has_return(table) else {}
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", **quotes)
        writer.writerow(table.column_names)
        for batch in table.to_batches(ROWS):
            writer.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _has_return(table: Any) -> bool:
    from pyarrow import compute, types

    texts = [column for column in table.columns if types.is_string(column.type)]
    return any(compute.any(compute.match_substring(column, "\r")).as_py() for column in texts)
