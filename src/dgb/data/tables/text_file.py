"""Delimited text files: comments skipped, the delimiter found, and the line of every row known."""

import codecs
import csv
import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from dgb.data.tables.delimiter import NAMES, SAMPLE, find_delimiter
from dgb.errors import DGBError
from dgb.files.limits import read_whole, refuse_beyond_room
from dgb.terminal import byte_bar

BLOCK = 1 << 23  # a row must fit into one, and threads share them
_MOST_COLUMNS = 100_000
# Possessive, or each of a billion empty lines would be remembered as a place to come back to.
_COMMENTS = re.compile(
    rb"(?:\"?sep=[^\r\n]{1,2}(?:\r\n|\n|\r))?+(?:[ \t]*+(?:[#%][^\r\n]*+)?+(?:\r\n|\n|\r|\Z))*+"
)
_UNEVEN = (b"  ", b"\t", b" \n", b"\n ", b" \r", b"\r ")


@dataclass(frozen=True)
class TextFile:
    """The rows of a file as bytes, after so many skipped lines."""

    name: str
    content: bytes
    delimiter: str
    skipped: int


def read_text(path: Path, charset: str = "") -> Any:
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


def open_text(path: Path, charset: str = "") -> TextFile:
    """Open a delimited file, packed or not, and find its first row and its delimiter."""
    try:
        content = as_utf8(read_whole(path), path.name, charset)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DGBError(f"{path}: cannot be read ({reason}); get or write it again") from None
    comments = _COMMENTS.match(content)
    start = comments.end() if comments else 0
    skipped = _count_line_ends(content, start)
    content = content[start:]
    if not content or content.isspace():
        raise DGBError(f"{path.name} is empty; give a file with a row for each edge or node")
    _refuse_long_line(path.name, content, skipped)
    delimiter = find_delimiter(content, path)
    content = single_space(content) if delimiter == " " else content
    return TextFile(path.name, content, delimiter, skipped)


def as_utf8(content: bytes, name: str, charset: str) -> bytes:
    """Return text of a charset, UTF-8 by default and UTF-16 by its mark, as UTF-8 without mark."""
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    charset = charset or ("utf-16" if is_utf16 else "")
    sample = content[:SAMPLE]
    if not charset and len(sample) < 4 * sample.count(0) < 3 * len(sample):  # every other byte
        advice = "name its encoding, such as data.charset=utf-16-le or utf-16-be"
        raise DGBError(f"{name}: not UTF-8 but half of it zeros; {advice}")
    if not charset or _is_utf8(content):  # of two files, one may be saved as UTF-8 already
        return content.removeprefix(codecs.BOM_UTF8)
    refuse_beyond_room(f"{name} takes", 5 * len(content))
    try:
        return content.decode(charset).removeprefix("\ufeff").encode()
    except LookupError:
        advice = "name one that Python knows, such as cp1252, latin-1 or utf-16"
        raise DGBError(f"data.charset: there is no encoding {charset!r}; {advice}") from None
    except UnicodeError as error:
        raise DGBError(f"{name}: not {charset} text ({error}); name another encoding") from None


def records(file: TextFile) -> Iterator[tuple[int, list[str]]]:
    """Yield line and cells of every row that is not blank: slow, for the first row and faults."""
    first, size = file.skipped + 1, 0

    def read_lines() -> Iterator[str]:
        nonlocal size
        for line in io.TextIOWrapper(io.BytesIO(file.content), "utf-8", "replace", newline=""):
            size += len(line)
            if size > BLOCK:
                raise _too_long(file.name, first, " (is a quote never closed?)")
            yield line

    usual = csv.field_size_limit(2 * BLOCK)
    try:
        reader = csv.reader(read_lines(), delimiter=file.delimiter)
        for cells in reader:
            if cells:
                yield first, cells
            first, size = file.skipped + reader.line_num + 1, 0
    finally:
        csv.field_size_limit(usual)


def single_space(content: bytes) -> bytes:
    """Return text with one space between cells, and none at the ends of lines."""
    has_ends = content.startswith(b" ") or content.endswith(b" ")
    if not has_ends and not any(spaces in content for spaces in _UNEVEN):
        return content  # as most files are: looked for in a tenth of the time
    content = re.sub(rb"[ \t]{2,}|\t", b" ", content)
    return re.sub(rb"(?m)^ | (?=\r?$)", b"", content)


def _refuse_long_line(name: str, content: bytes, skipped: int) -> None:
    """Refuse a line that no block holds; looks at few bytes of every block."""
    start = 0
    while len(content) - start > BLOCK:
        end = max(content.rfind(mark, start, start + BLOCK) for mark in (b"\n", b"\r"))
        if end < 0:
            raise _too_long(name, skipped + _count_line_ends(content, start) + 1, "")
        start = end + 1


def _too_long(name: str, line: int, question: str) -> DGBError:
    return DGBError(
        f"{name}:{line}: a row of more than {BLOCK // 2**20} MB{question}; a row is one node or "
        "edge: check the line ends, or give such features as .npy or .npz"
    )


def _explain(file: TextFile, width: int, reason: str) -> DGBError:
    broken = _find_broken(file.content)
    if broken is not None:
        line = file.skipped + _count_line_ends(file.content, broken) + 1
        return DGBError(
            f"{file.name}:{line}: not UTF-8 text; name its encoding, such as "
            "data.charset=cp1252 or utf-16, or save the file as UTF-8"
        )
    for number, (line, cells) in enumerate(records(file)):
        if number == 1 and width == 1 < len(cells):
            return DGBError(
                f"{file.name}:{line}: {len(cells)} cells, and one in the row above; if that is a "
                "title, remove it or put # before it"
            )
        if len(cells) != width:
            mark = NAMES.get(file.delimiter, repr(file.delimiter))
            return DGBError(
                f"{file.name}:{line}: {len(cells)} cells where the first row has {width}, separated"
                f" by {mark}; fix the row, or put quotes around such a cell"
            )
    return DGBError(f"{file.name}: cannot be read as a table ({reason}); write it again")


def _find_broken(content: bytes) -> int | None:
    """Return about where bytes stop being UTF-8, None where they never do, some at a time."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content), BLOCK):
        piece, held = content[start : start + BLOCK], len(decoder.getstate()[0])
        try:
            decoder.decode(piece, final=start + BLOCK >= len(content))
        except UnicodeDecodeError as error:
            return start - held + error.start
    return None


def _is_utf8(content: bytes) -> bool:
    """Tell whether bytes that are not all ASCII are UTF-8: those of other encodings never are."""
    return not content.isascii() and 0 not in content and _find_broken(content) is None


def _count_line_ends(content: bytes, end: int) -> int:
    counted = (content.count(mark, 0, end) for mark in (b"\n", b"\r"))
    return sum(counted) - content.count(b"\r\n", 0, end)
