"""Lists of edges as people have them: which columns are the ends, odd ids, odd weights."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dgb.cli import main
from dgb.data.graph import Graph
from dgb.data.load import load_graph
from dgb.data.objects import to_graph
from dgb.errors import DGBError
from tests.data.test_edge_table import pairs
from tests.data.test_messy import folder

ROWS = "id,f,g\n" + "".join(f"{i},{i % 3},{i * i}\n" for i in range(30))
WANTED = {tuple(sorted((i, (3 * i + 1) % 30))) for i in range(20)} - {(7, 7)}
LETTERS = "id,f,g\na,1,2\nb,2,3\nc,2,9\n"


def read(tmp_path: Path, rows: str | None, edges: str, **reading: Any) -> Graph:
    if rows is None:
        (tmp_path / "edges.csv").write_text(edges, "utf-8")
        return load_graph(tmp_path / "edges.csv", **reading)
    return load_graph(folder(tmp_path, rows, edges), **reading)


def edge_rows(names: str) -> str:
    """Return edges under these names; the ends are the columns that are called a, b or so."""
    table = [names.split(",")]
    for i in range(20):
        ends = iter((i, (3 * i + 1) % 30))
        cells = {"order": i + 1, "amount": i + 7, "day": f"2024-01-{i + 1:02d}", "weight": i + 0.5}
        table.append([str(cells.get(name, "")) or str(next(ends)) for name in table[0]])
    return "".join(",".join(row) + "\n" for row in table)


@pytest.mark.parametrize("rows", [ROWS, None])
@pytest.mark.parametrize(
    "names",
    [
        "weight,customer_a,customer_b",
        "amount,from_customer,to_customer",
        "order,user1,user2",
        "day,buyer,seller",
        "order,amount,Sender,Receiver",
        "weight,left node,right node,day",
    ],
)
def test_ends_are_found_by_names_wherever_they_stand(
    tmp_path: Path, rows: str | None, names: str
) -> None:
    graph = read(tmp_path, rows, edge_rows(names))
    assert pairs(graph) == WANTED
    assert (graph.adjacency.data != 1).any() == ("weight" in names)


def test_ends_are_found_by_the_ids_of_rows(tmp_path: Path) -> None:
    graph = read(tmp_path, LETTERS, "no,client,how,partner\n1,a,z,b\n2,b,z,c\n")
    assert pairs(graph) == {("a", "b"), ("b", "c")}
    note = "edges.csv: columns 'client' and 'partner' are taken for the ends of edges"
    assert f"{note}; data.ends=A,B names others" in graph.notes
    bare = read(tmp_path, LETTERS, "1.5,a,b\n2.5,b,c\n")
    assert pairs(bare) == {("a", "b"), ("b", "c")} and bare.adjacency.data.max() == 2.5
    frame = pd.DataFrame({"amount": [1, 0], "who": [0, 1], "whom": [1, 2]})
    rows = pd.DataFrame({"id": [0, 1, 2], "f": [1.0, 2, 4]})
    named = to_graph(rows, edges=frame, ends="who,whom")
    assert pairs(named) == {(0, 1), (1, 2)}


def test_ends_can_be_named(tmp_path: Path, capsys: Any) -> None:
    edges = "client,other,partner\na,b,b\nb,c,c\nc,b,a\n"
    graph = read(tmp_path, LETTERS, edges, ends="client,partner")
    assert pairs(graph) == {("a", "b"), ("b", "c"), ("a", "c")}
    with pytest.raises(DGBError, match=r"no column 'partnr'.*did you mean 'partner'"):
        read(tmp_path, LETTERS, edges, ends="client,partnr")
    with pytest.raises(DGBError, match=r"data\.ends=client must name two columns"):
        read(tmp_path, LETTERS, edges, ends="client")
    assert main(["data", "check", str(tmp_path), "--ends", "client,partner"]) == 0
    assert "edges                   3\n" in capsys.readouterr().out


def test_wrong_ends_are_refused_with_the_way_to_name_them(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match=r"data\.ends=A,B if they are others"):
        read(tmp_path, LETTERS, "x,y,z\np,q,a\nr,s,b\n")


@pytest.mark.parametrize(
    "edges",
    [
        "who,whom,amount\nann,bob,3\nbob,cy,4\n",
        "when,who,whom\n2024-01-02,ann,bob\n2024-01-03,bob,cy\n",
    ],
)
def test_a_first_row_of_names_above_numbers_or_dates_is_no_edge(tmp_path: Path, edges: str) -> None:
    assert pairs(read(tmp_path, None, edges)) == {("ann", "bob"), ("bob", "cy")}


def test_a_first_row_with_the_column_that_is_asked_for_is_no_edge(tmp_path: Path) -> None:
    graph = read(tmp_path, None, "who,whom\nann,bob\nbob,cy\n", ends="who,whom")
    assert pairs(graph) == {("ann", "bob"), ("bob", "cy")}


@pytest.mark.parametrize(
    "rows",
    [
        ",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n",
        "0,1,0,0\n1,0,1,0\n0,1,0,1\n0,0,1,0\n",
        "".join(",".join(str(int(j == i + 1)) for j in range(12)) + "\n" for i in range(12)),
    ],
)
def test_a_matrix_is_not_read_as_a_list(tmp_path: Path, rows: str) -> None:
    with pytest.raises(DGBError, match=r"looks like a matrix of (3|4|12) × .*\.mtx"):
        read(tmp_path, None, rows)


@pytest.mark.parametrize(
    ("one", "other", "how"),
    [
        ("007", "7", "in leading zeros"),
        ("Ann", "ANN", "in case"),
        ("5", "5.0", "in a .0 behind them"),
        ("Mu\u0308ller", "Müller", "in how their letters are stored"),
        ("cy", "c\u200by", "in blanks or marks that are not seen"),
        ("1007", '"1,007"', "in commas"),
    ],
)
def test_ids_that_are_spelt_differently_can_be_matched(
    tmp_path: Path, one: str, other: str, how: str
) -> None:
    rows, edges = f"id,f\n{one},1\nx,2\ny,3\n", f"source,target\n{other},x\nx,y\n"
    with pytest.raises(DGBError, match=rf"{how}, as .* data\.unknown=match"):
        read(tmp_path, rows, edges)
    graph = read(tmp_path, rows, edges, unknown="match")
    assert pairs(graph) == {tuple(sorted((one, "x"))), ("x", "y")}
    told = "edges.csv: ends of edges that differ from ids of rows were taken for these"
    assert f"{told}, {how}: 1" in graph.notes


def test_ids_that_match_two_rows_are_not_matched(tmp_path: Path) -> None:
    rows = "id,f\nAnn,1\nann,2\nbob,3\n"
    with pytest.raises(DGBError, match=r"node 'ANN'.*spell them alike, since several") as caught:
        read(tmp_path, rows, "source,target\nANN,bob\nann,bob\n", unknown="match")
    assert "data.unknown=match" not in str(caught.value)


def test_ids_that_a_spreadsheet_shortened_are_told(tmp_path: Path) -> None:
    rows = "id,f\n123000,1\n124000,2\n"
    with pytest.raises(DGBError, match=r"look shortened by a spreadsheet, as '1\.23E\+05'"):
        read(tmp_path, rows, "source,target\n1.23E+05,124000\n")


def test_edges_of_weight_zero_are_counted(tmp_path: Path) -> None:
    edges = "source,target,weight\na,b,1\nb,c,0\na,c,0\n"
    for repeats in ("max", "sum", "count"):
        graph = read(tmp_path, LETTERS, edges, repeats=repeats)
        assert pairs(graph) == {("a", "b")}
        assert graph.notes.count("edges of weight 0, left out: 2") == 1
    stored = sparse.coo_array((np.array([1.0, 0.0]), ([0, 1], [1, 2])), shape=(3, 3))
    graph = to_graph(np.eye(3), adjacency=stored)
    assert graph.notes == ("edges of weight 0, left out: 1",)


@pytest.mark.parametrize("repeats", ["max", "sum", "count"])
def test_weights_that_float32_takes_for_zero_are_counted_as_such(repeats: str) -> None:
    stored = sparse.coo_array((np.array([1.0, 1e-60]), ([0, 1], [1, 2])), shape=(3, 3))
    graph = to_graph(np.eye(3), adjacency=stored, repeats=repeats)
    assert graph.num_edges == 1
    assert graph.notes == ("edges of weight 0, left out: 1",)


@pytest.mark.parametrize("edges", ["source,target\n", "source,target\na,a\n"])
def test_a_graph_without_edges_says_so(tmp_path: Path, edges: str) -> None:
    graph = read(tmp_path, LETTERS, edges)
    told = "there is no edge: every node is embedded by its own features alone"
    assert graph.num_edges == 0 and told in graph.notes


@pytest.mark.parametrize("weight", ["-1", "", "abc", "€5"])
def test_wrong_weights_can_be_left_alone(tmp_path: Path, weight: str) -> None:
    edges = f"source,target,weight\na,b,1\nb,c,{weight}\na,c,2\n"
    with pytest.raises(DGBError, match=r"edges\.csv:3: weight is .*data\.weights=none"):
        read(tmp_path, LETTERS, edges)
    graph = read(tmp_path, LETTERS, edges, weights="none")
    assert graph.num_edges == 3 and set(graph.adjacency.data) == {1.0}
    plain = to_graph(np.eye(2), adjacency=np.array([[0, 5], [5, 0]]), weights="none")
    assert set(plain.adjacency.data) == {1.0}


@pytest.mark.parametrize("arrow", ["->", "--", "=>", "—"])
def test_arrows_between_ends_are_no_nodes(tmp_path: Path, arrow: str) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("".join(f"{i} {arrow} {i + 1}\n" for i in range(5)))
    graph = load_graph(path)
    assert graph.node_ids.tolist() == [0, 1, 2, 3, 4, 5] and graph.num_edges == 5
    assert f"edges.txt: {arrow} between the ends of edges is not read" in graph.notes


@pytest.mark.parametrize("unit", [1, 1000])
def test_times_are_no_weights(tmp_path: Path, unit: int) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("".join(f"{i} {i + 1} {(1_082_040_961 + 99 * i) * unit}\n" for i in range(5)))
    graph = load_graph(path)
    assert set(graph.adjacency.data) == {1.0}
    assert "edges.txt: column 3 looks like times and is not used; data.weight=3" in graph.notes[0]
    assert graph.num_edges == 5 and max(load_graph(path, weight="3").adjacency.data) > 1e9
