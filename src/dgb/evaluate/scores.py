"""All scores of one set of embeddings: probe and clustering against the labels."""

from dataclasses import asdict
from typing import Any

import numpy as np

from dgb.data.graph import Array, Graph, Split
from dgb.errors import DGBError
from dgb.evaluate.cluster import cluster, score_clusters
from dgb.evaluate.probe import linear_probe
from dgb.recipe import Probe


def choose_split(graph: Graph, seed: int) -> Split:
    """Return the graph's own split (the seed picks one of several), else a random 10/10/80."""
    if graph.splits:
        return graph.splits[seed % len(graph.splits)]
    assert graph.labels is not None
    known = np.flatnonzero(graph.labels >= 0)
    order = np.random.default_rng(seed).permutation(known)
    tenth = len(order) // 10
    if tenth < 1:
        raise DGBError(f"{graph.name}: a probe needs at least 10 labelled nodes, not {len(order)}")
    return Split(order[:tenth], order[tenth : 2 * tenth], order[2 * tenth :])


def score_embeddings(z: Any, graph: Graph, recipe: Probe, seed: int) -> dict[str, Any]:
    """Return the probe's and the clustering's scores of one row per node, dense or sparse."""
    assert graph.labels is not None
    labels: Array = graph.labels
    probe = linear_probe(z, labels, choose_split(graph, seed), recipe, seed)
    clusters = cluster(z, graph.num_classes, seed)
    return {"probe": asdict(probe), "cluster": asdict(score_clusters(clusters, labels))}
