"""Pairs of nodes, and ways to tell how likely a pair is an edge."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.errors import DGBError
from dgb.evaluate.probe import fit_logistic


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

    def sample(self, most: int) -> "Pairs":
        """Return at most so many of the edges and of the other pairs, always the same."""
        rng = np.random.default_rng(0)
        parts = (self.edges, self.others)
        return Pairs(*(p if len(p) <= most else rng.permutation(p)[:most] for p in parts))


def edge_pairs(matrix: Any, *, is_within: bool = True) -> tuple[Array, Array]:
    """Return every edge once [num_edges, 2], and its weight.

    Within a type edges are undirected, the smaller end first; between two, row before column.
    """
    edges = sparse.coo_array(sparse.triu(matrix, 1, format="csr") if is_within else matrix)
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
    edges, _ = edge_pairs(matrix, is_within=is_within)
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
    by_unit = _by_products(unit, lambda rows: rows.sum(axis=1))
    scorers = {"cosine": by_unit, "dot": _by_products(z, lambda r: r.sum(axis=1))}
    rows = _products(unit, train.both())
    size = np.sqrt(rows.multiply(rows).sum() if sparse.issparse(rows) else np.sum(rows**2))
    scale = max(float(size) / np.sqrt(rows.shape[0]), 1e-12)

    def score_by(model: Any) -> Scorer:
        return _by_products(unit, lambda rows: model.decision_function(rows / scale))

    for weight_decay in WEIGHT_DECAYS:
        model = fit_logistic(rows / scale, train.truth(), weight_decay, steps=300)
        scorers[f"logistic {weight_decay:g}"] = score_by(model)
    return scorers


def cosine_scorer(z: Array) -> Scorer:
    """Return the cosine of the two rows of a pair; without a copy of the rows."""
    length = np.sqrt(np.einsum("ij,ij->i", z, z))
    length[length == 0] = 1

    def score(pairs: Array) -> Array:
        one, other = pairs.T
        return np.asarray(np.einsum("ij,ij->i", z[one], z[other]) / (length[one] * length[other]))

    return lambda pairs: _in_blocks(score, pairs, z.shape[1])


def count_common_neighbors(adjacency: Any, pairs: Array) -> Array:
    """Return how many neighbors both nodes of each pair have."""
    ones = _ones(adjacency)
    most = int(np.diff(adjacency.indptr)[pairs].sum(axis=1).max(initial=1))
    return _in_blocks(lambda p: ones[p[:, 0]].multiply(ones[p[:, 1]]).sum(axis=1), pairs, most)


def _ones(adjacency: Any) -> Any:
    ones = adjacency.astype(np.float64)
    ones.data[:] = 1  # an edge is an edge, whatever its weight
    return ones


def edge_scorers(adjacency: Any) -> dict[str, Scorer]:
    """Return Adamic and Adar's count of common neighbors, and the product of the degrees."""
    degree = np.diff(adjacency.indptr)
    rarity = 1 / np.log(np.maximum(degree, 2))  # a common neighbor has at least two edges
    ones = _ones(adjacency)
    weighted = sparse.csr_array(ones * rarity[None])

    def count_common(pairs: Array) -> Any:
        return ones[pairs[:, 0]].multiply(weighted[pairs[:, 1]]).sum(axis=1)

    def adamic_adar(pairs: Array) -> Array:
        return _in_blocks(count_common, pairs, int(degree[pairs].sum(axis=1).max(initial=1)))

    def degree_product(pairs: Array) -> Array:
        return np.asarray(degree[pairs].astype(np.float64).prod(axis=1))

    return {"common neighbors": adamic_adar, "degree product": degree_product}


def _by_products(z: Any, score: Callable[[Any], Any]) -> Scorer:
    return lambda pairs: _in_blocks(lambda p: score(_products(z, p)), pairs, z.shape[1])


def _products(z: Any, pairs: Array) -> Any:
    left, right = z[pairs[:, 0]], z[pairs[:, 1]]
    return sparse.csr_array(left.multiply(right)) if sparse.issparse(z) else left * right


def _in_blocks(score: Callable[[Array], Any], pairs: Array, width: int) -> Array:
    """Return the scores of pairs, as many at a time as hold BLOCK numbers of so many each."""
    size = max(BLOCK // width, 1)
    parts = [score(pairs[start : start + size]) for start in range(0, max(len(pairs), 1), size)]
    return np.concatenate([np.asarray(part).reshape(-1) for part in parts])
