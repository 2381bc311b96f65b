"""What a graph says of nodes: why two are alike, what sets a cluster apart, columns to color by."""

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from dgb.arrays import Array, column_spread, to_dense
from dgb.data.encoding import Column
from dgb.data.graph import Graph, are_numbers
from dgb.data.names import Naming, features_of
from dgb.evaluate.scores import class_names

COLUMNS = 3  # named for a pair, or for a cluster
LEAST = 1.0  # product of two standard scores: both nodes are unusual, and in the same way
CLEAR = 3.0  # standard errors that the mean of a cluster differs by
COLUMN = "column: "  # before the name of a user's column, which may be "label" as well
MOST_SHOWN = 16  # columns to color by: each adds 50 kB to the page of 20,000 nodes


@dataclass(frozen=True, eq=False)
class Columns:
    """Features with the mean and the standard deviation of every column."""

    x: Any
    mean: Array
    deviation: Array

    def rows(self, nodes: Any) -> Array:
        """Return the features of some nodes, dense."""
        return to_dense(self.x[nodes])

    def scores(self, values: Array) -> Array:
        """Return how many standard deviations values are above the mean, 0 in constant columns."""
        is_constant = self.deviation == 0
        scaled = (values - self.mean) / np.where(is_constant, 1, self.deviation)
        return np.where(is_constant, 0, scaled)


def measure_columns(x: Any) -> Columns:
    """Return features with what is usual in them."""
    mean, deviation = column_spread(x)
    return Columns(x, mean, np.where(deviation**2 > 1e-9, deviation, 0))


def common_neighbors(adjacency: Any, one: int, other: int) -> Array:
    """Return the nodes that both are joined to, those with the fewest edges first."""
    ends = [adjacency.indices[adjacency.indptr[n] : adjacency.indptr[n + 1]] for n in (one, other)]
    shared = np.intersect1d(*ends)
    return np.asarray(shared[np.argsort(np.diff(adjacency.indptr)[shared], kind="stable")])


def shared_columns(columns: Columns, one: int, other: int) -> Array:
    """Return the columns in which two nodes are unusual in the same way, the most so first."""
    first, second = columns.scores(columns.rows([one, other]))
    product = first * second
    order = np.argsort(-product, kind="stable")[:COLUMNS]
    return np.asarray(order[product[order] >= LEAST])


def unusual_columns(columns: Columns, nodes: Array) -> tuple[Array, Array]:
    """Return the columns in which some nodes differ most from all, and their means there."""
    here = np.asarray(columns.x[nodes].mean(axis=0, dtype=np.float64)).ravel()
    scores = np.abs(columns.scores(here))
    order = np.argsort(-scores, kind="stable")[:COLUMNS]
    order = order[scores[order] * np.sqrt(len(nodes)) >= CLEAR]
    return order, here[order]


def describe_columns(columns: Columns, naming: Naming, nodes: Array, everyone: Array) -> list[str]:
    """Return the columns in which nodes differ most from all, the most so first."""
    places, means = unusual_columns(columns, nodes)
    usual = columns.mean[places]
    found = zip(places.tolist(), means.tolist(), usual.tolist(), strict=True)
    sets = (nodes, everyone)
    said = (naming.describe(place, (mean, most), sets, "all") for place, mean, most in found)
    return list(dict.fromkeys(said))


def describe_label(graph: Graph, nodes: Array) -> list[str]:
    """Return the most frequent label of nodes, nothing where they have none, or numbers."""
    if graph.labels is None or are_numbers(graph):
        return []
    labels = graph.labels[nodes]
    classes, counts = np.unique(labels[labels >= 0], return_counts=True)
    if not len(classes):
        return []
    best = counts.argmax()
    name = class_names(graph, classes[best : best + 1])[0]
    return [f"label {name} {counts[best] / counts.sum():.0%}"]


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
    if len(places) <= MOST_SHOWN:
        return list(places)
    means = [np.asarray(columns.x[g].mean(axis=0, dtype=np.float64)).ravel() for g in groups]
    strength = np.abs(columns.scores(np.stack(means))).max(axis=0)
    order = sorted(places, key=lambda column: -float(strength[places[column]].max(initial=0)))
    kept = set(order[:MOST_SHOWN])
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
