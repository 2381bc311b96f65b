"""Parquet files and folders of them, read as far as there is room, and checked in full."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from dgb.data.byte_bar import byte_bar
from dgb.data.packed import check_columns, open_parquet
from dgb.errors import refusing


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
