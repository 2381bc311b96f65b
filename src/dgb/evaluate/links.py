"""Pairs of nodes: how well rows, or the edges left, tell edges that were taken out of a graph."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph
from dgb.evaluate.probe import fit_logistic

ASKED_PAIRS = 100_000  # edges of a part, where its AUC need not be exact to more than 0.001
WEIGHT_DECAYS = (1e-2, 1e-3, 1e-4, 1e-5)
BLOCK = 2**24  # numbers held at once
Scorer = Callable[[Array], Array]  # pairs [m, 2] to scores [m]


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


@dataclass(frozen=True, eq=False)
class LinkSplit:
    """A graph without the edges that are asked for, and the pairs of each part.

    Pairs are of rows that are embedded: all nodes, or those of the target type.
    """

    train_graph: Any  # Graph or HeteroGraph
    adjacency: Any  # of the rows, by the edges of train_graph
    train: Pairs  # edges of train_graph
    validation: Pairs
    test: Pairs

    def sample(self) -> "LinkSplit":
        """Return the split with at most 100,000 edges in validation and in test."""
        validation, test = (part.sample(ASKED_PAIRS) for part in (self.validation, self.test))
        return replace(self, validation=validation, test=test)


def links_of(graph: AnyGraph) -> Any:
    """Return the adjacency of a graph; of several node types, that of the target nodes."""
    if isinstance(graph, Graph):
        return graph.adjacency
    total = graph.target_graph().adjacency
    for relation in graph.relations:
        if relation.source == relation.target == graph.target:
            total = total.maximum(relation.matrix)
    return total


def edge_pairs(matrix: Any, *, is_within: bool = True) -> tuple[Array, Array]:
    """Return every edge once [num_edges, 2], and its weight.

    Within a type edges are undirected, the smaller end first; between two, row before column.
    """
    edges = sparse.coo_array(sparse.triu(matrix, 1, format="csr") if is_within else matrix)
    return np.stack(edges.coords, axis=1).astype(np.int64), edges.data


def embedding_scorers(z: Any, train: Pairs) -> dict[str, Scorer]:
    """Return cosine, dot product, and logistic regressions on products of two rows."""
    from sklearn.preprocessing import normalize

    unit = normalize(z)
    forms = {"cosine": unit, "dot": z}
    scorers = {name: _by_products(of, lambda r: r.sum(axis=1)) for name, of in forms.items()}
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
    return _count_common(adjacency, ones, ones, pairs)


def _count_common(adjacency: Any, one: Any, other: Any, pairs: Array) -> Array:
    """Return the sum over the neighbors that both nodes of each pair have, by two matrices."""
    most = int(np.diff(adjacency.indptr)[pairs].sum(axis=1).max(initial=1))
    return _in_blocks(lambda p: one[p[:, 0]].multiply(other[p[:, 1]]).sum(axis=1), pairs, most)


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

    def adamic_adar(pairs: Array) -> Array:
        return _count_common(adjacency, ones, weighted, pairs)

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


def link_scores(z: Any, split: LinkSplit) -> dict[str, Any]:
    """Return AUC and average precision of an embedding, dense or sparse, of the training graph."""
    return score_links(embedding_scorers(z, split.train), split)


def edge_scores(split: LinkSplit) -> dict[str, Any]:
    """Return the same scores for what the edges of the training graph tell without embedding."""
    return score_links(edge_scorers(split.adjacency), split)


def score_links(scorers: Mapping[str, Scorer], split: LinkSplit) -> dict[str, Any]:
    """Choose a scorer by its AUC on validation; then read the test pairs once."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    name, validation = choose_scorer(scorers, split.validation)
    truth, scores = split.test.truth(), scorers[name](split.test.both())
    return {
        "scorer": name,
        "validation_auc": validation,
        "test_auc": float(roc_auc_score(truth, scores)),
        "test_ap": float(average_precision_score(truth, scores)),
    }


def choose_scorer(scorers: Mapping[str, Scorer], validation: Pairs) -> tuple[str, float]:
    """Return the scorer with the largest AUC on the validation pairs, the first of equal ones."""
    from sklearn.metrics import roc_auc_score

    truth, pairs = validation.truth(), validation.both()
    areas = {name: float(roc_auc_score(truth, score(pairs))) for name, score in scorers.items()}
    name = max(areas, key=lambda name: areas[name])
    return name, areas[name]
