"""Delimited text files: comments skipped, the delimiter found, and the line of every row known."""

import codecs
import io
import re
import zlib
from pathlib import Path
from typing import Any

from dgb.data.tables.text_rows import (
    BLOCK,
    TextFile,
    count_columns,
    count_line_ends,
    records,
    refuse_long_line,
)
from dgb.errors import DGBError
from dgb.files.limits import read_whole
from dgb.terminal import byte_bar

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".edgelist", ".edges")
_LOOKED_AT = 20  # lines, to find the delimiter
_SAMPLE = 1 << 16
# Possessive, or each of a billion empty lines would be remembered as a place to come back to.
_COMMENTS = re.compile(rb"(?:[ \t]*+(?:[#%][^\r\n]*+)?+(?:\r\n|\n|\r|\Z))*+")
_UNEVEN = (b"  ", b"\t", b" \n", b"\n ", b" \r", b"\r ")
_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", " ": "spaces"}


class _ReportingBytes(io.BytesIO):
    """Bytes of a file that show a bar how many of them were read."""

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
    width = count_columns(file)
    names = [str(i + 1) for i in range(width)]
    try:
        with byte_bar(file.name, len(file.content)) as bar:
            return arrow_csv.read_csv(
                _ReportingBytes(file.content, bar),
                arrow_csv.ReadOptions(column_names=names, block_size=BLOCK),
                arrow_csv.ParseOptions(
                    delimiter=file.delimiter, newlines_in_values=b'"' in file.content
                ),
                arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.large_string())),
            )
    except pa.ArrowInvalid as error:
        raise _explain(file, width, str(error)) from None


def open_text(path: Path) -> TextFile:
    """Open a delimited file, packed or not, and find its first row and its delimiter."""
    content = _unpack(path).removeprefix(b"\xef\xbb\xbf")
    comments = _COMMENTS.match(content)
    start = comments.end() if comments else 0
    skipped = count_line_ends(content, start)
    content = content[start:]
    if not content or content.isspace():
        raise DGBError(f"{path.name} is empty; give a file with a row for each edge or node")
    refuse_long_line(path.name, content, skipped)
    delimiter = _delimiter(content, path)
    return TextFile(
        path.name, single_space(content) if delimiter == " " else content, delimiter, skipped
    )


def _unpack(path: Path) -> bytes:
    try:
        return read_whole(path)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DGBError(f"{path}: cannot be read ({reason}); get or write it again") from None


def _delimiter(content: bytes, path: Path) -> str:
    sample = re.sub(r'"(?:[^"]|"")*"', '""', content[:_SAMPLE].decode("utf-8", "replace"))
    lines = re.split(r"\r\n|\n|\r", sample)
    lines = lines[:-1] if len(content) > _SAMPLE and len(lines) > 1 else lines  # the last is cut
    lines = [line for line in lines if line.strip()][:_LOOKED_AT] or [""]
    counts = {mark: [line.count(mark) for line in lines] for mark in "\t,;"}
    is_csv, present = ".csv" in path.suffixes, [mark for mark in counts if counts[mark][0]]
    even = [mark for mark in present if len(set(counts[mark])) == 1]
    if present:
        return max(even or present, key=lambda mark: (counts[mark][0], is_csv and mark == ","))
    # A .csv of one column may hold texts of several words.
    is_even = len({len(line.split()) for line in lines}) == 1
    return " " if " " in lines[0].strip() and (is_even or not is_csv) else ","


def single_space(content: bytes) -> bytes:
    """Return text with one space between cells, and none at the ends of lines."""
    has_ends = content.startswith(b" ") or content.endswith(b" ")
    if not has_ends and not any(spaces in content for spaces in _UNEVEN):
        return content  # as most files are: looked for in a tenth of the time
    content = re.sub(rb"[ \t]{2,}|\t", b" ", content)
    return re.sub(rb"(?m)^ | (?=\r?$)", b"", content)


def _explain(file: TextFile, width: int, reason: str) -> DGBError:
    broken = _first_broken(file.content)
    if broken is not None:
        line = file.skipped + count_line_ends(file.content, broken) + 1
        return DGBError(f"{file.name}:{line}: not UTF-8 text; save the file as UTF-8")
    for line, cells in records(file):
        if len(cells) != width:
            return DGBError(
                f"{file.name}:{line}: {len(cells)} cells where the first row has {width}, separated"
                f" by {_NAMES[file.delimiter]}; fix the row, or put quotes around such a cell"
            )
    return DGBError(f"{file.name}: cannot be read as a table ({reason}); write it again")


def _first_broken(content: bytes) -> int | None:
    """Return about where bytes stop being UTF-8, None where they never do, some at a time."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content), BLOCK):
        piece, held = content[start : start + BLOCK], len(decoder.getstate()[0])
        try:
            decoder.decode(piece, final=start + BLOCK >= len(content))
        except UnicodeDecodeError as error:
            return start - held + error.start
    return None
