"""Tables of JSON lines and of Excel, which are read in Python and suit small files."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from dgb.errors import DGBError, refusing
from dgb.files.limits import check_members, read_whole, refuse_beyond_room, room

_UNFOLDED = 20  # bytes of objects that a byte of such a file becomes at the least
_CELL = 16  # bytes of a cell at the least


def read_json(path: Path) -> Any:
    """Read an Arrow table from an object a line, or from one list of objects."""
    # Not by pyarrow, which ends the process where brackets are nested deeply.
    with refusing(path, "not readable JSON", "write an object for each row, in a line of its own"):
        content = read_whole(path).removeprefix(b"\xef\xbb\xbf")
        refuse_beyond_room(f"{path} takes about", _UNFOLDED * len(content))
        is_list = content.lstrip().startswith(b"[")
        rows = json.loads(content) if is_list else list(_read_lines(content, path.name))
        if not rows or not all(isinstance(row, dict) for row in rows):
            raise ValueError('rows must be objects such as {"id": 1}')
        if len(rows) == 1 and "nodes" in rows[0] and rows[0].keys() & {"links", "edges"}:
            raise DGBError(
                f"{path}: one object with all nodes and edges; write its two lists to nodes.json "
                "and edges.json, or give DGB what networkx.node_link_graph makes of it"
            )
        names = dict.fromkeys(name for row in rows for name in row)
        refuse_beyond_room(f"{path} takes", _CELL * len(names) * len(rows))
        return pa.table({name: any_column([row.get(name) for row in rows]) for name in names})


def _read_lines(content: bytes, name: str) -> Iterator[Any]:
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DGBError(f"{name}:{number}: not JSON ({error}); fix the line") from None


def read_excel(path: Path) -> Any:
    """Read an Arrow table from the only sheet of a workbook; its first row names the columns."""
    import zipfile

    try:
        from openpyxl import load_workbook
    except ImportError:
        raise DGBError(
            f"{path}: .xlsx needs pip install 'deep-graph-bootstrapping[excel]'; or save it as CSV"
        ) from None
    with refusing(path, "not a readable workbook", "save it again, or save it as CSV"):
        with zipfile.ZipFile(path) as archive:
            check_members(path, archive.infolist())
        book = load_workbook(path, read_only=True, data_only=True)
        try:
            if len(book.worksheets) != 1:
                sheets = ", ".join(book.sheetnames)
                raise DGBError(f"{path}: holds the sheets {sheets}; leave one, or save each as CSV")
            return _sheet_table(path, _filled_rows(path, book.worksheets[0]))
        finally:
            book.close()


def _filled_rows(path: Path, sheet: Any) -> Iterator[tuple[Any, ...]]:
    sheet.reset_dimensions()  # which a file may state as it likes
    limit, size = room(), 0
    for row in sheet.iter_rows(values_only=True):
        size += _CELL * len(row)
        if size > limit:
            refuse_beyond_room(f"{path} takes more than", size)
        if any(cell is not None for cell in row):
            yield row


def _sheet_table(path: Path, rows: Iterable[tuple[Any, ...]]) -> Any:
    first, *rest = rows
    title = None
    if rest and _is_title(first, rest[0]):
        title, (first, *rest) = first[0], rest
    names = ["" if name is None else str(name).strip() for name in first]
    while names and not names[-1]:
        names.pop()
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DGBError(f"{path}: two columns are called {twice!r}; rename one")
    cells = ([row[i] if i < len(row) else None for row in rest] for i in range(len(names)))
    table = pa.table({n: any_column(column) for n, column in zip(names, cells, strict=True)})
    return table.replace_schema_metadata({"title": title}) if title else table


def _is_title(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    """Tell whether a row has its first cell filled alone, above a row of several names."""
    names = [cell for cell in second if cell is not None]
    is_alone = isinstance(first[0], str) and not any(cell is not None for cell in first[1:])
    return is_alone and len(names) > 1 and all(isinstance(name, str) for name in names)


def any_column(cells: list[Any]) -> Any:
    """Return cells as an Arrow array, as text where they are not all of one kind."""
    if not any(isinstance(cell, dict | list) for cell in cells) or all(map(_is_plain, cells)):
        try:
            return pa.array(cells)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            pass
    return pa.array([None if cell is None else _text(cell) for cell in cells], pa.large_string())


def _is_plain(cell: Any) -> bool:
    numbers = cell if isinstance(cell, list) else [cell]
    return all(number is None or isinstance(number, int | float) for number in numbers)


def _text(cell: Any) -> str:
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, dict | list) else str(cell)
