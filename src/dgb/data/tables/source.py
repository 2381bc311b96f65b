"""Tables as users have them: delimited text, Parquet, JSON lines, Excel, or a data frame."""

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, types
from pyarrow import csv as arrow_csv

from dgb.data.formats.sheets import any_column, read_excel, read_json
from dgb.data.tables.table import Cells, Table, is_number, is_text, keep_where
from dgb.data.tables.text_file import BLOCK, TextFile, find_broken, open_text, records
from dgb.errors import DGBError
from dgb.files.columns import read_parquet
from dgb.files.kinds import EXCEL, JSON, TABLES, TEXT, find_kind, known_suffixes
from dgb.terminal import byte_bar

_READERS = {JSON: read_json, EXCEL: read_excel}  # and Parquet
_MOST_COLUMNS = 100_000
_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", " ": "spaces", "|": "bars"}


def read_table(path: Path, *, has_names: bool = True, charset: str = "") -> Table:
    """Read a table of any form; a text file without names keeps its first row."""
    kind = find_kind(path)
    if kind not in TABLES:
        known = known_suffixes(*TABLES)
        raise DGBError(f"{path}: not a table of a known form; give one of {known}")
    if kind != TEXT:
        content = _READERS.get(kind, read_parquet)(path)
        title = (content.schema.metadata or {}).get(b"title", b"") if kind == EXCEL else b""
        return Table(_plain(content), path.name, title=title.decode())
    content = _plain(_read_text(path, charset), is_trimmed=True)
    table = _cut_empty(Table(content, path.name, path, charset, has_names=False))
    if not has_names:
        return table
    if all(map(is_number, table.row_text())):
        raise DGBError(f"{table.place(0)}: the first row must name the columns; add such a row")
    return table.with_names()


def _read_text(path: Path, charset: str) -> Any:
    """Read every cell of a delimited file as trimmed text; the names stay the first row."""
    from tqdm.utils import CallbackIOWrapper

    file = open_text(path, charset)
    line, cells = next(records(file))
    if len(cells) > _MOST_COLUMNS:
        raise DGBError(
            f"{file.name}:{line}: {len(cells):,} columns, where a table has {_MOST_COLUMNS:,} at "
            "most; give such features as .npy or .npz"
        )
    names = [str(i + 1) for i in range(len(cells))]
    has_quotes = b'"' in file.content
    try:
        with byte_bar(file.name, len(file.content)) as bar:
            return arrow_csv.read_csv(
                CallbackIOWrapper(bar.update, io.BytesIO(file.content), "read"),
                arrow_csv.ReadOptions(column_names=names, block_size=BLOCK),
                arrow_csv.ParseOptions(delimiter=file.delimiter, newlines_in_values=has_quotes),
                arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.large_string())),
            )
    except pa.ArrowInvalid as error:
        raise _explain(file, len(cells), str(error)) from None


def _explain(file: TextFile, width: int, reason: str) -> DGBError:
    broken = find_broken(file.content)
    if broken is not None:
        return DGBError(
            f"{file.name}:{file.line(broken)}: not UTF-8 text; name its encoding, such as "
            "data.charset=cp1252 or utf-16, or save the file as UTF-8"
        )
    for number, (line, cells) in enumerate(records(file)):
        if number == 1 and width == 1 < len(cells):
            return DGBError(
                f"{file.name}:{line}: {len(cells)} cells, and one in the row above; if that is a "
                "title, remove it or put # before it"
            )
        if len(cells) != width:
            mark = _NAMES.get(file.delimiter, repr(file.delimiter))
            return DGBError(
                f"{file.name}:{line}: {len(cells)} cells where the first row has {width}, separated"
                f" by {mark}; fix the row, or put quotes around such a cell"
            )
    return DGBError(f"{file.name}: cannot be read as a table ({reason}); write it again")


def _cut_empty(table: Table) -> Table:
    """Return a table without rows that have no filled cell, as long as others have."""
    if not all(column.null_count for column in table.content.columns):
        return table
    is_filled = np.zeros(table.content.num_rows, bool)
    for column in table.content.columns:
        is_filled |= np.asarray(column.is_valid().to_numpy())
    return table if is_filled.all() or not is_filled.any() else table.take_rows(is_filled)


def table_of(frame: Any, what: str) -> Table:
    """Take a pandas or polars DataFrame, a pyarrow Table, or a dict of columns."""
    try:
        if isinstance(frame, pa.Table):
            content = frame
        elif isinstance(frame, dict):
            content = pa.table({str(name): column for name, column in frame.items()})
        elif hasattr(frame, "to_arrow"):
            content = frame.to_arrow()
        else:
            content = _from_pandas(frame)
        kinds = zip(content.column_names, content.schema.types, strict=True)
        categories = tuple(str(name) for name, kind in kinds if types.is_dictionary(kind))
        return Table(_plain(content), what, categories=categories)
    except DGBError:
        raise
    except (pa.ArrowException, ValueError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise DGBError(
            f"{what}: not a table ({reason}); give a DataFrame whose columns each have one type"
        ) from None


def _from_pandas(frame: Any) -> Any:
    names = frame.columns
    if not names.is_unique:
        twice = names[names.duplicated()][0]
        raise DGBError(f"two columns of the frame are called {str(twice)!r}; rename or drop one")
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # columns of several types, as Excel has them
        return pa.table({str(name): as_arrow(frame[name]) for name in frame.columns})


def as_arrow(cells: Any) -> Any:
    """Return a column as Arrow takes it, as text where its cells are of several types."""
    try:
        return pa.array(cells, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return any_column([None if cell is None or cell != cell else cell for cell in list(cells)])


def _plain(content: Any, *, is_trimmed: bool = False) -> Any:
    # pandas stores an index without a name under such a name; rows are known by an id column.
    names = [n for n in content.column_names if not re.match(r"__index_level_\d+__$", str(n))]
    if len(set(names)) < len(names):
        raise ValueError("two columns of the same name")
    return pa.table({str(n): _plain_cells(content.column(n), is_trimmed) for n in names})


def _plain_cells(cells: Cells, is_trimmed: bool) -> Cells:
    if types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if not is_text(cells):
        return cells
    cells = cells.cast(pa.large_string())
    cells = compute.utf8_trim_whitespace(cells) if is_trimmed else cells
    return keep_where(compute.not_equal(cells, ""), cells)
