"""Drift: planted moves are told from noise, and nodes, clusters and centers are counted rightly."""

import numpy as np
import pytest

from dgb.arrays import Array
from dgb.evaluate.drift import Vectors, measure_angles, measure_drift


def make_groups(count: int = 40) -> tuple[Array, Array]:
    """Return vectors around three axes, and names of nodes."""
    rng = np.random.default_rng(0)
    z = np.eye(6)[np.arange(3 * count) % 3] + 0.05 * rng.standard_normal((3 * count, 6))
    return z.astype(np.float32), np.array([f"n{i}" for i in range(3 * count)], object)


def shake(z: Array, seed: int) -> Array:
    noise = np.random.default_rng(seed).standard_normal(z.shape)
    return (z + 0.01 * noise).astype(np.float32)


def test_a_node_that_goes_to_another_cluster_is_told_from_noise() -> None:
    z, ids = make_groups()
    by_old = z.copy()
    by_old[6] = z[7]  # by the data: its neighbors are others now
    found = measure_drift(Vectors(ids, z), Vectors(ids, shake(by_old, 1)), by_old)
    assert 0.5 < found.noise < 5
    assert found.order[0] == 6
    assert found.by_data[6] > 60 and np.delete(found.by_data, 6).max() < 0.01
    assert found.has_moved.sum() <= 0.07 * len(z)  # five in a hundred by chance
    summary = found.describe()
    assert len(summary["clusters"]) == 3
    assert sum(of["left"] for of in summary["clusters"]) == 1
    assert sorted(of["after"] for of in summary["clusters"]) == [39, 40, 41]
    assert summary["median_cosine"] > 0.999


def test_a_cluster_that_moves_as_a_whole_is_told_from_the_others() -> None:
    z, ids = make_groups()
    by_old = z.copy()
    by_old[::3, 3] += 0.5
    found = measure_drift(Vectors(ids, z), Vectors(ids, shake(by_old, 1)), by_old)
    clusters = found.describe()["clusters"]
    (moved,) = [of for of in clusters if of["angle"] > 20]
    assert moved["cluster"] == found.cluster_before[0] and moved["moved"] == 40
    assert all(of["angle"] < 2 and of["noise"] < 2 for of in clusters if of is not moved)


def test_nodes_are_found_by_id_whatever_their_order() -> None:
    z, ids = make_groups()
    order = np.random.default_rng(2).permutation(len(z))[:100]  # twenty are gone
    after = np.concatenate([z[order], z[:1]])
    names = np.append(ids[order], "later")
    found = measure_drift(Vectors(ids, z), Vectors(names, after), after)
    summary = found.describe()
    assert (summary["kept"], summary["new"], summary["gone"]) == (100, 1, 20)
    assert found.angles.max() < 0.01 and summary["moved"] == 0 and found.noise < 0.01
    assert (found.cluster_after[:100] == found.cluster_before[order]).all()


def test_angles_are_degrees() -> None:
    one = np.array([[1.0, 0], [1, 0], [2, 0]])
    other = np.array([[0.0, 3], [-1, 0], [5, 0]])
    assert measure_angles(one, other).tolist() == pytest.approx([90, 180, 0])
