"""What `dgb data check` tells of a heterogeneous graph."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from dgb.cli import main
from dgb.data.load import is_hetero, load_graph, load_hetero
from dgb.data.look.counts import count_graph
from dgb.data.look.trouble import trouble
from dgb.data.typed.graph import make_hetero_graph, make_node_type, make_relation
from dgb.errors import DGBError

from .test_folder import CAST, FILES, write


def test_counts_of_types_and_relations() -> None:
    x = np.array([[1.0, 0], [0, 0], [2, 3], [0, 0]])
    acts = sparse.coo_array((np.ones(3), ([0, 0, 1], [0, 2, 2])), shape=(2, 4))
    sequels = sparse.coo_array((np.ones(1), ([0], [1])), shape=(4, 4))
    graph = make_hetero_graph(
        "toy",
        {"movie": make_node_type(np.arange(4), x), "actor": make_node_type(np.arange(2))},
        [
            make_relation("actor", "acts", "movie", acts),
            make_relation("movie", "follows", "movie", sequels),
        ],
        "movie",
        labels=np.array([0, 1, -1, 1]),
    )
    counts = count_graph(graph)
    assert (counts["nodes"], counts["edges"], counts["target"]) == (6, 4, "movie")
    movies = {"nodes": 4, "features": 2, "non_zero": 3 / 8, "isolated": 1}
    assert counts["types"]["movie"] == movies
    assert counts["types"]["actor"] == {
        "nodes": 2,
        "features": 0,
        "non_zero": None,
        "isolated": 0,
    }
    acted = {"edges": 3, "per_source": 1.5, "per_target": 0.75}
    assert counts["relations"]["actor-acts-movie"] == acted
    followed = {"edges": 1, "per_source": 0.5, "per_target": 0.5}
    assert counts["relations"]["movie-follows-movie"] == followed
    assert (counts["classes"], counts["unlabelled"]) == (2, 1)
    assert "1 nodes of type movie (25%) have no edge" in trouble(graph, counts)[0]


def test_a_folder_is_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "films", FILES | {"edges/movie-town.csv": "1,Rome\n2,Bonn\n"})
    assert main(["data", "check", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    cells = {line.split()[0]: line.split()[1:] for line in lines if line.strip()}
    assert cells["target"] == ["movie"]
    assert cells["movie"][:2] == ["3", "1"]
    assert cells["town"] == ["2", "0", "-", "0"]
    assert cells["movie-to-actor"][0] == "3"
    assert cells["splits"] == ["train", "1,", "validation", "1,", "test", "1"]
    assert "- nodes of type town have no rows and are those that edges name" in lines
    assert main(["data", "check", str(folder), "--set", "data.target=actor"]) == 0
    assert "actor" in capsys.readouterr().out.splitlines()[3]


def test_each_of_two_loaders_says_whose_graph_it_is(tmp_path: Path) -> None:
    hetero = write(tmp_path / "hetero", FILES)
    homo = write(tmp_path / "homo", {"edges.csv": CAST})
    assert (is_hetero(hetero), is_hetero(homo), is_hetero("cora")) == (True, False, False)
    assert load_hetero(hetero).num_nodes == 6
    assert load_graph(homo).num_nodes == 3
    with pytest.raises(DGBError, match=r"several types of nodes.*load_hetero"):
        load_graph(hetero)
    with pytest.raises(DGBError, match=r"not a heterogeneous graph.*edges/SOURCE-TARGET"):
        load_hetero(homo)
    with pytest.raises(DGBError, match=r"one type; data\.target"):
        load_graph(homo, target="movie")
    with pytest.raises(DGBError, match=r"leave data\.nodes and data\.labels out"):
        load_hetero(hetero, labels="labels.csv")
    with pytest.raises(DGBError, match=r"unknown key data\.traget"):
        load_hetero(hetero, traget="movie")


def test_a_place_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match="does not exist"):
        load_hetero(tmp_path / "nowhere")
    with pytest.raises(DGBError, match="no data set called 'imbd'"):
        load_hetero("imbd")
