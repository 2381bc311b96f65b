"""The number of clusters, chosen without labels, and what k-means does on many rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dgb.arrays import Array
from dgb.evaluate import cluster as module
from dgb.evaluate.cluster import (
    central_rows,
    choose_clusters,
    cluster,
    matched_accuracy,
    mean_silhouette,
)

COUNTS = module.COUNTS


@pytest.fixture(autouse=True)
def _uncut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose among as many clusters as users do: in most tests there are fewer."""
    monkeypatch.setattr(module, "COUNTS", COUNTS)


def groups(count: int, size: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(count), size)
    centres = np.linalg.qr(rng.normal(size=(16, 16)))[0][:count]
    return centres[labels] + 0.05 * rng.normal(size=(len(labels), 16)), labels


@pytest.mark.parametrize("count", [2, 5, 9])
def test_planted_groups_are_counted(count: int) -> None:
    assert choose_clusters(groups(count, 30)[0], 0) == count


def test_a_sample_is_enough_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAMPLE", 60)
    z, _ = groups(4, 200)
    assert choose_clusters(z, 3) == choose_clusters(z, 3) == 4
    monkeypatch.setattr(module, "COUNTS", [2, 3])
    assert choose_clusters(z, 3) in (2, 3)


def test_rows_without_groups_are_one_cluster() -> None:
    assert choose_clusters(np.ones((30, 4)), 0) == 1
    assert choose_clusters(np.zeros((30, 4)), 0) == 1
    assert choose_clusters(np.eye(2), 0) == 1
    assert choose_clusters(np.repeat(np.eye(3), 5, axis=0), 0) == 3  # three different rows


def test_silhouettes_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import pairwise_distances, silhouette_score

    rng = np.random.default_rng(0)
    for clusters in (rng.integers(0, 4, 80), np.append(np.zeros(79, int), 7), np.arange(80) // 2):
        distances = pairwise_distances(rng.normal(size=(80, 3)))
        distances[3] = distances[:, 3] = 0  # as of rows that are alike
        expected = silhouette_score(distances, clusters, metric="precomputed")
        assert mean_silhouette(distances, clusters) == pytest.approx(expected, abs=1e-9)


def test_many_rows_are_clustered_from_fewer_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn import cluster as methods

    taken: list[int] = []

    class Stub(methods.KMeans):  # type: ignore[misc]
        def fit_predict(self, rows: Array, *_: Any) -> Array:
            taken.append(self.n_init)
            return np.zeros(len(rows), int)

    monkeypatch.setattr(methods, "KMeans", Stub)
    monkeypatch.setattr(module, "WHOLE_ROWS", 60)
    for size in (20, 21):
        cluster(groups(3, size)[0], 3, 0)
    assert taken == [10, 5]


def test_many_rows_are_clustered_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.cluster import KMeans

    monkeypatch.setattr(module, "WHOLE_NODES", 100)
    monkeypatch.setattr(KMeans, "fit_predict", lambda *_: pytest.fail("k-means over all rows"))
    z, labels = groups(3, 100)
    assert matched_accuracy(cluster(z, 3, 0), labels) == 1


def test_few_rows_are_clustered_as_the_published_figures_were() -> None:
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    z = np.random.default_rng(3).normal(size=(80, 6))
    expected = KMeans(4, n_init=10, random_state=5).fit_predict(normalize(z))
    np.testing.assert_array_equal(cluster(z, 4, 5), expected)


def test_the_most_central_row_is_the_middle_of_its_cluster() -> None:
    angle = np.array([0, 0.1, 0.2, 2.0, 2.1, 2.4])
    z = np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.array([[1], [5], [2], [1], [9], [1]])
    central = central_rows(z, np.array([0, 0, 0, 1, 1, 1]), 2)
    assert central[0][0] == 1 and central[1].tolist() == [4, 3]


def test_labels_of_large_numbers_need_no_matrix_of_their_size() -> None:
    clusters = np.array([0, 0, 1, 1, 2])
    assert matched_accuracy(clusters, np.array([7, 7, 10**9, 10**9, 7])) == 0.8


def test_of_very_many_rows_k_means_learns_from_a_sample_and_places_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    names = rng.integers(3, size=3000)
    z = (5 * np.eye(3)[names] + 0.1 * rng.normal(size=(3000, 3))).astype(np.float32)
    np.save(tmp_path / "z.npy", z)
    monkeypatch.setattr("dgb.evaluate.cluster.WHOLE_NODES", 100)
    monkeypatch.setattr("dgb.evaluate.cluster.LEARNT_NODES", 200)
    monkeypatch.setattr("dgb.arrays.NUMBERS", 3 * 700)
    found = cluster(np.load(tmp_path / "z.npy", mmap_mode="r"), 3, seed=0)
    assert found.shape == (3000,) and matched_accuracy(found, names) == 1


def test_many_numbers_are_clustered_by_their_principal_components(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from sklearn.cluster import KMeans

    z, labels = groups(5, 60)
    wide = np.concatenate([z, 0.01 * np.random.default_rng(1).normal(size=(len(z), 80))], axis=1)
    widths, fit = [], KMeans.fit_predict

    def fit_predict(means: KMeans, rows: Array) -> Array:
        widths.append(rows.shape[1])
        return np.asarray(fit(means, rows))

    monkeypatch.setattr(KMeans, "fit_predict", fit_predict)
    for rows, numbers in ((300, wide.size), (300, wide.size - 1), (299, wide.size)):
        monkeypatch.setattr(module, "WHOLE_ROWS", rows)
        monkeypatch.setattr(module, "WHOLE_NUMBERS", numbers)
        assert matched_accuracy(cluster(wide, 5, 0), labels) == 1
    assert matched_accuracy(cluster(sparse.csr_array(wide), 5, 0), labels) == 1
    assert matched_accuracy(cluster(z, 5, 0), labels) == 1
    assert widths == [96, 50, 50, 96, 16]  # sparse rows, and narrow ones, as they are
