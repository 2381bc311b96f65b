"""Feature columns in the user's own words: their names, and what a number in them stands for."""

from collections.abc import Sequence

from dgb.arrays import Array
from dgb.data.encoding import Column, Encoding
from dgb.terminal import readable

ColumnOf = tuple[Column, int]  # of the table, and which of the columns of x that it became


def columns_of(encoding: Encoding | None, width: int) -> list[ColumnOf]:
    """Return for every column of x the column of the table that it was made of."""
    columns = encoding.columns if encoding is not None else ()
    found = [(column, place) for column in columns for place in range(len(column.names()))]
    return found if len(found) == width else [(Column(f"column {i + 1}"), 0) for i in range(width)]


def describe_values(
    columns: Sequence[ColumnOf], places: Array, own: Array, usual: Array
) -> list[str]:
    """Return what a node has in some columns, and what its neighbors have on the mean."""
    cells = zip(places.tolist(), own.tolist(), usual.tolist(), strict=True)
    return [_describe(columns[place], one, mean) for place, one, mean in cells]


def _describe(source: ColumnOf, own: float, usual: float) -> str:
    column, place = source
    if column.kind == "category":
        name = f"{column.name}={column.levels[place]}"
        return f"{name} (of neighbors {usual:.0%})" if own else f"not {name} ({usual:.0%} are)"
    if column.kind == "words":
        return f"words of {column.name}"
    values = [value * column.scale + column.shift for value in (own, usual)]
    name = column.names()[place]
    return f"{name} {readable(values[0])} (neighbors {readable(values[1])})"
