"""Columns found by their names, and wrong cells described by their lines."""

import difflib
from collections.abc import Sequence

from dgb.arrays import Array
from dgb.data.tables.table import Cells, Table
from dgb.errors import DGBError

_NAMED = 5


def find_column(table: Table, asked: str, usual: Sequence[str], key: str) -> str | None:
    """Find the column asked for by the setting `key`, else the first of the usual names."""
    lowered = {name.lower(): name for name in reversed(table.names)}
    if not asked:
        return next((lowered[name] for name in usual if name in lowered), None)
    if asked in table.names:
        return asked
    if asked.lower() not in lowered:
        raise _no_column(table, asked, key)
    return lowered[asked.lower()]


def find_columns(table: Table, asked: str, key: str) -> list[str]:
    """Find the columns of a list such as name,year."""
    names = [name.strip() for name in asked.split(",") if name.strip()]
    return [found for name in names if (found := find_column(table, name, (), key))]


def describe_rows(table: Table, rows: Array, words: Sequence[str]) -> str:
    """Name the first five of the wrong rows, with a word on each, and count the others."""
    places = table.places([int(row) for row in rows[:_NAMED]])
    named = "; ".join(f"{place}: {word}" for place, word in zip(places, words, strict=False))
    more = len(rows) - _NAMED
    return f"{named}; and {more:,} more" if more > 0 else named


def describe_cells(table: Table, rows: Array, name: str) -> str:
    """Name the first five wrong cells of a column, with what they hold."""
    cells = table.content.column(name)
    held = [cells[int(row)].as_py() for row in rows[:_NAMED]]
    words = [f"{name} is {'empty' if cell is None else repr(cell)}" for cell in held]
    return describe_rows(table, rows, words)


def text_cells(table: Table, name: str, advice: str) -> Cells:
    """Return a column as text, refusing lists and the like with an advice."""
    import pyarrow as pa

    cells = table.content.column(name)
    try:
        return cells.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DGBError(
            f"{table.source}: column {name!r} holds {cells.type}, which cannot be used; {advice}"
        ) from None


def _no_column(table: Table, asked: str, key: str) -> DGBError:
    if not table.has_names:
        return DGBError(
            f"{table.source} has no row of column names, so there is no column {asked!r} "
            f"({key}); add such a row"
        )
    near = difflib.get_close_matches(asked, table.names, n=1)
    hint = f"did you mean {near[0]!r}? Its" if near else "its"
    return DGBError(
        f"{table.source} has no column {asked!r} ({key}); {hint} columns: "
        f"{', '.join(table.names[:50])}"
    )
