"""Node clustering: k-means against the labels by accuracy (Hungarian matching), NMI and ARI."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from dgb.data.graph import Array


@dataclass(frozen=True)
class ClusterScores:
    """How well k-means clusters agree with the labels."""

    accuracy: float
    nmi: float
    ari: float


def cluster(z: Any, num_clusters: int, seed: int) -> Array:
    """Return a k-means cluster for every row, on rows scaled to length one."""
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    means = KMeans(num_clusters, n_init=10, random_state=seed % 2**32)
    return np.asarray(means.fit_predict(normalize(z)))


def score_clusters(clusters: Array, labels: Array) -> ClusterScores:
    """Compare clusters with labels; nodes without a label are left out."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    known = labels >= 0
    clusters, labels = clusters[known], labels[known]
    return ClusterScores(
        matched_accuracy(clusters, labels),
        float(normalized_mutual_info_score(labels, clusters)),
        float(adjusted_rand_score(labels, clusters)),
    )


def matched_accuracy(clusters: Array, labels: Array) -> float:
    """Return the accuracy under the best one-to-one matching of clusters to labels."""
    size = int(max(clusters.max(), labels.max())) + 1
    counts = np.zeros((size, size), dtype=np.int64)
    np.add.at(counts, (clusters, labels), 1)
    rows, cols = linear_sum_assignment(-counts)
    return float(counts[rows, cols].sum() / len(labels))
