"""What separates the cells of a text file."""

import re
from pathlib import Path

_LOOKED_AT = 20  # lines, to find the delimiter
SAMPLE = 1 << 16
_USUAL, _RARE = "\t,;", "|\x01~^"  # marks between cells; the others only where none of these is
NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", " ": "spaces", "|": "bars"}


def find_delimiter(content: bytes, path: Path) -> str:
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
    sample = re.sub(r'"(?:[^"]|"")*"', '""', content[:SAMPLE].decode("utf-8", "replace"))
    lines = re.split(r"\r\n|\n|\r", sample)
    lines = lines[:-1] if len(content) > SAMPLE and len(lines) > 1 else lines  # the last is cut
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
