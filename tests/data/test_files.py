"""Files and folders to graphs, and what is said where there are none."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dgb.data.load import load_graph
from dgb.errors import DGBError

EDGES = "source,target\na,b\nb,c\n"
NODES = "id,age,team\na,20,x\nb,30,y\nc,70,x\n"
LABELS = "id,label,split\na,1,train\nb,0,val\nc,1,test\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a graph as three tables."""
    folder = tmp_path / "company"
    folder.mkdir()
    for name, text in (("edges", EDGES), ("nodes", NODES), ("labels", LABELS)):
        (folder / f"{name}.csv").write_text(text)
    return folder


def test_a_folder_is_a_graph(folder: Path) -> None:
    graph = load_graph(folder)
    assert (graph.name, graph.num_nodes, graph.num_edges) == ("company", 3, 2)
    assert graph.encoding is not None
    assert graph.encoding.feature_names() == ["age", "team=x", "team=y"]
    assert graph.labels is not None
    assert graph.labels.tolist() == [1, 0, 1]
    assert graph.splits[0].validation.tolist() == [1]


def test_a_file_of_edges_with_others_beside_it_is_the_same_graph(folder: Path) -> None:
    whole = load_graph(str(folder))
    graph = load_graph(
        folder / "edges.csv", nodes=folder / "nodes.csv", labels=str(folder / "labels.csv")
    )
    assert graph.name == "company"
    assert np.array_equal(graph.x, whole.x)
    assert (graph.label_names, graph.encoding) == (whole.label_names, whole.encoding)


def test_text_packed_text_and_parquet_are_the_same_graph(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "edges.tsv.gz").write_bytes(gzip.compress(EDGES.replace(",", "\t").encode()))
    pd.read_csv(folder / "nodes.csv").to_parquet(other / "Nodes.parquet")
    (other / "labels.txt").write_text(LABELS.replace(",", " ").replace("label", "class"))
    one, two = load_graph(folder), load_graph(other)
    assert np.array_equal(one.x, two.x)
    assert one.node_ids.tolist() == two.node_ids.tolist()
    assert abs(one.adjacency - two.adjacency).nnz == 0
    assert (one.encoding, one.label_names) == (two.encoding, two.label_names)


def test_a_folder_without_rows_gets_features_of_the_edges(folder: Path) -> None:
    (folder / "nodes.csv").unlink()
    graph = load_graph(folder, structure="degree")
    assert graph.encoding is not None
    assert graph.encoding.structure == "degree"
    assert graph.label_names == ("0", "1")


def test_new_rows_in_the_columns_of_a_run(folder: Path, tmp_path: Path) -> None:
    run = load_graph(folder).encoding
    later = tmp_path / "later"
    later.mkdir()
    (later / "edges.csv").write_text("source,target\nd,e\n")
    (later / "nodes.csv").write_text("team,id,age\nz,d,20\ny,e,30\n")
    graph = load_graph(later, encoding=run)
    assert graph.encoding == run
    assert np.array_equal(graph.x[:, 0], load_graph(folder).x[:2, 0])
    assert graph.x[:, 1:].tolist() == [[0, 0], [0, 1]]


def test_features_as_a_matrix_beside_the_edges(tmp_path: Path) -> None:
    x = np.array([[1, 0], [0, 5], [2, 2]], np.float32)
    np.save(tmp_path / "nodes.npy", x)
    (tmp_path / "edges.csv").write_text("0,1\n1,2\n")
    (tmp_path / "labels.csv").write_text("id,label\n2,x\n")
    graph = load_graph(tmp_path)
    assert np.array_equal(graph.x, x)
    assert (graph.node_ids.tolist(), graph.num_edges) == ([0, 1, 2], 2)
    assert graph.labels is not None
    assert graph.labels.tolist() == [-1, -1, 0]
    (tmp_path / "edges.csv").write_text("0,1\n1,3\n")
    with pytest.raises(DGBError, match=r"edges\.csv:2: node '3'"):
        load_graph(tmp_path)


def test_two_files_of_edges_are_one_too_many(folder: Path) -> None:
    (folder / "edges.parquet").write_bytes(b"")
    with pytest.raises(DGBError, match=r"holds edges\.csv, edges\.parquet; leave one"):
        load_graph(folder)


def test_rows_that_cannot_be_read_are_not_passed_over(folder: Path) -> None:
    (folder / "nodes.csv").rename(folder / "nodes.ods")
    with pytest.raises(DGBError, match=r"nodes\.ods: not a table of a known form"):
        load_graph(folder)


def test_a_folder_without_edges_says_what_it_holds(folder: Path) -> None:
    (folder / "edges.csv").rename(folder / "links.csv")
    with pytest.raises(DGBError, match=r"it holds labels\.csv, links\.csv, nodes\.csv"):
        load_graph(folder)


@pytest.mark.parametrize(
    ("place", "reading", "message"),
    [
        ("egdes.csv", {}, r"egdes\.csv does not exist; did you mean edges\.csv\?"),
        (
            "zzz.parquet",
            {},
            r"does not exist; its folder holds edges\.csv, labels\.csv, nodes\.csv",
        ),
        ("no/edges.csv", {}, "nor does its folder"),
        ("edges.csv", {"nodes": "node.csv"}, r"node\.csv does not exist"),
        ("edges.csv", {"labels": "zz.csv"}, r"zz\.csv does not exist"),
    ],
)
def test_a_path_that_does_not_exist(
    folder: Path, place: str, reading: dict[str, str], message: str
) -> None:
    files: dict[str, Any] = {key: str(folder / name) for key, name in reading.items()}
    with pytest.raises(DGBError, match=message):
        load_graph(folder / place, **files)


def test_an_unknown_form_lists_the_known_ones(folder: Path) -> None:
    (folder / "graph.ods").write_bytes(b"x")
    with pytest.raises(DGBError, match=r"not a file of a known form.*\.csv.*\.parquet"):
        load_graph(folder / "graph.ods")


def test_an_unknown_name_may_be_a_path() -> None:
    with pytest.raises(DGBError, match="or give a file or folder"):
        load_graph("nothing-of-this-name")


def test_a_public_name_wins_over_a_folder_of_that_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.rename(folder.parent / "cora")
    monkeypatch.chdir(folder.parent)
    assert load_graph("cora").num_nodes == 2708
    assert load_graph("./cora").num_nodes == 3


def test_a_folder_is_found_without_a_slash(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    assert load_graph("company").num_nodes == 3
    monkeypatch.chdir(folder)
    assert load_graph(".").name == "company"


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ({"lable": "x"}, r"unknown key data\.lable; did you mean 'label'\?"),
        ({"text": "letters"}, r"data\.text must be one of"),
        ({"drop": 3}, r"data\.drop must be text"),
    ],
)
def test_wrong_keys_of_reading(folder: Path, reading: dict[str, Any], message: str) -> None:
    with pytest.raises(DGBError, match=message):
        load_graph(folder, **reading)


def test_a_public_graph_takes_no_files_of_nodes(folder: Path) -> None:
    with pytest.raises(DGBError, match="cora has its own nodes"):
        load_graph("cora", nodes=str(folder / "nodes.csv"))
