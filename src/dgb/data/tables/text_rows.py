"""The rows of a delimited text, cell by cell, none of which may be longer than a block."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

from dgb.errors import DGBError

BLOCK = 1 << 23  # a row must fit into one, and threads share them
_MOST_COLUMNS = 100_000


@dataclass(frozen=True)
class TextFile:
    """The rows of a file as bytes, after so many skipped lines."""

    name: str
    content: bytes
    delimiter: str
    skipped: int


def records(file: TextFile) -> Iterator[tuple[int, list[str]]]:
    """Yield line and cells of every row that is not blank: slow, for the first row and faults."""
    lines = _Lines(file)
    usual = csv.field_size_limit(2 * BLOCK)
    try:
        reader = csv.reader(lines, delimiter=file.delimiter)
        for cells in reader:
            if cells:
                yield lines.first, cells
            lines.begin_row(file.skipped + reader.line_num + 1)
    finally:
        csv.field_size_limit(usual)


class _Lines:
    """The lines of a file, which end with an error where a row is too long."""

    def __init__(self, file: TextFile) -> None:
        """Begin with the first row."""
        self._lines = io.TextIOWrapper(io.BytesIO(file.content), "utf-8", "replace", newline="")
        self._name = file.name
        self.begin_row(file.skipped + 1)

    def begin_row(self, line: int) -> None:
        """Count from here."""
        self.first, self._size = line, 0

    def __iter__(self) -> "_Lines":
        """Return what is iterated over."""
        return self

    def __next__(self) -> str:
        """Return the next line of the row, or of the next row."""
        line = next(self._lines)
        self._size += len(line)
        if self._size > BLOCK:
            raise _too_long(self._name, self.first, " (is a quote never closed?)")
        return line


def refuse_long_line(name: str, content: bytes, skipped: int) -> None:
    """Refuse a line that no block holds; looks at few bytes of every block."""
    start = 0
    while len(content) - start > BLOCK:
        stop = start + BLOCK
        end = max(content.rfind(mark, start, stop) for mark in (b"\n", b"\r"))
        if end < 0:
            raise _too_long(name, skipped + count_line_ends(content, start) + 1, "")
        start = end + 1


def _too_long(name: str, line: int, question: str) -> DGBError:
    return DGBError(
        f"{name}:{line}: a row of more than {BLOCK // 2**20} MB{question}; a row is one node or "
        "edge: check the line ends, or give such features as .npy or .npz"
    )


def count_columns(file: TextFile) -> int:
    """Return the width of the first row, refusing what no table has."""
    line, cells = next(records(file))
    if len(cells) > _MOST_COLUMNS:
        raise DGBError(
            f"{file.name}:{line}: {len(cells):,} columns, where a table has {_MOST_COLUMNS:,} at "
            "most; give such features as .npy or .npz"
        )
    return len(cells)


def count_line_ends(content: bytes, end: int) -> int:
    """Count the ends of lines up to a place."""
    counted = (content.count(mark, 0, end) for mark in (b"\n", b"\r"))
    return sum(counted) - content.count(b"\r\n", 0, end)
