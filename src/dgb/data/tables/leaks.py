"""Columns among the features that tell the label: made of it, as likely as not."""

from collections.abc import Iterator, Sequence

import numpy as np
from pyarrow import compute

from dgb.arrays import Array
from dgb.data.ids import find_positions
from dgb.data.tables.table import Table
from dgb.terminal import some

_LEAST = 20  # labelled nodes, fewer of which may agree by chance
_MOST = 20  # values of a column, more of which single nodes out
_SURE = 0.99  # share of the labels that a column tells, from which on it is told
_LARGEST = 0.9  # share of the largest class, from which on anything tells the label


def tell_leaks(table: Table, names: Sequence[str], labels: Array | None) -> list[str]:
    """Return a note where columns tell nearly all labels; `labels` are of the rows, -1 unknown."""
    known = np.flatnonzero(labels >= 0) if labels is not None else np.array([], int)
    if labels is None or len(known) < _LEAST:
        return []
    y = np.unique(labels[known], return_inverse=True)[1]
    if np.bincount(y).max() > _LARGEST * len(y):
        return []
    found = list(_find_leaks(table, names, known, y))
    if not found:
        return []
    return [
        f"{table.source}: columns that are features tell the label of nearly every node: "
        f"{some(found)}; if they were made of it, leave them out with data.drop={','.join(found)}"
    ]


def _find_leaks(table: Table, names: Sequence[str], known: Array, y: Array) -> Iterator[str]:
    for name in names:
        cells = table.content.column(name).take(known)
        try:
            values = compute.unique(cells)
            places = find_positions(cells, values)
        except NotImplementedError:  # of lists
            continue
        if not 2 <= len(values) <= max(_MOST, 2 * (int(y.max()) + 1)):
            continue
        counts = np.zeros((len(values) + 1, int(y.max()) + 1), np.int64)
        np.add.at(counts, (places, y), 1)
        if counts.max(axis=1).sum() >= _SURE * len(y):
            yield name
