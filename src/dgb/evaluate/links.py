"""Link prediction: edges taken out before training, told from pairs that never were edges."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.graph import Graph, undirected
from dgb.data.structure import structural_features
from dgb.errors import DGBError
from dgb.evaluate.link_scorers import (
    Pairs,
    Scorer,
    edge_pairs,
    edge_scorers,
    embedding_scorers,
    sample_non_edges,
)

TRAIN_PAIRS = 20_000  # at most so many edges a logistic regression is fitted on


@dataclass(frozen=True, eq=False)
class LinkSplit:
    """A graph without the edges that are asked for, and the pairs of each part."""

    train_graph: Graph
    train: Pairs  # edges of train_graph
    validation: Pairs
    test: Pairs


def split_edges(graph: Graph, seed: int, validation: float = 0.05, test: float = 0.10) -> LinkSplit:
    """Take shares of the edges out of a graph, and draw as many pairs that are no edges of it.

    No pair is in two parts. Features that were made of the edges are made anew of those left.
    """
    generator = np.random.default_rng(seed)
    edges, weight = edge_pairs(graph.adjacency)
    counts = _counts(graph, validation, test)
    order = generator.permutation(len(edges))
    kept = order[sum(counts) :]
    parts = [*np.split(order[: sum(counts)], counts[:1]), kept[:TRAIN_PAIRS]]
    sizes = [len(part) for part in parts]
    others = sample_non_edges(graph.adjacency, sum(sizes), generator)
    drawn = np.split(others, np.cumsum(sizes)[:-1])
    validated, tested, trained = (
        Pairs(edges[part], none) for part, none in zip(parts, drawn, strict=True)
    )
    train_graph = _with_edges(graph, edges[kept], weight[kept])
    return LinkSplit(train_graph, trained, validated, tested)


def link_scores(z: Any, split: LinkSplit) -> dict[str, Any]:
    """Return AUC and average precision of an embedding, dense or sparse, of the training graph."""
    return score_links(embedding_scorers(z, split.train), split)


def edge_scores(split: LinkSplit) -> dict[str, Any]:
    """Return the same scores for what the edges of the training graph tell without embedding."""
    return score_links(edge_scorers(split.train_graph.adjacency), split)


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


def _counts(graph: Graph, validation: float, test: float) -> tuple[int, int]:
    if min(validation, test) <= 0 or validation + test >= 1:
        raise DGBError(
            f"the shares of edges for validation ({validation:g}) and test ({test:g}) must be "
            "above 0 and leave edges to train on"
        )
    counts = [max(round(share * graph.num_edges), 1) for share in (validation, test)]
    if sum(counts) >= graph.num_edges:
        raise DGBError(
            f"{graph.name}: link prediction needs an edge each to train on, for validation and "
            f"for test; the graph has {graph.num_edges}"
        )
    return counts[0], counts[1]


def _with_edges(graph: Graph, edges: Array, weight: Array) -> Graph:
    shape = graph.adjacency.shape
    adjacency = undirected(sparse.coo_array((weight, (edges[:, 0], edges[:, 1])), shape=shape))
    if graph.encoding is None or not graph.encoding.structure:
        return replace(graph, adjacency=adjacency)
    # Made of all edges they would tell of the removed ones.
    x = structural_features(adjacency, graph.node_ids, graph.encoding.structure)
    return replace(graph, adjacency=adjacency, x=x)
