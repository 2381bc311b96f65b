"""Pairs of nodes, and ways to tell how likely a pair is an edge."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.errors import DGBError


@dataclass(frozen=True, eq=False)
class Pairs:
    """As many edges as pairs that are none, each [m, 2] of node positions, the smaller first."""

    edges: Array
    others: Array

    def truth(self) -> Array:
        """Return 1 for every edge, then 0 for every other pair."""
        return np.repeat([1, 0], [len(self.edges), len(self.others)])

    def both(self) -> Array:
        """Return the edges, then the other pairs."""
        return np.concatenate([self.edges, self.others])


def edge_pairs(adjacency: Any) -> tuple[Array, Array]:
    """Return every undirected edge once [num_edges, 2], and its weight."""
    upper = sparse.coo_array(sparse.triu(adjacency, 1, format="csr"))
    return np.stack(upper.coords, axis=1).astype(np.int64), upper.data


def cross_pairs(matrix: Any) -> tuple[Array, Array]:
    """Return every edge between two types [num_edges, 2], row before column, and its weight."""
    edges = sparse.coo_array(matrix)
    return np.stack(edges.coords, axis=1).astype(np.int64), edges.data


def sample_non_edges(
    matrix: Any, count: int, generator: np.random.Generator, *, is_within: bool = True
) -> Array:
    """Draw `count` different pairs [count, 2] of two nodes without an edge, all equally likely.

    The pairs, within a type those of i < j, are numbered row by row. A number drawn among those
    that are no edge is moved past the edges before it, which finds its pair without listing or
    trying any other.
    """
    rows, columns = matrix.shape
    first = np.arange(rows, dtype=np.int64)
    # Where a row begins among the numbers, and which column it begins with.
    starts = first * columns - (first * (first + 1) // 2 if is_within else 0)
    begin = first + 1 if is_within else 0 * first
    edges, _ = edge_pairs(matrix) if is_within else cross_pairs(matrix)
    taken = np.sort(starts[edges[:, 0]] + edges[:, 1] - begin[edges[:, 0]])
    free = (rows * (rows - 1) // 2 if is_within else rows * columns) - len(taken)
    if count > free:
        raise DGBError(
            f"link prediction needs {count:,} pairs of nodes that are no edges, but the graph has "
            f"{free:,}; it is too dense for such a test"
        )
    drawn = generator.choice(free, count, replace=False)
    number = drawn + np.searchsorted(taken - np.arange(len(taken)), drawn, side="right")
    last = rows - 1 if is_within else rows  # a row without pairs begins with the end
    row = np.searchsorted(starts[:last], number, side="right") - 1
    return np.stack([row, number - starts[row] + begin[row]], axis=1)


Scorer = Callable[[Array], Array]  # pairs [m, 2] to scores [m]
WEIGHT_DECAYS = (1e-2, 1e-3, 1e-4, 1e-5)
BLOCK = 2**24  # numbers held at once


def embedding_scorers(z: Any, train: Pairs) -> dict[str, Scorer]:
    """Return cosine, dot product, and logistic regressions on products of two rows."""
    from sklearn.preprocessing import normalize

    unit = normalize(z)
    fitted = {f"logistic {wd:g}": _logistic(unit, train, wd) for wd in WEIGHT_DECAYS}
    return {"cosine": _dot(unit), "dot": _dot(z)} | fitted


def edge_scorers(adjacency: Any) -> dict[str, Scorer]:
    """Return Adamic and Adar's count of common neighbours, and the product of the degrees."""
    degree = np.diff(adjacency.indptr)
    rarity = 1 / np.log(np.maximum(degree, 2))  # a common neighbour has at least two edges
    ones = adjacency.astype(np.float64)
    ones.data[:] = 1  # an edge is an edge, whatever its weight
    weighted = sparse.csr_array(ones * rarity[None])

    def adamic_adar(pairs: Array) -> Array:
        weight = degree[pairs].sum(axis=1)
        parts = [
            np.asarray(ones[p[:, 0]].multiply(weighted[p[:, 1]]).sum(axis=1)).reshape(-1)
            for p in _blocks(pairs, int(weight.max(initial=1)))
        ]
        return np.concatenate(parts)

    def degree_product(pairs: Array) -> Array:
        return np.asarray(degree[pairs].astype(np.float64).prod(axis=1))

    return {"common neighbours": adamic_adar, "degree product": degree_product}


def _dot(z: Any) -> Scorer:
    def score(pairs: Array) -> Array:
        parts = [_products(z, p).sum(axis=1) for p in _blocks(pairs, z.shape[1])]
        return np.concatenate([np.asarray(part).reshape(-1) for part in parts])

    return score


def _logistic(unit: Any, train: Pairs, weight_decay: float) -> Scorer:
    """Fit on pairs of the training graph; as in the probe, weight decay is per row."""
    from sklearn.linear_model import LogisticRegression

    rows = _products(unit, train.both())
    size = np.sqrt(rows.multiply(rows).sum() if sparse.issparse(rows) else np.sum(rows**2))
    scale = max(float(size) / np.sqrt(rows.shape[0]), 1e-12)
    model = LogisticRegression(C=1 / (weight_decay * rows.shape[0]), max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit cut at 300 steps is still a candidate
        model.fit(rows / scale, train.truth())

    def score(pairs: Array) -> Array:
        parts = _blocks(pairs, unit.shape[1])
        return np.concatenate([model.decision_function(_products(unit, p) / scale) for p in parts])

    return score


def _products(z: Any, pairs: Array) -> Any:
    left, right = z[pairs[:, 0]], z[pairs[:, 1]]
    return sparse.csr_array(left.multiply(right)) if sparse.issparse(z) else left * right


def _blocks(pairs: Array, width: int) -> Iterator[Array]:
    size = max(BLOCK // width, 1)
    return (pairs[start : start + size] for start in range(0, len(pairs), size))
