"""Neighbours: as brute force finds them, whatever the size of a block."""

import numpy as np
import pytest

from dgb import neighbors
from dgb.arrays import Array, unit_rows
from dgb.neighbors import nearest, nearest_all, nearest_by_cells


@pytest.fixture
def z() -> Array:
    rows = np.random.default_rng(0).normal(size=(200, 12)).astype(np.float32)
    rows *= np.random.default_rng(1).uniform(0.01, 100, size=(200, 1)).astype(np.float32)
    rows[7] = 0
    return rows


def brute_force(z: Array, row: int, k: int) -> list[int]:
    z = z.astype(np.float64)
    length = np.maximum(np.linalg.norm(z, axis=1), 1e-30)
    cosine = z @ z[row] / length / length[row]
    return sorted((i for i in range(len(z)) if i != row), key=lambda i: (-cosine[i], i))[:k]


@pytest.mark.parametrize("block", [1, 1000, 2**23])
def test_neighbors_are_those_of_brute_force(
    z: Array, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbors, "BLOCK", block)
    rows = np.array([3, 199, 0, 3])
    positions, similarities = nearest(z, rows, 5)
    for row, near, similar in zip(rows, positions, similarities, strict=True):
        assert near.tolist() == brute_force(z, row, 5)
        unit = z.astype(np.float64) / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-30)
        np.testing.assert_allclose(similar, unit[near] @ unit[row], atol=2e-6)
    assert similarities.dtype == np.float32


def test_ties_go_to_the_smaller_position_and_zero_rows_are_harmless(z: Array) -> None:
    z[50:100:7] = 3 * z[150]
    positions, similarities = nearest(z, np.array([150, 7]), 8)
    assert positions[0].tolist() == list(range(50, 100, 7))
    np.testing.assert_allclose(similarities[0], 1, atol=2e-6)
    assert positions[1].tolist() == [0, 1, 2, 3, 4, 5, 6, 8]
    assert (similarities[1] == 0).all()


@pytest.mark.parametrize("k", [1, 3, 8, 699])
def test_rows_with_many_ties_are_ordered_as_by_sorting_all_pairs(k: int) -> None:
    rng = np.random.default_rng(3)
    for z in (rng.normal(size=(700, 3)), rng.integers(0, 3, (700, 2)), np.ones((700, 2))):
        unit = unit_rows(np.asarray(z, np.float32))
        steps = np.rint(unit @ unit.T * 2**20)
        np.fill_diagonal(steps, -np.inf)
        positions, similarities = nearest(z, np.arange(700), k)
        np.testing.assert_array_equal(positions, np.argsort(-steps, axis=1, kind="stable")[:, :k])
        expected = np.take_along_axis(steps, positions, axis=1) / 2**20
        np.testing.assert_allclose(similarities, np.clip(expected, -1, 1), atol=1e-6)


def test_a_node_is_not_its_own_neighbor(z: Array) -> None:
    everyone = np.arange(200)
    assert not (nearest(z, everyone, 199)[0] == everyone[:, None]).any()


def test_k_beyond_the_rows_gives_all_of_them(z: Array) -> None:
    positions, _ = nearest(z[:4], np.arange(4), 10)
    assert [sorted(p) for p in positions.tolist()] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert nearest(z[:1], np.array([0]), 10)[0].shape == (1, 0)
    assert nearest(z, np.array([], dtype=np.int64), 3)[0].shape == (0, 3)


def test_cells_find_most_of_them_and_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    z = np.repeat(rng.normal(size=(30, 16)), 50, axis=0) + 0.5 * rng.normal(size=(1500, 16))
    z[20:60] = z[20]
    monkeypatch.setattr(neighbors, "LOOKED_AT", 150)
    monkeypatch.setattr(neighbors, "LOOKED_AT_ROOT", 1)
    exact, cosines = nearest(z, np.arange(1500), 8)
    positions, similarities = nearest_by_cells(z, 8)
    assert not (positions == np.arange(1500)[:, None]).any()
    apart = np.r_[0:20, 60:1500]  # of equal rows any eight are right
    pairs = zip(exact[apart], positions[apart], strict=True)
    shared = [len(np.intersect1d(a, b)) for a, b in pairs]
    assert 0.8 <= np.mean(shared) / 8 < 1
    np.testing.assert_allclose(similarities[25], 1, atol=2e-6)
    assert (similarities <= cosines + 2e-6).all() and (np.diff(similarities) <= 0).all()
    unit = unit_rows(z.astype(np.float32))
    found = np.einsum("nkd,nd->nk", unit[positions], unit)
    np.testing.assert_allclose(similarities, found, atol=2e-6)
    np.testing.assert_array_equal(nearest_by_cells(z, 8)[0], positions)


@pytest.mark.parametrize("k", [1, 5, 60, 199, 300])
def test_cells_are_exact_where_all_rows_lie_around(z: Array, k: int) -> None:
    exact, cosines = nearest(z, np.arange(200), k)
    positions, similarities = nearest_by_cells(z, k)
    np.testing.assert_array_equal(positions, exact)
    np.testing.assert_allclose(similarities, cosines, atol=2e-6)


def test_large_graphs_go_by_cells(z: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    np.testing.assert_array_equal(nearest_all(z, 3)[0], nearest(z, np.arange(200), 3)[0])
    asked: list[int] = []
    monkeypatch.setattr(neighbors, "nearest_by_cells", lambda _z, k: asked.append(k))
    monkeypatch.setattr(neighbors, "EXACT_NODES", 200)
    nearest_all(z, 3)
    assert asked == []
    monkeypatch.setattr(neighbors, "EXACT_NODES", 199)
    nearest_all(z, 3)
    assert asked == [3]
