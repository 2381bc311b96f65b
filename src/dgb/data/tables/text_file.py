"""Delimited text files as bytes: comments skipped, and what separates cells and rows found."""

import codecs
import csv
import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dgb.errors import DGBError
from dgb.files.limits import read_whole, refuse_beyond_room

BLOCK = 1 << 23  # a row must fit into one, and threads share them
# Possessive, or each of a billion empty lines would be remembered as a place to come back to.
_COMMENTS = re.compile(
    rb"(?:\"?sep=[^\r\n]{1,2}(?:\r\n|\n|\r))?+(?:[ \t]*+(?:[#%][^\r\n]*+)?+(?:\r\n|\n|\r|\Z))*+"
)
_SAMPLE = 1 << 16
_LOOKED_AT = 20  # lines, to find the delimiter
_USUAL, _RARE = "\t,;", "|\x01~^"  # marks between cells; the others only where none of these is
_UNEVEN = (b"  ", b"\t", b" \n", b"\n ", b" \r", b"\r ")


@dataclass(frozen=True)
class TextFile:
    """The rows of a file as bytes, after so many skipped lines."""

    name: str
    content: bytes
    delimiter: str
    skipped: int

    def line(self, place: int) -> int:
        """Return the line, counted from 1, that a byte of the content is in."""
        return self.skipped + _count_line_ends(self.content, place) + 1


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
    delimiter = _find_delimiter(content, path)
    content = single_space(content) if delimiter == " " else content
    return TextFile(path.name, content, delimiter, skipped)


def as_utf8(content: bytes, name: str, charset: str) -> bytes:
    """Return text of a charset, UTF-8 by default and UTF-16 by its mark, as UTF-8 without mark."""
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    charset = charset or ("utf-16" if is_utf16 else "")
    sample = content[:_SAMPLE]
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


def find_broken(content: bytes) -> int | None:
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
    return not content.isascii() and 0 not in content and find_broken(content) is None


def _count_line_ends(content: bytes, end: int) -> int:
    counted = (content.count(mark, 0, end) for mark in (b"\n", b"\r"))
    return sum(counted) - content.count(b"\r\n", 0, end)


def _find_delimiter(content: bytes, path: Path) -> str:
    """Return the mark between cells, a space for any white space."""
    lines = _first_lines(content)
    is_csv = ".csv" in path.suffixes
    for marks in (_USUAL, _RARE):
        counts = {mark: [line.count(mark) for line in lines] for mark in marks}
        present = [mark for mark in marks if counts[mark][0]]
        even = [mark for mark in present if len(set(counts[mark])) == 1]
        if even or (present and marks == _USUAL):
            found = max(even or present, key=lambda m: (counts[m][0], is_csv and m == ","))
            return " " if found == "\t" and _is_spaced(lines) else found
    # A .csv of one column may hold texts of several words.
    is_even = len({len(line.split()) for line in lines}) == 1
    return " " if " " in lines[0].strip() and (is_even or not is_csv) else ","


def _first_lines(content: bytes) -> list[str]:
    sample = re.sub(r'"(?:[^"]|"")*"', '""', content[:_SAMPLE].decode("utf-8", "replace"))
    lines = re.split(r"\r\n|\n|\r", sample)
    lines = lines[:-1] if len(content) > _SAMPLE and len(lines) > 1 else lines  # the last is cut
    return [line for line in lines if line.strip()][:_LOOKED_AT] or [""]


def _is_spaced(lines: list[str]) -> bool:
    """Tell whether tabs and spaces separate alike: as many cells in each line, and no names."""
    cells = [line.split() for line in lines]
    if len(set(map(len, cells))) > 1:
        return False
    spaced = [cell for line in lines for cell in line.split("\t") if " " in cell.strip()]
    # A cell of several words stays one, for names may all have two: but not with two spaces.
    are_numbers = all(re.fullmatch(r"[+-]?[\d.]+", cell) for line in cells for cell in line)
    return bool(spaced) and (are_numbers or all("  " in cell.strip() for cell in spaced))
