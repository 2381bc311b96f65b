"""Maps: alike rows together, the same for the same seed, and no input that breaks them."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dgb.arrays import Array
from dgb.evaluate import map as module
from dgb.evaluate.map import choose_drawing, map_coordinates
from dgb.neighbors import nearest_all

STEPS = {name: getattr(module, name) for name in ("EARLY_STEPS", "STEPS")}


@pytest.fixture(autouse=True)
def _all_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw whole maps here, where all other tests draw them in few steps."""
    for name, count in STEPS.items():
        monkeypatch.setattr(module, name, count)


def groups() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    return np.eye(20)[labels] + 0.05 * rng.normal(size=(60, 20)), labels


def only(*names: str) -> Any:
    return lambda name: name if name in names else None


@pytest.mark.parametrize("installed", [("openTSNE",), ()])
def test_groups_lie_apart_and_the_map_is_the_same_again(
    installed: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if installed:
        pytest.importorskip("openTSNE")
    monkeypatch.setattr(module, "find_spec", only(*installed))
    z, labels = groups()
    xy, name = map_coordinates(z, 1)
    assert name == "t-SNE" and xy.shape == (60, 2) and xy.dtype == np.float32
    apart = np.linalg.norm(xy[:, None] - xy[None], axis=2) + np.diag(np.full(60, np.inf))
    assert (labels[apart.argmin(axis=1)] == labels).all()
    assert ("t-SNE:" in capsys.readouterr().err) == bool(installed)  # a bar
    np.testing.assert_array_equal(map_coordinates(z, 1)[0], xy)


def test_the_length_of_a_row_does_not_matter() -> None:
    z, _ = groups()
    longer = z * 2.0 ** (np.arange(60)[:, None] % 5)  # powers of two lose no bit
    np.testing.assert_array_equal(map_coordinates(longer, 0)[0], map_coordinates(z, 0)[0])


@pytest.mark.parametrize(
    "z",
    [
        np.eye(1),
        np.eye(2),
        np.eye(3),
        np.eye(4),
        np.ones((5, 1)),
        np.ones((40, 9)),
        np.zeros((40, 9)),
        np.repeat(np.eye(2), 20, axis=0),
        np.arange(-3, 4)[:, None],
    ],
)
def test_few_or_identical_rows_survive(z: Array) -> None:
    xy, name = map_coordinates(z, 0)
    assert xy.shape == (len(z), 2) and np.isfinite(xy).all()
    assert name in ("t-SNE", "PCA")


@pytest.mark.parametrize(
    ("rows", "installed", "name"),
    [
        (3_000, (), "t-SNE"),
        (3_001, (), "PCA"),
        (3_001, ("umap",), "UMAP"),
        (10_000, ("openTSNE", "umap"), "t-SNE"),
        (10_001, ("openTSNE", "umap"), "UMAP"),
        (20_000, ("openTSNE",), "t-SNE"),
        (20_001, ("openTSNE",), "PCA"),
        (100_001, ("openTSNE", "umap"), "PCA"),
    ],
)
def test_what_is_installed_and_the_size_choose_the_drawing(
    rows: int, installed: tuple[str, ...], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_spec", only(*installed))
    assert choose_drawing(rows)[0] == name


def test_umap_is_seeded_and_gets_fifty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stub:
        def __init__(self, **options: Any) -> None:
            self.options = options

        def fit_transform(self, rows: Array) -> Array:
            assert rows.shape == (80, 50)
            assert self.options == {"n_neighbors": 15, "random_state": 7, "n_jobs": 1}
            return np.ones((80, 2))

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=Stub))
    monkeypatch.setattr(module, "find_spec", only("umap"))
    monkeypatch.setattr(module, "SLOW_TSNE_ROWS", 10)
    assert map_coordinates(np.random.default_rng(0).normal(size=(80, 99)), 7)[1] == "UMAP"


def test_a_large_map_takes_fewer_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[int, int]] = []

    class Stub:
        def __init__(self, **options: Any) -> None:
            taken.append((options["early_exaggeration_iter"], options["n_iter"]))

        def fit(self, *_rows: Array, **known: Any) -> Array:
            return np.asarray(known.get("initialization", np.zeros((99, 2))))

    package = pytest.importorskip("openTSNE")
    monkeypatch.setattr(package, "TSNE", Stub)
    monkeypatch.setattr(module, "find_spec", only("openTSNE"))
    for most in (99, 98):
        monkeypatch.setattr(module, "TSNE_ROWS", most)
        monkeypatch.setattr(module, "SLOW_TSNE_ROWS", 0)
        map_coordinates(np.random.default_rng(0).normal(size=(99, 9)), 0)
    assert taken == [(100, 300), (40, 50)]


def test_a_large_map_is_drawn_by_the_neighbors_it_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("openTSNE")
    monkeypatch.setattr(module, "find_spec", only("openTSNE"))
    monkeypatch.setattr(module, "TSNE_ROWS", 99)
    monkeypatch.setattr(module, "SLOW_TSNE_ROWS", 0)
    z = np.random.default_rng(0).normal(size=(300, 40))
    near = nearest_all(z, module.NEAR)
    xy, name = map_coordinates(z, 0, near)
    assert name == "t-SNE"
    np.testing.assert_array_equal(map_coordinates(z, 0)[0], xy)
    other = np.roll(np.arange(300), 150)  # rows are near to those that others were near to
    swapped, _ = map_coordinates(z, 0, (other[near[0][other]], near[1][other]))
    assert _kept(swapped, other[near[0][other]]) > 0.3 > _kept(xy, other[near[0][other]])
    assert _kept(xy, near[0]) > 0.3


def _kept(xy: Array, near: Array) -> float:
    """Return how many of the nearest points are among the neighbors."""
    apart = np.linalg.norm(xy[:, None] - xy[None], axis=2)
    points = np.argsort(apart, axis=1)[:, 1:11]
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(points, near, strict=True)]))
