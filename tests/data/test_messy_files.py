"""Files as spreadsheets leave them: titles, empty columns and rows, encodings, other names."""

from pathlib import Path

import pytest

from dgb.data.load import load_graph
from dgb.errors import DGBError
from tests.data.test_edge_table import pairs
from tests.data.test_messy import folder

ROWS, EDGES = "id,f,g\nann,1,2\nbob,2,3\ncy,3,9\n", "source,target\nann,bob\nbob,cy\n"
WANTED = {("ann", "bob"), ("bob", "cy")}


def test_empty_columns_and_rows_at_the_end_are_skipped(tmp_path: Path) -> None:
    rows = ROWS.replace("\n", ",,\n") + ",,,,\n,,,,\n"
    graph = load_graph(folder(tmp_path, rows, EDGES.replace("\n", ",,\n") + ",,,\n"))
    assert pairs(graph) == WANTED and graph.num_nodes == 3 and graph.notes == ()
    with pytest.raises(DGBError, match=r"nodes\.csv:1: two columns have no name"):
        load_graph(folder(tmp_path, "id,,\nann,1,2\nbob,2,3\n", "ann,bob\n"))
    with pytest.raises(DGBError, match=r"nodes\.csv:3: id is empty"):
        load_graph(folder(tmp_path, ROWS.replace("bob", ""), EDGES))


def test_a_title_is_skipped_and_lines_still_count(tmp_path: Path) -> None:
    rows, edges = f"Customers of 2024,,\n{ROWS}", f"Sales,\n{EDGES}"
    graph = load_graph(folder(tmp_path, rows, edges))
    assert pairs(graph) == WANTED
    assert graph.notes[0] == "nodes.csv: skipped the title 'Customers of 2024'"
    assert "edges.csv: skipped the title 'Sales'" in graph.notes
    with pytest.raises(DGBError, match=r"edges\.csv:5: node 'zoe'"):
        load_graph(folder(tmp_path, rows, f"{edges}cy,zoe\n"))


def test_an_edge_with_one_end_is_no_title(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match=r"rows without an id.*edges\.csv:1: 2 is empty"):
        load_graph(folder(tmp_path, ROWS, "ann,\nann,bob\nbob,cy\n"))


def test_a_title_without_commas_is_told(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match=r"edges\.csv:2: 2 cells, and one in the row above.*title"):
        load_graph(folder(tmp_path, ROWS, f"Sales\n{EDGES}"))


def test_the_line_by_which_excel_names_the_separator_is_skipped(tmp_path: Path) -> None:
    rows, edges = (f"sep=;\n{text.replace(',', ';')}" for text in (ROWS, EDGES))
    assert pairs(load_graph(folder(tmp_path, rows, edges))) == WANTED
    with pytest.raises(DGBError, match=r"nodes\.csv:4: g is 'inf'"):
        load_graph(folder(tmp_path, rows.replace("bob;2;3", "bob;2;inf"), edges))


def test_a_file_that_is_utf8_stays_so_next_to_another(tmp_path: Path) -> None:
    folder(tmp_path, "id,f\nMüller,1\nbob,2\n")
    (tmp_path / "edges.csv").write_text("source,target\nMüller,bob\n", "cp1252")
    assert pairs(load_graph(tmp_path, charset="cp1252")) == {("Müller", "bob")}


def test_tables_that_are_not_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text(ROWS)
    (tmp_path / "edges.csv").write_text(EDGES)
    assert "these are not read: customers.csv; data.nodes=FILE" in load_graph(tmp_path).notes[0]
    (tmp_path / "nodes.csv").write_text(ROWS)
    assert not any("not read" in note for note in load_graph(tmp_path).notes)
