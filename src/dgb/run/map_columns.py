"""What the user's table says of the nodes on a map: columns to colour by, and names of clusters."""

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from dgb.arrays import Array, to_dense
from dgb.data.encoding import Column
from dgb.data.graph import Graph
from dgb.data.names import Naming, features_of
from dgb.evaluate.why import Columns, describe_columns, describe_label, measure_columns

COLUMN = "column: "  # before the name of a user's column, which may be "label" as well
MOST = 16  # columns at most: each adds 50 kB to the page of 20,000 nodes


@dataclass(frozen=True, eq=False)
class Shown:
    """Columns of the table as Arrow arrays, of how many, and what sets each cluster apart."""

    columns: dict[str, Any]
    count: int
    clusters: list[str]


def look_at_columns(graph: Graph, x: Any, nodes: Array, clusters: Array) -> Shown:
    """Return what is shown of the drawn nodes; `x` is None where they have no columns."""
    groups = [np.flatnonzero(clusters == name) for name in range(int(clusters.max()) + 1)]
    said = [describe_label(graph, nodes[group]) for group in groups]
    if x is None:
        return Shown({}, 0, ["; ".join(one) for one in said])
    columns = measure_columns(x if len(nodes) == x.shape[0] else x[nodes])
    naming, everyone = Naming(features_of(graph.encoding, x.shape[1])), np.arange(len(nodes))
    for one, group in zip(said, groups, strict=True):
        one += describe_columns(columns, naming, group, everyone) if len(group) else []
    places = _places(graph, x.shape[1])
    kept = _most_different(places, columns, [group for group in groups if len(group)])
    cells = {column.name: _cells(columns.x, column, places[column]) for column in kept}
    return Shown(cells, len(places), ["; ".join(one) for one in said])


def _places(graph: Graph, width: int) -> dict[Column, slice]:
    """Return where in x the columns lie that have one value a node: no words, no vectors."""
    columns = graph.encoding.columns if graph.encoding is not None else ()
    ends = list(accumulate(len(column.names()) for column in columns))
    if not ends or ends[-1] != width:
        return {}
    starts = [0, *ends[:-1]]
    return {
        column: slice(start, end)
        for column, start, end in zip(columns, starts, ends, strict=True)
        if column.kind == "category" or (column.kind == "number" and not column.width)
    }


def _most_different(
    places: dict[Column, slice], columns: Columns, groups: list[Array]
) -> list[Column]:
    """Return columns in the order of the table; of many, those in which clusters differ most."""
    if len(places) <= MOST:
        return list(places)
    means = [np.asarray(columns.x[g].mean(axis=0, dtype=np.float64)).ravel() for g in groups]
    strength = np.abs(columns.scores(np.stack(means))).max(axis=0)
    order = sorted(places, key=lambda column: -float(strength[places[column]].max(initial=0)))
    kept = set(order[:MOST])
    return [column for column in places if column in kept]


def _cells(x: Any, column: Column, place: slice) -> Any:
    """Return the values that a column had in the table, null where there was none."""
    import pyarrow as pa

    part = to_dense(x[:, place])
    if column.kind == "category":
        levels = np.array([*column.levels, None], dtype=object)
        level = np.where(part.any(axis=1), part.argmax(axis=1), -1) if part.size else [-1] * len(x)
        return pa.array(levels[level], pa.string())
    values = part[:, 0] * column.scale + column.shift
    whole = np.rint(values)  # which x has as float32
    values = whole if np.allclose(values, whole, rtol=1e-6, atol=1e-6 * column.scale) else values
    is_missing = part[:, 1] > 0 if column.flag else np.zeros(len(values), bool)
    if column.unit == "days":
        days = np.where(is_missing, 0, whole).clip(-(2**31), 2**31 - 1).astype(np.int32)
        return pa.array(days, pa.date32(), mask=is_missing)
    return pa.array(values, pa.float64(), mask=is_missing)
