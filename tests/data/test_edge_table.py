"""Edges with and without names, ids as they are written, weights, and unknown ends."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dgb.data.graph import Graph
from dgb.data.tables.from_tables import graph_from_tables
from dgb.data.tables.source import read_table, table_of
from dgb.errors import DGBError
from dgb.recipe import Data


def graph_of(tmp_path: Path, text: str, nodes: str = "", **reading: Any) -> Graph:
    (tmp_path / "edges.csv").write_text(text, "utf-8")
    (tmp_path / "nodes.csv").write_text(nodes, "utf-8")
    edges = read_table(tmp_path / "edges.csv", has_names=False)
    rows = read_table(tmp_path / "nodes.csv") if nodes else None
    return graph_from_tables("g", edges, rows, None, Data(**reading))


def pairs(graph: Graph) -> set[tuple[Any, Any]]:
    ids, (row, col) = graph.node_ids.tolist(), graph.adjacency.nonzero()
    return {(ids[i], ids[j]) for i, j in zip(row, col, strict=True) if i < j}


def test_ids_stay_as_they_are_written(tmp_path: Path) -> None:
    nodes = 'id,f\n007,1\n7,0\n1.0,1\n1,0\nçé,1\n"a,b",0\n9223372036854775808,1\n'
    text = 'source,target\n007,7\n1.0,1\nçé,"a,b"\n7,9223372036854775808\n'
    graph = graph_of(tmp_path, text, nodes)
    assert graph.node_ids.tolist() == ["007", "7", "1.0", "1", "çé", "a,b", "9223372036854775808"]
    assert pairs(graph) == {("007", "7"), ("1.0", "1"), ("çé", "a,b"), ("7", "9223372036854775808")}


def test_whole_numbers_come_out_as_integers(tmp_path: Path) -> None:
    big = 2**63 - 1
    graph = graph_of(tmp_path, f"10,9\n9,{big}\n-3,10\n")
    assert graph.node_ids.dtype == np.int64
    assert graph.node_ids.tolist() == [-3, 9, 10, big]
    assert pairs(graph) == {(9, 10), (9, big), (-3, 10)}


@pytest.mark.parametrize("odd", ["007", "+1", "1.0", "-0", "9223372036854775808", "１"])
def test_one_odd_id_leaves_all_of_them_text(tmp_path: Path, odd: str) -> None:
    graph = graph_of(tmp_path, f"source,target\n2,{odd}\n1,2\n")
    assert graph.node_ids.tolist() == ["2", odd, "1"]


def test_text_ids_without_rows_stand_in_order_of_appearance(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, "source,target\nz,b\na,z\nb,c\n")
    assert graph.node_ids.tolist() == ["z", "b", "a", "c"]
    assert graph.encoding is not None
    assert graph.encoding.structure == "walk"
    assert "made of the edges" in graph.notes[-1]


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        ("Source,Target", True),
        ("FROM,to", True),
        ("u,v", True),
        ("node1,node2", True),
        ("paper,cites", True),  # no numbers above numbers
        ("3,4", False),
        ("paper,4", False),
    ],
)
def test_a_first_row_of_names(tmp_path: Path, first: str, is_header: bool) -> None:
    graph = graph_of(tmp_path, f"{first}\n1,2\n2,5\n")
    assert graph.num_edges == (2 if is_header else 3)


def test_names_that_are_not_well_known_are_told(tmp_path: Path) -> None:
    assert graph_of(tmp_path, "paper,cites\n1,2\n").notes[0] == (
        "edges.csv:1: taken for names of columns: paper, cites"
    )


def test_letters_above_letters_are_an_edge(tmp_path: Path) -> None:
    assert pairs(graph_of(tmp_path, "a,b\nb,c\n")) == {("a", "b"), ("b", "c")}


def test_a_first_edge_that_may_be_names_is_told(tmp_path: Path) -> None:
    note = graph_of(tmp_path, "person,friend\nann,bob\nbob,cy\n").notes[0]
    assert note.startswith("edges.csv:1: person and friend was read as an edge")
    assert "call them source and target" in note
    for text in ("ann,bob\nbob,cy\n", "ann,bob\n", "1,2\n3,4\n", "source,target\na,b\n"):
        assert "read as an edge" not in "".join(graph_of(tmp_path, text).notes)


def test_known_nodes_tell_names_from_edges(tmp_path: Path) -> None:
    nodes = "id,f\nu,1\nv,0\nsource,1\n"
    assert pairs(graph_of(tmp_path, "u,v\nv,source\n", nodes)) == {("u", "v"), ("v", "source")}
    assert pairs(graph_of(tmp_path, "source,target\nu,v\n", nodes)) == {("u", "v")}
    assert pairs(graph_of(tmp_path, "one,two\nu,v\n", nodes)) == {("u", "v")}
    with pytest.raises(DGBError, match=r"edges\.csv:1: node '8'"):
        graph_of(tmp_path, "8,9\nu,v\n", nodes)


def test_ends_are_found_by_name_behind_other_columns(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, "year,source,target\n1990,a,b\n1991,b,c\n")
    assert pairs(graph) == {("a", "b"), ("b", "c")}
    assert graph.notes[0] == "edges.csv: columns that are not used: year"


def test_snap_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "web.txt"
    path.write_text("# Directed graph: web.txt\n# FromNodeId\tToNodeId\n0\t11\n11\t0\n0\t2\n")
    edges = read_table(path, has_names=False)
    graph = graph_from_tables("web", edges, None, None, Data())
    assert (graph.node_ids.tolist(), graph.num_edges) == ([0, 2, 11], 2)


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("source,target,Weight\n1,2,.5\n2,3,4\n", {}),
        ("source,target,weight,w\n1,2,1,.5\n2,3,1,4\n", {"weight": "w"}),
        ("1,2,.5\n2,3,4\n", {}),
    ],
)
def test_weights(tmp_path: Path, text: str, reading: dict[str, str]) -> None:
    graph = graph_of(tmp_path, text, **reading)
    assert graph.adjacency.toarray().tolist() == [[0, 0.5, 0], [0.5, 0, 4], [0, 4, 0]]


def test_a_third_column_of_words_is_no_weight(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, "1,2,cites\n2,3,likes\n")
    assert graph.adjacency.data.tolist() == [1] * 4
    assert graph.notes[0] == "edges.csv: columns that are not used: 3"


@pytest.mark.parametrize("cell", ["-1", "x", "", "inf", "nan", "1e300", '"0,5"'])
def test_impossible_weights_are_told_with_their_line(tmp_path: Path, cell: str) -> None:
    with pytest.raises(DGBError, match=r"from 0 to 3.4e38, 1 in all: edges\.csv:4: weight is"):
        graph_of(tmp_path, f"source,target,weight\n1,2,1\n\n2,3,{cell}\n3,4,1\n4,5,2\n")


@pytest.mark.parametrize(
    ("cells", "reading", "weights"),
    [
        (("307,56", "0,5", "4"), {}, [307.56, 0.5, 4]),
        (("1,007", "2,300", "950"), {"decimal": "point"}, [1007, 2300, 950]),
        (("1,007", "2,300", "1,950"), {"decimal": "comma"}, [1.007, 2.3, 1.95]),
        (("1,007,000.5", "2,300", "7"), {}, [1007000.5, 2300, 7]),
    ],
)
def test_weights_are_read_with_commas_as_features_are(
    tmp_path: Path, cells: tuple[str, ...], reading: dict[str, str], weights: list[float]
) -> None:
    rows = "".join(f"{i};{i + 1};{cell}\n" for i, cell in enumerate(cells))
    for head, asked in (("source;target;amount\n", {"weight": "amount"}), ("", {})):
        graph = graph_of(tmp_path, head + rows, **reading, **asked)
        assert graph.adjacency.diagonal(1).tolist() == pytest.approx(weights)
        assert any("edges.csv: numbers such as" in note for note in graph.notes)
    bare = graph_of(tmp_path, "source;target;amount\n" + rows, **reading)
    assert any("data.weight=amount would take" in note for note in bare.notes)


def test_commas_of_weights_that_mean_either_are_not_guessed(tmp_path: Path) -> None:
    text = "source;target;weight\n1;2;1,007\n2;3;2,300\n3;4;1,950\n"
    with pytest.raises(DGBError, match=r"3 in all: .*say by data.decimal=comma or point"):
        graph_of(tmp_path, text)


def test_a_weight_column_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match=r"'wieght' \(data.weight\); did you mean 'weight'\?"):
        graph_of(tmp_path, "source,target,weight\n1,2,1\n", weight="wieght")
    with pytest.raises(DGBError, match="no row of column names"):
        graph_of(tmp_path, "1,2,1\n", weight="w")


def test_missing_ids_are_told_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match=r"2 in all: edges\.csv:3: target is empty; edges\.csv:5"):
        graph_of(tmp_path, "source,target\n1,2\n2,\n3,1\n4, \n")
    edges = table_of(pd.DataFrame({"source": [1, None], "target": [2, 3]}), "edges")
    with pytest.raises(DGBError, match="row 2 of edges: source is empty"):
        graph_from_tables("g", edges, None, None, Data())


def test_unknown_ends_are_counted_and_five_are_named(tmp_path: Path) -> None:
    lines = "".join(f"a,x{i}\n" for i in range(7))
    with pytest.raises(DGBError) as caught:
        graph_of(tmp_path, f"source,target\na,b\n{lines}y,z\n", "id,f\na,1\nb,0\n")
    message = str(caught.value)
    assert "8 in all: edges.csv:3: node 'x0'; edges.csv:4: node 'x1'" in message
    assert "x4" in message and "x5" not in message
    assert "and 3 more" in message and "data.unknown=drop" in message


def test_unknown_ends_are_dropped_on_demand(tmp_path: Path) -> None:
    text = "source,target,weight\nx,a,9\na,b,2\nb,y,9\nb,b,1\n"
    graph = graph_of(tmp_path, text, "id,f\na,1\nb,0\n", unknown="drop")
    assert graph.adjacency.toarray().tolist() == [[0, 2], [2, 0]]
    assert "edges.csv: edges to nodes without a row, left out: 2" in graph.notes
    assert "edges.csv: edges from a node to itself, left out: 1" in graph.notes


@pytest.mark.parametrize("ids", [[1, 2, 3], ["1", "2", "3"]])
@pytest.mark.parametrize("ends", [[1, 2], ["1", "2"], [1.0, 2.0]])
def test_integers_match_integers_and_else_text(ids: list[Any], ends: list[Any]) -> None:
    nodes = table_of({"id": ids, "f": [1, 0, 1]}, "nodes")
    edges = table_of({"source": ends, "target": ends[::-1]}, "edges")
    graph = graph_from_tables("g", edges, nodes, None, Data())
    assert graph.node_ids.tolist() == ids
    assert (graph.num_edges, graph.adjacency[0, 1]) == (1, 1)


def test_one_column_is_no_table_of_edges(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match="has one column"):
        graph_of(tmp_path, "1\n2\n")


def test_many_edges_are_read_in_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = np.random.default_rng(0).integers(0, 50_000, (200_000, 2))
    path = tmp_path / "many.txt"
    path.write_text("# many\n" + "\n".join(f"{a}\t{b}" for a, b in ends.tolist()))
    rows: list[int] = []
    monkeypatch.setattr("dgb.data.tables.table.records", lambda _: rows.append(1))  # the slow scan
    graph = graph_from_tables(
        "many", read_table(path, has_names=False), None, None, Data(structure="degree")
    )
    assert rows == []
    assert graph.node_ids.tolist() == np.unique(ends).tolist()
    different = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    assert graph.num_edges == len(np.unique(different, axis=0))
