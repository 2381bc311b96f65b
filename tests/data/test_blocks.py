"""Invented graphs of any size."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dgb.cli import main
from dgb.data.blocks import Blocks, make_blocks
from dgb.data.load import load_graph
from dgb.data.look.counts import count_graph
from dgb.errors import DGBError

SMALL = Blocks(nodes=3000, edges=20_000, features=16, classes=5)


def test_the_same_numbers_make_the_same_graph(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_blocks(tmp_path / name, SMALL)
    for file in ("edges.npy", "nodes.npy", "labels.npy"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_classes_edges_and_degrees_are_as_asked(tmp_path: Path) -> None:
    make_blocks(tmp_path / "g", SMALL)
    graph = load_graph(tmp_path / "g")
    counts = count_graph(graph)
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (3000, 16, 5)
    assert 0.9 * 20_000 < graph.num_edges <= 20_000
    # 0.4 of the edges stay in a block, and a fifth of the 0.2 that go anywhere in the class.
    assert counts["edge_homophily"] == pytest.approx(0.44, abs=0.04)
    assert counts["degree"]["max"] > 10 * counts["degree"]["median"]


def test_bordering_blocks_are_of_other_classes(tmp_path: Path) -> None:
    make_blocks(tmp_path / "g", replace(SMALL, homophily=0, bordering=1))
    source, target = np.load(tmp_path / "g" / "labels.npy")[np.load(tmp_path / "g" / "edges.npy")]
    assert set((source - target) % 5) == {1, 4}


def test_features_are_noise_around_centres_in_few_dimensions(tmp_path: Path) -> None:
    make_blocks(tmp_path / "g", replace(SMALL, nodes=20_000, latent=2, signal=2))
    size = np.linalg.svd(np.load(tmp_path / "g" / "nodes.npy"), compute_uv=False) / np.sqrt(20_000)
    assert size[1] > 2
    assert size[2:] == pytest.approx(1, abs=0.05)
    make_blocks(tmp_path / "noise", replace(SMALL, signal=0))
    assert np.load(tmp_path / "noise" / "nodes.npy").std() == pytest.approx(1, abs=0.02)


def test_pieces_join_without_gaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dgb.data.blocks.AT_ONCE", 999)
    make_blocks(tmp_path / "g", SMALL)
    assert np.abs(np.load(tmp_path / "g" / "nodes.npy")).max(axis=1).min() > 0
    edges = np.load(tmp_path / "g" / "edges.npy")
    assert (edges == 0).all(axis=0).mean() < 0.01
    assert (edges.min(), edges.max() < 3000) == (0, True)


def test_a_block_without_nodes_gets_no_edges(tmp_path: Path) -> None:
    # 15 blocks of 15 nodes: some stay empty, for one of these seeds the first one.
    for seed in range(20):
        small = Blocks(nodes=15, edges=5000, features=1, classes=5, homophily=1, bordering=0)
        make_blocks(tmp_path / str(seed), replace(small, seed=seed))
        labels = np.load(tmp_path / str(seed) / "labels.npy")
        source, target = labels[np.load(tmp_path / str(seed) / "edges.npy")]
        assert (source == target).all()


def test_size_comes_from_the_command_line_and_mistakes_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "g")
    given = ["nodes=90", "edges=200", "features=4", "classes=3"]
    assert main(["data", "make", folder, *(w for s in given for w in ("--set", s))]) == 0
    assert load_graph(folder).num_nodes == 90
    kind = ["--kind", "noise-features", "--set", "nodes=300"]
    assert main(["data", "make", str(tmp_path / "kind"), *kind]) == 0
    assert load_graph(tmp_path / "kind").x.std() == pytest.approx(1, abs=0.05)
    assert main(["data", "make", str(tmp_path / "other"), "--kind", "noise-feature"]) == 2
    assert "did you mean 'noise-features'?" in capsys.readouterr().err
    assert main(["data", "make", folder]) == 2
    assert "not empty" in capsys.readouterr().err
    assert main(["data", "make", str(tmp_path / "h"), "--set", "node=3"]) == 2
    assert "did you mean 'nodes'?" in capsys.readouterr().err
    with pytest.raises(DGBError, match="at least 60 nodes"):
        make_blocks(tmp_path / "few", Blocks(nodes=59))
    with pytest.raises(DGBError, match="add up to 1 at most"):
        make_blocks(tmp_path / "much", replace(SMALL, homophily=0.7, bordering=0.5))
