"""Node clustering: k-means against the labels by accuracy (Hungarian matching), NMI and ARI."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array, principal_rows, row_parts, unit_rows

WHOLE_NODES = 20_000  # above, k-means learns from batches
# Dense rows and numbers above which k-means takes principal components: of 15,000 rows of 1,024
# columns ten starts would take longer than the probe, the map and its neighbors together.
WHOLE_ROWS, WHOLE_NUMBERS = 10_000, 2**22
# Of k-means, and above 10,000 rows: on 15,000 of them ten end 0.02 % lower, in twice the time.
STARTS, LARGE_STARTS = 10, 5
LEARNT_NODES = 200_000  # above, these are as many of all rows, drawn at random
SAMPLE = 2_000  # rows that a number of clusters is chosen on
COUNTS = range(2, 21)  # of clusters, among which silhouettes choose
WIDTH = 50  # principal components: of that sample, and of many numbers


@dataclass(frozen=True)
class ClusterScores:
    """How well k-means clusters agree with the labels."""

    accuracy: float
    nmi: float
    ari: float


def cluster(z: Any, num_clusters: int, seed: int) -> Array:
    """Return a k-means cluster for every row, on rows scaled to length one.

    Of more than 10,000 dense rows, or 2²² numbers, on their 50 principal components; of more than
    10,000 rows from five starts instead of ten.
    Above 20,000 rows k-means learns from batches, above 200,000 from batches of a sample of these.
    """
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.preprocessing import normalize

    start = seed % 2**32
    if z.shape[0] <= WHOLE_NODES:
        with warnings.catch_warnings():  # rows that are alike make fewer clusters, which is right
            warnings.simplefilter("ignore", ConvergenceWarning)
            rows, width = normalize(z), max(WIDTH, num_clusters)
            is_much = z.shape[0] > WHOLE_ROWS or rows.size > WHOLE_NUMBERS
            if not sparse.issparse(z) and is_much and rows.shape[1] > width:
                rows = principal_rows(rows, width, seed)
            starts = STARTS if z.shape[0] <= WHOLE_ROWS else LARGE_STARTS
            means = KMeans(num_clusters, n_init=starts, random_state=start)
            return np.asarray(means.fit_predict(rows))
    means = MiniBatchKMeans(num_clusters, batch_size=4096, n_init=STARTS, random_state=start)
    if z.shape[0] <= LEARNT_NODES:
        return np.asarray(means.fit_predict(normalize(z)))
    means.fit(normalize(sample_rows(z, LEARNT_NODES, seed), copy=False))
    return np.concatenate([means.predict(normalize(z[part])) for part in row_parts(*z.shape)])


def choose_clusters(z: Array, seed: int) -> int:
    """Return the number of clusters with the largest mean silhouette on a sample of the rows.

    No label is read. 1 where no number is possible: rows that are all alike, or fewer than three.
    """
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances

    rows = unit_rows(np.asarray(sample_rows(z, SAMPLE, seed), np.float32))
    distances = pairwise_distances(rows)
    if min(rows.shape) > WIDTH:
        rows = principal_rows(rows, WIDTH, seed)
    np.fill_diagonal(distances, 0)
    scores = {}
    for count in COUNTS:
        if count >= len(rows):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer different rows than clusters: some are empty
            clusters = KMeans(count, n_init=3, random_state=seed % 2**32).fit_predict(rows)
        if 1 < len(np.unique(clusters)) < len(rows):
            scores[count] = mean_silhouette(distances, clusters)
    return max(scores, key=lambda count: scores[count], default=1)


def mean_silhouette(distances: Array, clusters: Array) -> float:
    """Return what scikit-learn's `silhouette_score` does, by one product."""
    _, place, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    rows, members = np.arange(len(place)), np.eye(len(sizes), dtype=distances.dtype)[place]
    sums = np.asarray(distances @ members, np.float64)
    own = sums[rows, place] / np.maximum(sizes[place] - 1, 1)
    means = sums / sizes
    means[rows, place] = np.inf
    other = means.min(axis=1)
    larger = np.maximum(own, other)
    silhouettes = (other - own) / np.where(larger > 0, larger, 1)
    return float(np.where(sizes[place] > 1, silhouettes, 0).mean())


def central_rows(z: Array, clusters: Array, count: int) -> list[Array]:
    """Return the positions of the rows nearest to the middle of each cluster, nearest first."""
    found = []
    for name in range(int(clusters.max()) + 1):
        nodes = np.flatnonzero(clusters == name)
        unit = unit_rows(np.asarray(z[nodes], np.float32))
        closeness = unit @ unit.sum(axis=0)
        found.append(nodes[np.argsort(-closeness, kind="stable")[:count]])
    return found


def sample_rows(z: Any, count: int, seed: int) -> Any:
    """Return at most so many rows of z, the same for the same seed, in their order."""
    if z.shape[0] <= count:
        return z
    return z[np.sort(np.random.default_rng(seed).choice(z.shape[0], count, replace=False))]


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
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    # By what occurs: a label may be any number, such as a year or a code of six digits.
    counts = contingency_matrix(labels, clusters)
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / len(labels))
