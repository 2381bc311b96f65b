"""Results with a row per node: CSV or Parquet, by the name of the file."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dgb.files.atomic import whole_file
from dgb.files.parquet import write_parquet

ROWS = 100_000  # that are text at a time


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
