"""Link prediction: how well rows, or the edges left, tell edges that were taken out."""

from collections.abc import Mapping
from typing import Any

from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph
from dgb.evaluate.link_scorers import Pairs, Scorer, edge_scorers, embedding_scorers
from dgb.evaluate.link_split import LinkSplit


def links_of(graph: AnyGraph) -> Any:
    """Return the adjacency of a graph; of several node types, that of the target nodes."""
    if isinstance(graph, Graph):
        return graph.adjacency
    total = graph.target_graph().adjacency
    for relation in graph.relations:
        if relation.source == relation.target == graph.target:
            total = total.maximum(relation.matrix)
    return total


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
