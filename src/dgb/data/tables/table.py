"""A table with a name for every row: from a delimited text file, Parquet, or a data frame."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dgb.data.tables.text_file import TEXT_SUFFIXES, open_text, read_text
from dgb.data.tables.text_rows import records
from dgb.errors import DGBError
from dgb.files.parquet import read_parquet

Cells = Any  # a pyarrow ChunkedArray; pyarrow ships no types
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *(f"{suffix}.gz" for suffix in TEXT_SUFFIXES), ".parquet")
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:nan|inf|infinity)$"


@dataclass(frozen=True, eq=False)
class Table:
    """Columns and where they come from; all text is large_string, and an empty cell is null."""

    content: Any  # pyarrow Table
    source: str
    text: Path | None = None  # the delimited file whose lines `place` counts
    has_names: bool = True  # else the columns are called 1, 2, …
    skipped: int = 0  # rows of the file before the first of content

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.content.column_names]

    def place(self, row: int) -> str:
        """Say where a row stands: nodes.csv:17, or a row counted from 1."""
        return self.places([row])[0]

    def places(self, rows: Sequence[int]) -> list[str]:
        """Say where rows stand, in one slow reading of a text file."""
        if self.text is None:
            is_file = self.source.endswith(".parquet")
            form = f"{self.source} row {{}}" if is_file else f"row {{}} of {self.source}"
            return [form.format(row + 1) for row in rows]
        wanted = {row + self.skipped: "" for row in rows}
        for number, (line, _) in zip(
            range(max(wanted, default=-1) + 1), records(open_text(self.text)), strict=False
        ):
            if number in wanted:
                wanted[number] = f"{self.source}:{line}"
        return [wanted[row + self.skipped] for row in rows]

    def with_names(self) -> "Table":
        """Take the first row for the names of the columns."""
        names = [column[0].as_py() or "" for column in self.content.columns]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DGBError(f"{self.place(0)}: two columns are called {twice!r}; rename one")
        content = self.content.slice(1).rename_columns(names)
        return replace(self, content=content, has_names=True, skipped=self.skipped + 1)


def read_table(path: Path, *, has_names: bool = True) -> Table:
    """Read a delimited text file or Parquet; a text file without names keeps its first row."""
    if not is_table(path):
        known = ", ".join(TABLE_SUFFIXES)
        raise DGBError(f"{path}: not a table of a known form; give one of {known}")
    if path.suffix.lower() == ".parquet":
        return Table(_plain(read_parquet(path)), path.name)
    table = Table(_plain(read_text(path), is_trimmed=True), path.name, path, has_names=False)
    if not has_names:
        return table
    if all(re.match(NUMBER, column[0].as_py() or "") for column in table.content.columns):
        raise DGBError(f"{table.place(0)}: the first row must name the columns; add such a row")
    return table.with_names()


def is_table(path: Path) -> bool:
    """Tell by its name whether a file can be read as a table."""
    return path.name.lower().endswith(TABLE_SUFFIXES)


def table_of(frame: Any, what: str) -> Table:
    """Take a pandas or polars DataFrame, a pyarrow Table, or a dict of columns."""
    import pyarrow as pa

    try:
        if isinstance(frame, pa.Table):
            content = frame
        elif isinstance(frame, dict):
            content = pa.table({str(name): column for name, column in frame.items()})
        elif hasattr(frame, "to_arrow"):
            content = frame.to_arrow()
        else:
            content = pa.Table.from_pandas(frame, preserve_index=False)
        return Table(_plain(content), what)
    except (pa.ArrowException, ValueError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise DGBError(
            f"{what}: not a table ({reason}); give a DataFrame whose columns each have one type"
        ) from None


def _plain(content: Any, *, is_trimmed: bool = False) -> Any:
    import pyarrow as pa

    # pandas stores an index without a name under such a name; rows are known by an id column.
    names = [n for n in content.column_names if not re.match(r"__index_level_\d+__$", str(n))]
    if len(set(names)) < len(names):
        raise ValueError("two columns of the same name")
    return pa.table({str(n): _plain_cells(content.column(n), is_trimmed) for n in names})


def _plain_cells(cells: Cells, is_trimmed: bool) -> Cells:
    import pyarrow as pa
    from pyarrow import compute, types

    if types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if not is_text(cells):
        return cells
    cells = cells.cast(pa.large_string())
    cells = compute.utf8_trim_whitespace(cells) if is_trimmed else cells
    return keep_where(compute.not_equal(cells, ""), cells)


def keep_where(is_kept: Cells, cells: Cells) -> Cells:
    """Return text with null wherever it is not kept."""
    import pyarrow as pa
    from pyarrow import compute

    # Not the null itself: with it, pyarrow before 24 reads other bytes where text is a slice.
    return compute.if_else(is_kept, cells, pa.nulls(len(cells), cells.type))


def is_text(cells: Cells) -> bool:
    """Tell whether a column holds text."""
    return str(cells.type) in ("string", "large_string", "string_view")
