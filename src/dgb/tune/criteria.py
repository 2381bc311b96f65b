"""Label-free criteria: numbers that tell good embeddings from bad ones; higher is better.

All look at a fixed sample of rows or edges, so that none costs more on a larger graph. One of them,
or validation accuracy, is what a search goes by.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from dgb.arrays import Array
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.evaluate.cluster import sample_rows
from dgb.measure.job import Line
from dgb.recipe import Recipe
from dgb.settings import unknown_name
from dgb.train import monitor

VALIDATION = "validation"
AUC = "auc"  # of links.held_out, which not every recipe has
NO_AUC = "the criterion auc is of edges held out; set some aside: --set links.held_out=0.05"
# For graphs without labels: of all criteria the one whose least agreement with validation
# accuracy was highest over five searches, of the paper's settings and of the default's
# (docs/without-labels.md).
DEFAULT_CRITERION = "edge_auc"
SAMPLE = 1024  # rows
EDGES = 4096
CLUSTERS = 10  # a modest number that is the same for all graphs: without labels none is known
SEED = 0
FLOOR = 1e-10  # of an eigenvalue against the largest one: below lies single precision's noise


def label_free_scores(z: Array, adjacency: Any) -> dict[str, float]:
    """Return every criterion of embeddings [num_nodes, width] of a graph."""
    return {name: criterion(z, adjacency) for name, criterion in CRITERIA.items()}


def stable_rank(z: Array, _adjacency: Any) -> float:
    """Return ‖z‖_F² / ‖z‖_2² of the centred rows."""
    return float(_spectrum(z).sum())


def spectrum_decay(z: Array, _adjacency: Any) -> float:
    """Return −α of eigenvalues that fall as i^−α (α-ReQ, Agrawal 2022): flatter is higher."""
    values = _spectrum(z)
    if len(values) < 2:
        return 0.0
    place = np.arange(1, len(values) + 1)
    # Weights of 1/i make every octave count alike, else the tail alone would decide.
    slope, _ = np.polyfit(np.log(place), np.log(values), 1, w=place**-0.5)
    return float(slope)


def uniformity(z: Array, _adjacency: Any) -> float:
    """Return −log of the mean of exp(−2 d²) over pairs of rows on the sphere (Wang & Isola)."""
    rows = _unit(sample_rows(z, SAMPLE, SEED))
    similar = np.exp(4 * np.minimum(rows @ rows.T, 1) - 4)
    count = len(rows)
    others = (similar.sum() - np.trace(similar)) / (count * (count - 1))
    return float(-np.log(others))


def edge_auc(z: Array, adjacency: Any) -> float:
    """Return how often linked nodes are more alike than two random ones; 1/2 without edges."""
    from sklearn.metrics import roc_auc_score

    if adjacency.nnz == 0:
        return 0.5
    rng = np.random.default_rng(SEED)
    places = rng.integers(adjacency.nnz, size=EDGES)
    heads = np.searchsorted(adjacency.indptr, places, side="right") - 1
    linked = _cosine(z, heads, adjacency.indices[places])
    left, right = rng.integers(len(z), size=(2, EDGES))
    other = (left + 1 + right % (len(z) - 1)) % len(z)  # never a node with itself
    is_linked = np.repeat([1, 0], EDGES)
    return float(roc_auc_score(is_linked, np.concatenate([linked, _cosine(z, left, other)])))


def cluster_silhouette(z: Array, _adjacency: Any) -> float:
    """Return how far apart k-means clusters are: the silhouette by cosine, −1 without clusters."""
    from sklearn.metrics import silhouette_score

    rows = _unit(sample_rows(z, SAMPLE, SEED))
    clusters = _fit_clusters(rows).labels_
    if not 1 < len(np.unique(clusters)) < len(rows):
        return -1.0
    return float(silhouette_score(rows, clusters, metric="cosine"))


def cluster_modularity(z: Array, adjacency: Any) -> float:
    """Return the modularity (Newman 2006) that k-means clusters of the rows have in the graph."""
    total = float(adjacency.sum())
    if total == 0:
        return 0.0
    clusters = _fit_clusters(_unit(sample_rows(z, SAMPLE, SEED))).predict(_unit(z))
    heads = np.repeat(np.arange(len(z)), np.diff(adjacency.indptr))
    is_inside = clusters[heads] == clusters[adjacency.indices]
    degrees = np.bincount(clusters, weights=np.asarray(adjacency.sum(axis=1)).ravel())
    inside = float(adjacency.data[is_inside].sum(dtype=np.float64)) / total
    return inside - float(np.square(degrees / total).sum())


CRITERIA: dict[str, Callable[[Array, Any], float]] = {
    "effective_rank": lambda z, _: monitor.effective_rank(torch.from_numpy(z)),  # Roy 2007
    "stable_rank": stable_rank,
    "spectrum_decay": spectrum_decay,
    "spread": lambda z, _: monitor.spread(torch.from_numpy(z)),
    "uniformity": uniformity,
    "edge_auc": edge_auc,
    "cluster_silhouette": cluster_silhouette,
    "cluster_modularity": cluster_modularity,
}


def choose_criterion(name: str | None, graph: AnyGraph, recipe: Recipe) -> str:
    """Return the criterion asked for, else validation accuracy where labels allow it."""
    if name is None:
        return DEFAULT_CRITERION if graph.labels is None else VALIDATION
    if name not in (known := [VALIDATION, *CRITERIA, AUC]):
        raise unknown_name("criterion", name, known)
    if name == AUC and not recipe.links.held_out:
        raise DGBError(NO_AUC)
    if name == VALIDATION and graph.labels is None:
        raise DGBError(
            f"{graph.name} has no labels for a validation accuracy, which takes train nodes of two "
            f"classes and validation nodes; use --criterion {DEFAULT_CRITERION}, which needs none"
        )
    return name


def rank_agreement(lines: Iterable[Line]) -> dict[str, tuple[float, int]]:
    """Return Spearman's correlation of every criterion with validation accuracy, and its n.

    It is taken over finished trials after their last epoch: a criterion that falls as training goes
    on may well rank runs of equal length. One that is the same in all agrees by 0.
    """
    from scipy.stats import spearmanr

    last = [line["history"][-1] for line in lines if line["state"] == "complete"]
    finished = [point for point in last if VALIDATION in point]
    truth = [point[VALIDATION] for point in finished]
    agreement: dict[str, tuple[float, int]] = {}
    has_auc = bool(finished) and all(AUC in point for point in finished)
    for name in (*CRITERIA, AUC) if has_auc else CRITERIA:
        values = [point[name] for point in finished]
        is_ranked = len(set(values)) > 1 and len(set(truth)) > 1
        rho = float(spearmanr(values, truth).statistic) if is_ranked else 0.0
        agreement[name] = (rho if math.isfinite(rho) else 0.0, len(finished))
    return agreement


def _spectrum(z: Array) -> Array:
    """Return the eigenvalues of the covariance, largest first, as shares of the largest."""
    rows = sample_rows(z, SAMPLE, SEED).astype(np.float64)
    centred = rows - rows.mean(axis=0)
    gram = centred @ centred.T if rows.shape[0] < rows.shape[1] else centred.T @ centred
    # Centring takes one dimension, whose eigenvalue would be zero for any embeddings.
    values = np.linalg.eigvalsh(gram)[::-1][: max(1, min(rows.shape[0] - 1, rows.shape[1]))]
    if values[0] <= 1e-12 * np.square(rows).sum():  # all rows alike: as bad as on one line
        values = np.eye(1, len(values))[0]
    return np.asarray(np.maximum(values / values[0], FLOOR))


def _unit(rows: Array) -> Array:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def _cosine(z: Array, left: Array, right: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", _unit(z[left]), _unit(z[right])))


def _fit_clusters(rows: Array) -> Any:
    from sklearn.cluster import KMeans

    # Rows that are all alike give fewer clusters than asked for, which callers look at themselves.
    count = min(CLUSTERS, len(np.unique(rows, axis=0)))
    return KMeans(count, n_init=1, random_state=SEED).fit(rows)
