"""What a column of a table becomes in x: its kind, its scale, its levels."""

from dataclasses import replace

import numpy as np

from dgb.data.encoding import Column
from dgb.data.graph import Array
from dgb.data.tables.numbers import are_dates, read_numbers
from dgb.data.tables.table import Cells, Table
from dgb.data.tables.vectors import is_list, read_vectors

WORDS = 256  # columns that words are hashed to
_FEW, _MOST, _SHARE = 20, 200, 0.05  # levels of a category: always, at most, of the nodes

Values = Array | Cells  # numbers, one or a vector a row, or cells of text


def learn_column(table: Table, name: str, text: str) -> tuple[Column, Values]:
    """Return what a column becomes, with its values; `text` is the recipe's data.text."""
    cells = table.content.column(name)
    values = read_vectors(table, name) if is_list(cells) else read_numbers(table, name)
    if values is not None:
        return replace(_scaled(name, values), unit="days" if are_dates(cells) else ""), values
    if text == "category" or (text == "auto" and _has_few_values(cells)):
        return Column(name, "category", levels=_levels(cells)), cells
    return Column(name, "words", width=WORDS), cells


def _scaled(name: str, values: Array) -> Column:
    # A vector is scaled as a whole, so that its directions keep their meaning.
    width = values.shape[1] if values.ndim == 2 else 0
    largest = float(np.abs(values).max(initial=0))
    if largest <= 1:
        return Column(name, width=width)
    if 2 * np.count_nonzero(values) < values.size:
        return Column(name, scale=largest, width=width)  # zeros stay zeros: x can be sparse
    if values.min() == values.max():
        return Column(name, shift=float(values.min()), scale=largest, width=width)
    return Column(name, shift=float(values.mean()), scale=float(values.std()), width=width)


def _has_few_values(cells: Cells) -> bool:
    from pyarrow import compute

    limit = max(_FEW, min(_MOST, int(_SHARE * len(cells))))
    return len(compute.unique(cells.drop_null())) <= limit


def _levels(cells: Cells) -> tuple[str, ...]:
    from pyarrow import compute

    counts = compute.value_counts(cells.drop_null())
    by_count = sorted(
        zip(counts.field("counts").to_pylist(), counts.field("values").to_pylist(), strict=True),
        key=lambda pair: (-pair[0], pair[1]),
    )
    return tuple(sorted(level for _, level in by_count[:_MOST]))
