"""Invented graphs of any size."""

from pathlib import Path

import numpy as np
import pytest

from dgb.cli import main
from dgb.data.blocks import Blocks, make_blocks
from dgb.data.load import load_graph
from dgb.data.look.check import check_graph
from dgb.errors import DGBError

SMALL = Blocks(nodes=3000, edges=20_000, features=16, classes=5)


def test_the_same_numbers_make_the_same_graph(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_blocks(tmp_path / name, SMALL)
    for file in ("edges.npy", "nodes.npy", "labels.npy"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_classes_edges_degrees_and_features_are_as_asked(tmp_path: Path) -> None:
    make_blocks(tmp_path / "g", SMALL)
    graph = load_graph(tmp_path / "g")
    counts = check_graph(graph)
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (3000, 16, 5)
    assert 0.9 * 20_000 < graph.num_edges <= 20_000
    # 0.6 of the edges stay in a block, and a fifth of the others in the class by chance.
    assert counts["edge_homophily"] == pytest.approx(0.68, abs=0.04)
    assert counts["degree"]["max"] > 10 * counts["degree"]["median"]
    assert graph.labels is not None
    centres = np.stack([graph.x[graph.labels == k].mean(axis=0) for k in range(5)])
    assert np.abs(centres).max() > 0.1


def test_size_comes_from_the_command_line_and_mistakes_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "g")
    given = ["nodes=90", "edges=200", "features=4", "classes=3"]
    assert main(["data", "make", folder, *(w for s in given for w in ("--set", s))]) == 0
    assert load_graph(folder).num_nodes == 90
    assert main(["data", "make", folder]) == 2
    assert "not empty" in capsys.readouterr().err
    assert main(["data", "make", str(tmp_path / "h"), "--set", "node=3"]) == 2
    assert "did you mean 'nodes'?" in capsys.readouterr().err
    with pytest.raises(DGBError, match="at least 60 nodes"):
        make_blocks(tmp_path / "few", Blocks(nodes=59))
