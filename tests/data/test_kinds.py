"""Files are known by their first bytes, whatever they are called."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas as pd
import pytest
import torch
from scipy import io, sparse

from dgb.cli import main
from dgb.data.formats.npz import write_npz
from dgb.data.formats.pyg import to_pyg
from dgb.data.graph import Graph
from dgb.data.load import load_graph, load_hetero
from dgb.errors import DGBError
from dgb.files.kinds import find_kind, is_parts

EDGES = pd.DataFrame({"source": ["a", "b", "c", "d"], "target": ["b", "c", "d", "a"]})
NODES = pd.DataFrame({"id": ["a", "b", "c", "d"], "size": [1.5, 2, 3, 4], "kind": list("xyxy")})


def check(graph: Graph) -> None:
    assert graph.node_ids.tolist() == ["a", "b", "c", "d"]
    assert graph.num_edges == 4 and graph.num_features == 3


def test_a_heco_folder_whose_npz_is_an_npy_inside(tmp_path: Path) -> None:
    for kind, width in (("p", 3), ("t", 2)):
        x = np.random.default_rng(width).random((5, width))
        sparse.save_npz(tmp_path / f"{kind}_feat.npz", sparse.coo_matrix(x))
    with (tmp_path / "t_feat.npz").open("wb") as file:  # as in HeCo's DBLP
        np.save(file, np.eye(5))
    (tmp_path / "pt.txt").write_text("".join(f"{i}\t{(2 * i) % 5}\n" for i in range(5)))
    graph = load_hetero(tmp_path, target="p")
    assert np.asarray(graph.nodes["t"].x).tolist() == np.eye(5).tolist()
    assert graph.nodes["p"].x is not None and graph.nodes["p"].x.shape == (5, 3)


WRITE: dict[str, tuple[Callable[[Path, Graph], Any], str]] = {
    "npy": (lambda path, g: np.save(path.open("wb"), np.stack(g.adjacency.nonzero())), "npy"),
    "npz": (lambda path, g: write_npz(path, g), "npz"),
    "sparse": (lambda path, g: sparse.save_npz(path.open("wb"), g.adjacency), "npz"),
    "mtx": (lambda path, g: io.mmwrite(path.open("wb"), g.adjacency), "mtx"),
    "pt": (lambda path, g: torch.save(to_pyg(g), path), "pt"),
    "graphml": (
        lambda path, g: networkx.write_graphml(networkx.Graph(g.adjacency), path),
        "graphml",
    ),
    "parquet": (lambda path, _: EDGES.to_parquet(path), "parquet"),
    "packed": (lambda path, _: path.write_bytes(gzip.compress(b"a,b\nb,c\nc,d\nd,a\n")), "text"),
}


@pytest.mark.parametrize("called", ["edges.csv", "edges.npy", "edges.pt", "edges.txt"])
@pytest.mark.parametrize("form", WRITE)
def test_a_file_by_another_name(tmp_path: Path, blocks: Graph, form: str, called: str) -> None:
    write, kind = WRITE[form]
    write(tmp_path / "written", blocks)
    path = (tmp_path / "written").rename(tmp_path / called)
    if form == "packed" and not called.endswith((".csv", ".txt")):
        return  # text has no first bytes of its own
    assert find_kind(path) == kind
    graph = load_graph(path)
    assert graph.num_edges == (4 if kind in ("text", "parquet") else blocks.num_edges)


def test_a_matrix_of_nodes_and_a_table_by_each_other_s_names(tmp_path: Path) -> None:
    np.save((tmp_path / "nodes.csv").open("wb"), np.eye(4))
    (tmp_path / "edges.csv").write_text("0,1\n1,2\n2,3\n")
    assert np.asarray(load_graph(tmp_path).x).tolist() == np.eye(4).tolist()
    (tmp_path / "nodes.csv").unlink()
    NODES.to_parquet(tmp_path / "nodes.npz")
    EDGES.to_csv(tmp_path / "edges.csv", index=False)
    check(load_graph(tmp_path))


def test_a_broken_file_is_refused_by_what_it_begins_as(tmp_path: Path) -> None:
    for begin, words in (
        (b"\x93NUMPY", r"not a readable \.npy"),
        (b"PAR1", "not a readable Parquet"),
        (b"\x1f\x8b", "cannot be read"),
        (b"%%MatrixMarket", "not a readable MatrixMarket"),
        (b"<?xml ", "not a readable GraphML"),
    ):
        (tmp_path / "edges.csv").write_bytes(begin + b"\x00 and no more")
        with pytest.raises(DGBError, match=words):
            load_graph(tmp_path / "edges.csv")


def write_parts(folder: Path, frame: pd.DataFrame) -> None:
    folder.mkdir()
    for i, part in enumerate((frame[:2], frame[2:])):
        part.to_parquet(folder / f"part-0000{i}-c0ffee-c000.snappy.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "._SUCCESS.crc").write_bytes(b"crc")


@pytest.mark.parametrize("name", ["{}.parquet", "{}"])
def test_b13_folders_that_spark_writes(tmp_path: Path, name: str) -> None:
    for what, frame in (("edges", EDGES), ("nodes", NODES)):
        write_parts(tmp_path / name.format(what), frame)
    assert is_parts(tmp_path / name.format("edges"))
    check(load_graph(tmp_path))
    edges = tmp_path / name.format("edges")
    check(load_graph(edges, nodes=tmp_path / name.format("nodes")))
    assert load_graph(edges).name == tmp_path.name


def test_b13_a_fault_in_a_folder_of_parts_names_its_row(tmp_path: Path) -> None:
    write_parts(tmp_path / "edges.parquet", EDGES)
    write_parts(tmp_path / "nodes.parquet", NODES[:3])
    with pytest.raises(DGBError, match=r"edges\.parquet row 3: node 'd'"):
        load_graph(tmp_path)


@pytest.mark.parametrize("form", ["jsonl", "ndjson", "json", "jsonl.gz"])
def test_b14_json_lines_and_lists(tmp_path: Path, form: str) -> None:
    for what, frame in (("edges", EDGES), ("nodes", NODES)):
        rows = frame.to_dict("records")
        text = json.dumps(rows) if form == "json" else "\n".join(map(json.dumps, rows))
        content = gzip.compress(text.encode()) if form.endswith("gz") else text.encode()
        (tmp_path / f"{what}.{form}").write_bytes(content)
    check(load_graph(tmp_path))


def test_b14_cells_of_json_that_are_not_alike(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": 1, "a": 1, "v": [1, 0]}, {"id": 2, "a": "x", "v": [0, 1]}]
    rows += [{"id": 3, "tags": ["x", "y"], "v": None}]
    (tmp_path / "nodes.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "edges.jsonl").write_text(
        '{"source": 1, "target": 2}\n\n{"source": 2, "target": 3}'
    )
    graph = load_graph(tmp_path)
    assert graph.encoding is not None
    names = graph.encoding.feature_names()
    assert names == ["a=1", "a=x", "v#0", "v#1", "v=missing", 'tags=["x", "y"]']


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"source": 1,\n', r"edges\.jsonl:1: not JSON"),
        ("[" * 100_000, "not readable JSON"),
        ('{"a": ' + "[" * 100_000, r"edges\.jsonl:1: not JSON"),
        ("1\n2\n", "rows must be objects"),
        ("", "rows must be objects"),
    ],
)
def test_b14_json_that_is_no_table(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "edges.jsonl").write_text(text)
    with pytest.raises(DGBError, match=message):
        load_graph(tmp_path)


def test_b14_workbooks(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    for what, frame in (("edges", EDGES), ("nodes", NODES)):
        frame.to_excel(tmp_path / f"{what}.xlsx", index=False)
    check(load_graph(tmp_path))
    book = openpyxl.load_workbook(tmp_path / "nodes.xlsx")
    book.create_sheet("more")
    book.save(tmp_path / "nodes.xlsx")
    with pytest.raises(DGBError, match="holds the sheets Sheet1, more; leave one"):
        load_graph(tmp_path)


def test_b14_a_workbook_without_its_reader(tmp_path: Path, monkeypatch: Any) -> None:
    EDGES.to_excel(tmp_path / "edges.xlsx", index=False)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(DGBError, match=r"pip install 'deep-graph-bootstrapping\[excel\]'"):
        load_graph(tmp_path)


def test_b14_a_workbook_of_one_cell_far_away_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in range(1, 60):
        book.active.cell(row, 16_384, "x")
    book.save(tmp_path / "edges.xlsx")
    monkeypatch.setattr("dgb.files.limits.free_bytes", lambda: 2e7)
    with pytest.raises(DGBError, match="takes more than"):
        load_graph(tmp_path)


def test_b14_other_encodings(tmp_path: Path, capsys: Any) -> None:
    rows = "id,f\nBjörn,1\nZoë,0\n"
    (tmp_path / "edges.csv").write_text("source,target\nBjörn,Zoë\n", "cp1252")
    (tmp_path / "nodes.csv").write_text(rows, "cp1252")
    with pytest.raises(DGBError, match=r":2: not UTF-8 text; .*data\.charset=cp1252"):
        load_graph(tmp_path)
    assert load_graph(tmp_path, charset="cp1252").node_ids.tolist() == ["Björn", "Zoë"]
    assert main(["data", "check", str(tmp_path), "--encoding", "cp1252"]) == 0
    capsys.readouterr()
    assert main(["data", "check", str(tmp_path), "--encoding", "cp9999"]) == 2
    assert "there is no encoding 'cp9999'" in capsys.readouterr().err
    for name in ("edges.csv", "nodes.csv"):
        text = (tmp_path / name).read_text("cp1252")
        (tmp_path / name).write_text(text, "utf-16")
    assert load_graph(tmp_path).node_ids.tolist() == ["Björn", "Zoë"]


def test_b14_an_address_is_told(capsys: Any) -> None:
    assert main(["data", "check", "https://example.com/edges.csv"]) == 2
    assert "dgb: https://example.com/edges.csv is an address; download" in capsys.readouterr().err
