"""All scores of the target nodes of a heterogeneous graph: a probe a split, and one clustering."""

from dataclasses import asdict
from typing import Any

from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.evaluate.cluster import cluster, score_clusters
from dgb.evaluate.probe import linear_probe
from dgb.evaluate.scores import choose_split, why_not_scored
from dgb.recipe import Probe


def scores_by_split(
    z: Any, graph: HeteroGraph, recipe: Probe, seed: int
) -> dict[str, dict[str, Any]]:
    """Return the probe's scores by split, and the clustering's, of one row per target node."""
    if reason := why_not_scored_by_split(graph, seed):
        raise DGBError(f"nothing to evaluate against: {reason}")
    target = graph.target_graph()
    if z.shape[0] != target.num_nodes:
        raise DGBError(
            f"{z.shape[0]} rows of embeddings, but {graph.name} has {target.num_nodes} nodes of "
            f"type {graph.target}; give one row for each of these, in their order"
        )
    labels = target.labels
    assert labels is not None
    splits = {
        name: linear_probe(z, labels, choose_split(target, number), recipe, seed).told()
        for name, number in _numbered_splits(graph, seed).items()
    }
    clusters = score_clusters(cluster(z, target.num_classes, seed), labels)
    return {"splits": splits, "cluster": asdict(clusters)}


def why_not_scored_by_split(graph: HeteroGraph, seed: int) -> str | None:
    """Return why a probe cannot score a split of the graph, or None; asked before training."""
    target = graph.target_graph()
    for name, number in _numbered_splits(graph, seed).items():
        if reason := why_not_scored(target, number):
            return f"{reason} ({name})"
    return None


def _numbered_splits(graph: HeteroGraph, seed: int) -> dict[str, int]:
    """Return every split's name, and the number by which `choose_split` finds it."""
    count = len(graph.splits)
    if not count:
        return {"random split": seed}
    # A name given twice, or to some splits alone, would hide the scores of others.
    is_named = len(set(graph.split_names)) == len(graph.split_names) == count
    names = graph.split_names if is_named else [f"split {i + 1}" for i in range(count)]
    return {name: number for number, name in enumerate(names)}
