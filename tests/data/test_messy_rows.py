"""Rows and ids as files that were joined, exported and copied have them."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dgb.data.load import load_graph
from dgb.data.names import read_texts
from dgb.data.objects import to_graph
from dgb.errors import DGBError
from dgb.recipe import Data
from tests.data.test_edge_table import pairs
from tests.data.test_messy import folder, values

ROWS, EDGES = "id,f,g\nann,1,2\nbob,2,3\ncy,3,9\n", "source,target\nann,bob\nbob,cy\n"
WANTED = {("ann", "bob"), ("bob", "cy")}


def test_rows_that_repeat_the_names_are_left_out(tmp_path: Path) -> None:
    rows, edges = ROWS + ROWS.replace("ann", "dan"), f"{EDGES}source,target\ncy,ann\n"
    with pytest.raises(DGBError, match=r"nodes\.csv:7: id 'bob' again; nodes\.csv:8: id 'cy'"):
        load_graph(
            folder(tmp_path, rows.replace("bob,2,3\ncy,3,9\nid", "bob,5,5\ncy,5,5\nid"), EDGES)
        )
    graph = load_graph(folder(tmp_path, ROWS + "id,f,g\ndan,4,4\n", edges))
    assert pairs(graph) == {*WANTED, ("ann", "cy")} and graph.num_nodes == 4
    for name in ("nodes", "edges"):
        assert f"{name}.csv: rows that repeat the names of columns, left out: 1" in graph.notes
    alone = tmp_path / "whole.csv"
    alone.write_text("source,target\n1,2\nsource,target\n2,3\n")
    assert load_graph(alone).node_ids.tolist() == [1, 2, 3]


def test_empty_rows_in_the_middle_are_skipped_and_lines_still_count(tmp_path: Path) -> None:
    rows = ROWS.replace("bob", ",,\n\nbob")
    assert load_graph(folder(tmp_path, rows, EDGES)).node_ids.tolist() == ["ann", "bob", "cy"]
    with pytest.raises(DGBError, match=r"nodes\.csv:5: f is 'x'"):
        load_graph(folder(tmp_path, rows.replace("bob,2", "bob,x"), EDGES))
    with pytest.raises(DGBError, match=r"edges\.csv:4: node 'zoe'"):
        load_graph(folder(tmp_path, ROWS, "source,target\n,\nann,bob\nzoe,cy\n"))


@pytest.mark.parametrize("as_frame", [False, True])
def test_rows_that_repeat_others_are_left_out(tmp_path: Path, as_frame: bool) -> None:
    told = "rows that repeat an earlier one, left out: 2"
    if as_frame:
        frame = pd.DataFrame({"id": [5, 7, 5, 9, 5], "f": [1, 2, 1, np.nan, 1]})
        graph = to_graph(frame, edges=pd.DataFrame({"source": [5, 7], "target": [7, 9]}))
        assert graph.node_ids.tolist() == [5, 7, 9] and f"nodes: {told}" in graph.notes
        return
    graph = load_graph(folder(tmp_path, ROWS + "ann,1,2\ncy,3,9\n", EDGES))
    assert graph.num_nodes == 3 and f"nodes.csv: {told}" in graph.notes
    with pytest.raises(DGBError, match=r"nodes\.csv:6: id 'bob' again"):
        load_graph(folder(tmp_path, ROWS + "ann,1,2\nbob,9,9\n", EDGES))


def test_words_are_those_of_the_rows_that_are_left(tmp_path: Path) -> None:
    texts = ["red car", "blue car", "green tree", "old tree"]
    lines = [f"{i},{text},{i}\n" for i, text in enumerate(texts)]
    rows = "id,note,f\n" + lines[0] + lines[0] + "".join(lines[1:])
    graph = load_graph(folder(tmp_path, rows, "source,target\n0,1\n2,3\n"), text="words")
    found = read_texts(Data(graph=str(tmp_path), text="words"), graph)
    assert found["note"].cells == texts


def test_cells_of_rows_added_after_copies_have_no_line(tmp_path: Path) -> None:
    edges = EDGES + "cy,zoe\n"
    with pytest.raises(DGBError, match=r"a row added to nodes\.csv: f is empty") as caught:
        load_graph(folder(tmp_path, ROWS + "ann,1,2\n", edges), unknown="add", missing="refuse")
    assert re.search(r"nodes\.csv:\d", str(caught.value)) is None


def test_the_column_that_edges_name_is_told(tmp_path: Path) -> None:
    rows = ",name,f\n0,ann,1\n1,bob,2\n2,cy,3\n"
    with pytest.raises(DGBError, match=r"column 'name' holds what edges name.*data\.id=name"):
        load_graph(folder(tmp_path, rows, EDGES))
    assert pairs(load_graph(tmp_path, id="name")) == WANTED
    added = load_graph(tmp_path, unknown="add").notes
    assert any("'name' holds what edges name" in note for note in added)


@pytest.mark.parametrize(
    ("one", "other"),
    [("O'Neil", "O’Neil"), ("A-1", "A–1"), ("007", "'007"), ("007", '=""007""'), ("12", "'012.0")],
)
def test_quotes_and_dashes_are_spellings_too(tmp_path: Path, one: str, other: str) -> None:
    rows = f'id,f\n"{other}",1\nx,2\ny,3\n'
    graph = load_graph(folder(tmp_path, rows, f"source,target\n{one},x\nx,y\n"), unknown="match")
    assert graph.num_edges == 2


def test_labels_are_matched_or_left_out_as_edges_are(tmp_path: Path) -> None:
    folder(tmp_path, ROWS, EDGES)
    (tmp_path / "labels.csv").write_text("id,label\nANN,x\nbob,y\nzoe,x\n")
    with pytest.raises(DGBError, match=r"only in case, as 'ANN' and 'ann' do.*data\.unknown=match"):
        load_graph(tmp_path)
    dropped = load_graph(tmp_path, unknown="drop")
    assert dropped.labels is not None and dropped.labels.tolist() == [-1, 0, -1]
    told = "labels.csv: labels for nodes that the graph does not have, left out: 2"
    assert told in dropped.notes
    (tmp_path / "labels.csv").write_text("id,label\nANN,x\nbob,y\n")
    matched = load_graph(tmp_path, unknown="match")
    assert matched.labels is not None and matched.labels.tolist() == [0, 1, -1]
    told = (
        "labels.csv: ids of labels that differ from ids of nodes were taken for these, in case: 1"
    )
    assert told in matched.notes
    (tmp_path / "labels.csv").write_text("id,label\nANN,x\nann,y\n")
    with pytest.raises(DGBError, match="rows that repeat an id"):
        load_graph(tmp_path, unknown="match")


def test_edges_without_an_end_can_be_left_out(tmp_path: Path) -> None:
    folder(tmp_path, ROWS, EDGES + "cy,\n,ann\nann,cy\n")
    with pytest.raises(DGBError, match=r"edges\.csv:4: target is empty.*data\.unknown=drop"):
        load_graph(tmp_path)
    graph = load_graph(tmp_path, unknown="drop")
    assert pairs(graph) == {*WANTED, ("ann", "cy")}
    assert "edges.csv: edges without an id at one of their ends, left out: 2" in graph.notes


def test_ids_that_say_that_there_is_none_are_told(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(EDGES + "cy,nan\nann,nan\n")
    graph = load_graph(path)
    assert graph.num_nodes == 4
    assert "edges.csv: 'target' is 'nan', which is read as a node: 2" in "\n".join(graph.notes)
    assert pairs(load_graph(path, empty="nan", unknown="drop")) == WANTED


def test_a_row_of_totals_is_told(tmp_path: Path) -> None:
    notes = load_graph(folder(tmp_path, ROWS + "Total,6,14\n", EDGES)).notes
    assert "nodes.csv:5: 'Total' is read as a node; remove the row if it is a sum" in notes


def test_names_that_are_copied_with_marks_are_found(tmp_path: Path) -> None:
    rows = ROWS.replace("id,f,g", "\u200bid,\u00a0f\u200b,kind\ufeff")
    graph = load_graph(folder(tmp_path, rows, EDGES), label="kind")
    assert graph.num_classes == 3 and values(graph, "f").tolist() == pytest.approx([1, 2, 3])


def test_what_means_nothing_leaves_ids_alone_and_reaches_typed_columns(tmp_path: Path) -> None:
    rows = "id,f\n-999,1\n1,-999\n2,-999.0\n3,9\n"
    graph = load_graph(folder(tmp_path, rows, "source,target\n-999,1\n1,2\n2,3\n"), empty="-999")
    assert graph.node_ids.tolist() == [-999, 1, 2, 3]
    assert values(graph, "f=missing").tolist() == [0, 1, 1, 0]
    frame = pd.DataFrame({"id": [0, 1, 2], "f": [1, -999, 4], "is": [True, False, True]})
    edges: Any = [(0, 1), (1, 2), (2, 0)]
    assert values(to_graph(frame, edges=edges, empty="-999"), "f=missing").tolist() == [0, 1, 0]


def test_workbooks_have_titles_and_blanks_around_names(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    for name, text in (("nodes", ROWS), ("edges", EDGES)):
        book = openpyxl.Workbook()
        book.active.append([f"Export of {name}"])
        for number, line in enumerate(text.splitlines()):
            cells = [int(cell) if cell.isdigit() else cell for cell in line.split(",")]
            book.active.append([f"{cell} " for cell in cells] if number == 0 else cells)
        book.save(tmp_path / f"{name}.xlsx")
    graph = load_graph(tmp_path)
    assert pairs(graph) == WANTED and graph.num_features == 2
    for name in ("nodes", "edges"):
        assert f"{name}.xlsx: skipped the title 'Export of {name}'" in graph.notes


def test_a_network_in_one_object_of_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text('{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}')
    with pytest.raises(DGBError, match=r"nodes\.json and edges\.json, or .*node_link_graph"):
        load_graph(path)


def test_a_frame_with_two_columns_of_one_name_is_refused() -> None:
    frame = pd.DataFrame([[0, 1, 2], [1, 2, 3]], columns=["id", "f", "f"])
    with pytest.raises(DGBError, match="two columns of the frame are called 'f'; rename or drop"):
        to_graph(frame, edges=pd.DataFrame({"source": [0], "target": [1]}))
