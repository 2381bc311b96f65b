"""Delimited text files: comments skipped, the delimiter found, and the line of every row known."""

import csv
import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dgb.data.byte_bar import byte_bar
from dgb.data.packed import read_whole
from dgb.errors import DGBError

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".edgelist", ".edges")
_LOOKED_AT = 20  # lines, to find the delimiter
_SAMPLE = 1 << 16
_BLOCK = 1 << 23  # a row must fit into one, and threads share them
_LONGEST_CELL = 2**31 - 1
_LINE_END = re.compile(rb"\r\n|\n|\r")
_COMMENTS = re.compile(rb"(?:[ \t]*(?:[#%][^\r\n]*)?(?:\r\n|\n|\r|\Z))*")
_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", " ": "spaces"}


@dataclass(frozen=True)
class TextFile:
    """The rows of a file as bytes, after so many skipped lines."""

    name: str
    content: bytes
    delimiter: str
    skipped: int


class _Told(io.BytesIO):
    """Bytes of a file that tell a bar how many of them were read."""

    def __init__(self, content: bytes, bar: Any) -> None:
        """Take the bytes without a copy."""
        super().__init__(content)
        self._bar = bar

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes."""
        found = super().read(size)
        self._bar.update(len(found))
        return found


def read_text(path: Path) -> Any:
    """Read every cell of a delimited file as trimmed text; the names stay the first row."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    file = open_text(path)
    width = len(next(records(file))[1])
    names = [str(i + 1) for i in range(width)]
    try:
        with byte_bar(file.name, len(file.content)) as bar:
            return arrow_csv.read_csv(
                _Told(file.content, bar),
                arrow_csv.ReadOptions(column_names=names, block_size=_BLOCK),
                arrow_csv.ParseOptions(
                    delimiter=file.delimiter, newlines_in_values=b'"' in file.content
                ),
                arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.large_string())),
            )
    except pa.ArrowInvalid as error:
        raise _explained(file, width, str(error)) from None


def open_text(path: Path) -> TextFile:
    """Open a delimited file, packed or not, and find its first row and its delimiter."""
    content = _unpacked(path).removeprefix(b"\xef\xbb\xbf")
    comments = _COMMENTS.match(content)
    start = comments.end() if comments else 0
    skipped = len(_LINE_END.findall(content, 0, start))
    content = content[start:]
    if not content.strip():
        raise DGBError(f"{path.name} is empty; give a file with a row for each edge or node")
    delimiter = _delimiter(content, path)
    return TextFile(
        path.name, _single_spaced(content) if delimiter == " " else content, delimiter, skipped
    )


def records(file: TextFile) -> Iterator[tuple[int, list[str]]]:
    """Yield line and cells of every row that is not blank: slow, for the first row and faults."""
    lines = io.TextIOWrapper(io.BytesIO(file.content), "utf-8", errors="replace", newline="")
    usual = csv.field_size_limit(_LONGEST_CELL)
    try:
        reader = csv.reader(lines, delimiter=file.delimiter)
        line = file.skipped + 1
        for cells in reader:
            if cells:
                yield line, cells
            line = file.skipped + reader.line_num + 1
    finally:
        csv.field_size_limit(usual)


def _unpacked(path: Path) -> bytes:
    try:
        return read_whole(path)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DGBError(f"{path}: cannot be read ({reason}); get or write it again") from None


def _delimiter(content: bytes, path: Path) -> str:
    sample = re.sub(r'"(?:[^"]|"")*"', '""', content[:_SAMPLE].decode("utf-8", "replace"))
    lines = re.split(r"\r\n|\n|\r", sample)
    lines = lines[:-1] if len(content) > _SAMPLE and len(lines) > 1 else lines  # the last is cut
    lines = [line for line in lines if line.strip()][:_LOOKED_AT]
    counts = {mark: [line.count(mark) for line in lines] for mark in "\t,;"}
    is_csv, present = ".csv" in path.suffixes, [mark for mark in counts if counts[mark][0]]
    even = [mark for mark in present if len(set(counts[mark])) == 1]
    if present:
        return max(even or present, key=lambda mark: (counts[mark][0], is_csv and mark == ","))
    # A .csv of one column may hold texts of several words.
    is_even = len({len(line.split()) for line in lines}) == 1
    return " " if " " in lines[0].strip() and (is_even or not is_csv) else ","


def _single_spaced(content: bytes) -> bytes:
    content = re.sub(rb"[ \t]{2,}|\t", b" ", content)
    return re.sub(rb"(?m)^ | (?=\r?$)", b"", content)


def _explained(file: TextFile, width: int, reason: str) -> DGBError:
    try:
        file.content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = file.skipped + len(_LINE_END.findall(file.content, 0, error.start)) + 1
        return DGBError(f"{file.name}:{line}: not UTF-8 text; save the file as UTF-8")
    for line, cells in records(file):
        if len(cells) != width:
            return DGBError(
                f"{file.name}:{line}: {len(cells)} cells where the first row has {width}, separated"
                f" by {_NAMES[file.delimiter]}; mend the row, or put quotes around such a cell"
            )
    return DGBError(f"{file.name}: cannot be read as a table ({reason}); write it again")
