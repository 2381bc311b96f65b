"""A table with a place for every row, and what is asked of its columns and rows."""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from dgb.arrays import Array
from dgb.data.tables.text_file import open_text, records
from dgb.errors import DGBError

Cells = Any  # a pyarrow ChunkedArray; pyarrow ships no types
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:nan|inf|infinity)$"
_NAMED = 5  # rows that an error names
_BEYOND = 1 << 40  # rows that no file has
# What is not seen at the ends of a cell that was copied from a page.
UNSEEN = " \t\u00a0\u00ad\u200b\u200e\u200f\u2060\ufeff"


@dataclass(frozen=True, eq=False)
class Table:
    """Columns and where they come from; all text is large_string, and an empty cell is null."""

    content: Any  # pyarrow Table
    source: str
    text: Path | None = None  # the delimited file whose lines `place` counts
    charset: str = ""  # that it is written in, UTF-8 by default
    has_names: bool = True  # else the columns are called 1, 2, …
    skipped: int = 0  # rows of the file before the first of content
    categories: tuple[str, ...] = ()  # columns that a frame says are such, whatever they hold
    title: str = ""  # that stood above the names, and is not used
    rows: Array | None = None  # after the skipped ones that content has; None: all, in order
    names_again: int = 0  # rows that only repeat the names, and are left out

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.content.column_names]

    def row_text(self, row: int = 0) -> list[str]:
        """Return the cells of a row of a text file, by default those of the first."""
        return [column[row].as_py() or "" for column in self.content.columns]

    def place(self, row: int) -> str:
        """Say where a row stands: nodes.csv:17, or a row counted from 1."""
        return self.places([row])[0]

    def places(self, rows: Sequence[int]) -> list[str]:
        """Say where rows stand, in one slow reading of a text file."""
        wanted = [self._in_file(row) for row in rows]
        if self.text is None:
            is_file = bool(Path(self.source).suffix)
            form = f"{self.source} row {{}}" if is_file else f"row {{}} of {self.source}"
            return [form.format(row + 1) for row in wanted]
        rows_read = enumerate(
            islice(records(open_text(self.text, self.charset)), max(wanted, default=-1) + 1)
        )
        lines = {number: line for number, (line, _) in rows_read if number in wanted}
        return [
            f"{self.source}:{lines[number]}" if number in lines else f"a row added to {self.source}"
            for number in wanted
        ]

    def _in_file(self, row: int) -> int:
        is_added = self.rows is not None and row >= len(self.rows)
        if self.rows is None or is_added:
            return self.skipped + row + (_BEYOND if is_added else 0)
        return self.skipped + int(self.rows[row])

    def take_rows(self, is_kept: Array) -> "Table":
        """Return the rows that something is true of; they keep their places."""
        rows = np.arange(len(is_kept)) if self.rows is None else self.rows
        return replace(self, content=self.content.filter(pa.array(is_kept)), rows=rows[is_kept])

    def _below(self) -> "Table":
        rows = None if self.rows is None else self.rows[1:] - 1
        return replace(self, content=self.content.slice(1), skipped=self.skipped + 1, rows=rows)

    def with_names(self) -> "Table":
        """Take the first row for the names of the columns, and leave out where it is repeated."""
        names, below = [name.strip(UNSEEN) for name in self.row_text()], self._below()
        rest = below.content
        if rest.num_rows and is_title(names, self.row_text(1)):
            return replace(below, title=names[0]).with_names()
        # What spreadsheets write beyond the last column: neither a name nor any cell.
        is_kept = [
            bool(n) or c.null_count < len(c) for n, c in zip(names, rest.columns, strict=True)
        ]
        rest = rest.select([i for i, is_such in enumerate(is_kept) if is_such])
        names = [name for name, is_such in zip(names, is_kept, strict=True) if is_such]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            problem = f"two columns are called {twice!r}" if twice else "two columns have no name"
            raise DGBError(f"{self.place(0)}: {problem}; rename one")
        named = replace(below, content=rest.rename_columns(names), has_names=True)
        is_again = _repeat_names(named.content)
        count = int(is_again.sum())
        return replace(named.take_rows(~is_again), names_again=count) if count else named

    def tell_skipped(self) -> list[str]:
        """Return a note on a title above the names, and on rows that repeat these, if any."""
        title = [f"{self.source}: skipped the title {self.title!r}"] if self.title else []
        again = f"{self.source}: rows that repeat the names of columns, left out: "
        return [*title, *([f"{again}{self.names_again:,}"] if self.names_again else [])]


def is_number(text: str) -> bool:
    """Tell whether a text is a number, not finite ones included, in the form of most programs."""
    return re.match(NUMBER, text) is not None


def is_title(first: list[str], second: list[str]) -> bool:
    """Tell whether a row has one cell filled, above a row of several, none of them a number."""
    are_names = sum(map(bool, second)) > 1 and not any(map(is_number, second))
    return bool(first[0]) and not any(first[1:]) and are_names


def _repeat_names(content: Any) -> Array:
    """Tell which rows hold the names of the columns, as where files were joined."""
    is_again = np.ones(content.num_rows, bool)
    for name, column in zip(content.column_names, content.columns, strict=True):
        is_same = compute.equal(column, name) if name else compute.is_null(column)
        is_again &= np.asarray(compute.fill_null(is_same, False).to_numpy())
        if not is_again.any():  # as in most files, after one column
            break
    return is_again


def keep_where(is_kept: Cells, cells: Cells) -> Cells:
    """Return text with null wherever it is not kept."""
    # Not the null itself: with it, pyarrow before 24 reads other bytes where text is a slice.
    return compute.if_else(is_kept, cells, pa.nulls(len(cells), cells.type))


def is_text(cells: Cells) -> bool:
    """Tell whether a column holds text."""
    return str(cells.type) in ("string", "large_string", "string_view")


def text_cells(table: Table, name: str, advice: str) -> Cells:
    """Return a column as text, refusing lists and the like with an advice."""
    cells = table.content.column(name)
    try:
        return cells.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DGBError(
            f"{table.source}: column {name!r} holds {cells.type}, which cannot be used; {advice}"
        ) from None


def find_column(table: Table, asked: str, usual: Sequence[str], key: str) -> str | None:
    """Find the column asked for by the setting `key`, else the first of the usual names."""
    lowered = {name.lower(): name for name in reversed(table.names)}
    if not asked:
        return next((lowered[name] for name in usual if name in lowered), None)
    if asked in table.names:
        return asked
    if asked.lower() in lowered:
        return lowered[asked.lower()]
    if not table.has_names:
        raise DGBError(
            f"{table.source} has no row of column names, so there is no column {asked!r} "
            f"({key}); add such a row"
        )
    near = difflib.get_close_matches(asked, table.names, n=1)
    hint = f"did you mean {near[0]!r}? Its" if near else "its"
    columns = ", ".join(table.names[:50])
    raise DGBError(f"{table.source} has no column {asked!r} ({key}); {hint} columns: {columns}")


def refuse_rows(
    table: Table, rows: Array, problem: str, shown: str | Iterable[str], advice: str
) -> None:
    """Refuse wrong rows where there are any; for `shown` see `describe_rows`."""
    if len(rows):
        found = describe_rows(table, rows, shown)
        raise DGBError(f"{problem}, {len(rows):,} in all: {found}; {advice}")


def describe_rows(table: Table, rows: Array, shown: str | Iterable[str]) -> str:
    """Name the first five of the wrong rows and count the others.

    `shown` is the column whose cells are shown with them, or a word on each row.
    """
    first = [int(row) for row in rows[:_NAMED]]
    if isinstance(shown, str):
        held = [table.content.column(shown)[row].as_py() for row in first]
        shown = [f"{shown} is {'empty' if cell is None else repr(cell)}" for cell in held]
    places = zip(table.places(first), shown, strict=False)
    named = "; ".join(f"{place}: {word}" for place, word in places)
    more = len(rows) - _NAMED
    return f"{named}; and {more:,} more" if more > 0 else named
