"""Why nodes are alike: neighbors and columns that two share, and what is unusual in a cluster."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array, to_dense
from dgb.data.graph import Graph, are_numbers
from dgb.data.names import Naming
from dgb.evaluate.scores import class_names

COLUMNS = 3  # named for a pair, or for a cluster
LEAST = 1.0  # product of two standard scores: both nodes are unusual, and in the same way
CLEAR = 3.0  # standard errors that the mean of a cluster differs by


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
    """Return features with what is usual in them; sparse ones are not filled."""
    mean = np.asarray(x.mean(axis=0, dtype=np.float64)).ravel()
    if sparse.issparse(x):  # in double precision: squares of large single ones are infinite
        squares = np.asarray(x.astype(np.float64).power(2).sum(axis=0)).ravel()
    else:
        squares = np.einsum("ij,ij->j", x, x, dtype=np.float64)
    variance = squares / max(x.shape[0], 1) - mean**2
    return Columns(x, mean, np.sqrt(np.where(variance > 1e-9, variance, 0)))


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
