import sys
from pathlib import Path

import numpy as np
import pytest

from dgb.arrays import Array
from dgb.drawing import PALETTE, UNLABELLED
from dgb.errors import DGBError
from dgb.reproduce.figures import (
    Panel,
    Silhouette,
    draw_panels,
    silhouette,
    tsne,
)


def clouds(spread: float) -> tuple[Array, Array]:
    """Return 60 rows around three directions and their labels."""
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    return np.eye(8)[labels] + spread * rng.standard_normal((60, 8)), labels


def panel(title: str) -> Panel:
    z, labels = clouds(0.1)
    points = tsne(z, seed=0, perplexity=10)
    labels[0] = -1
    scores = silhouette(z, points, labels)
    return Panel(title, points, labels, ("a", "b", "c_d"), scores)


def test_the_plane_keeps_classes_apart_and_a_seed_fixes_it() -> None:
    z, labels = clouds(0.1)
    points = tsne(z, seed=3, perplexity=10)
    assert points.shape == (60, 2)
    assert np.array_equal(points, tsne(z, seed=3, perplexity=10))
    assert np.allclose(points, tsne(z * np.arange(1, 61)[:, None], 3, 10), atol=1)  # directions
    assert silhouette(z, points, labels).plane > 0.5


def test_silhouette_is_high_for_classes_apart_and_near_zero_for_noise() -> None:
    z, labels = clouds(0.05)
    far = silhouette(z, z[:, :2], labels)
    noise = np.random.default_rng(1).standard_normal((60, 8))
    mixed = silhouette(noise, noise[:, :2], labels)
    assert isinstance(far, Silhouette)
    assert far.embedding > 0.9
    assert abs(mixed.embedding) < 0.1
    assert abs(mixed.plane) < 0.1


def test_panels_are_written_twice_the_same(tmp_path: Path) -> None:
    panels = [panel("DGB"), panel("p = 0"), panel("p = 1")]
    first = draw_panels(panels, tmp_path / "new" / "figure2")
    second = draw_panels(panels, tmp_path / "again.of" / "figure2.v2")
    assert [path.name for path in first] == ["figure2.png", "figure2.svg"]
    assert [path.name for path in second] == ["figure2.v2.png", "figure2.v2.svg"]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert not list(tmp_path.rglob("*.part"))


def test_every_node_is_drawn_in_the_colour_of_its_class(tmp_path: Path) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.image import imread

    drawn, _ = draw_panels([panel("DGB")], tmp_path / "figure2")
    pixels = (imread(drawn)[..., :3] * 255).round().astype(int).reshape(-1, 3)
    counts = {
        colour: int((np.abs(pixels - np.array(to_rgb(colour)) * 255).max(axis=1) <= 2).sum())
        for colour in (*PALETTE[:4], UNLABELLED)
    }
    one, two, three, fourth, unlabelled = counts.values()
    assert min(one, two, three) > 500  # twenty discs each, and one in the legend
    assert fourth == 0 and 10 < unlabelled < one / 5  # a single node has no label
    whole = (tmp_path / "figure2.svg").read_text("utf-8")
    assert "<svg" in whole and whole.count("<image") == 1


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    z, labels = clouds(0.1)
    with pytest.raises(DGBError, match="perplexity"):
        tsne(z, perplexity=60)
    with pytest.raises(DGBError, match="two classes"):
        silhouette(z, z, np.zeros(60, int))
    with pytest.raises(DGBError, match="at most 8"):
        names = tuple("abcdefghi")
        draw_panels([Panel("", z[:, :2], labels, names, Silhouette(0, 0))], tmp_path / "x")
    with pytest.raises(DGBError, match="no panel"):
        draw_panels([], tmp_path / "x")


def test_a_missing_matplotlib_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(DGBError, match="plot"):
        draw_panels([panel("DGB")], tmp_path / "figure2")
