"""Ways to tell how likely a pair of nodes is an edge: from rows of an embedding, or from edges."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.graph import Array
from dgb.evaluate.pairs import Pairs

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
