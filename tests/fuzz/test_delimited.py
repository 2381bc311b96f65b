"""Tables from a grammar: the graph that was written comes out, and a fault is told by its line."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dgb.data.graph import Graph
from dgb.data.load import load_graph
from dgb.errors import DGBError
from tests.fuzz.delimited import (
    HEADS,
    Dialect,
    Drawn,
    dialects,
    edge_rows,
    graphs,
    node_rows,
    texts,
)
from tests.fuzz.oracle import answer, inputs, lay

PLAIN = Dialect(",", "\n", 0, has_mark=False, head="", tail="", is_packed=False)


def assert_same_edges(graph: Graph, drawn: Drawn, position: dict[str, int]) -> None:
    found = graph.adjacency.tocoo()
    ids = [position[str(node)] for node in graph.node_ids]
    pairs = zip(found.row.tolist(), found.col.tolist(), found.data.tolist(), strict=True)
    wanted = {pair: float(np.float32(weight)) for pair, weight in drawn.weights().items()}
    assert {(ids[u], ids[v]): weight for u, v, weight in pairs} == wanted


@inputs(12)
@given(drawn=graphs(), dialect=dialects, head=st.sampled_from(HEADS))
def test_the_graph_that_was_written_is_the_graph_that_is_read(
    tmp_path: Path, drawn: Drawn, dialect: Dialect, head: tuple[str, str]
) -> None:
    edges, nodes = edge_rows(drawn, head), node_rows(drawn)
    files = {"edges": dialect.write(edges), "nodes": dialect.write(nodes)}
    lay(tmp_path, {f"{name}.{dialect.suffix}": content for name, content in files.items()})
    graph = answer(lambda: load_graph(tmp_path))
    assert isinstance(graph, Graph), graph
    assert [str(node) for node in graph.node_ids] == drawn.ids
    assert_same_edges(graph, drawn, {node: i for i, node in enumerate(drawn.ids)})
    np.testing.assert_array_equal(graph.x, np.array(drawn.numbers, np.float32))
    assert graph.labels is not None
    assert [graph.label_names[label] for label in graph.labels] == drawn.classes


@inputs(4)
@given(drawn=graphs(), dialect=dialects, head=st.sampled_from(HEADS))
def test_edges_alone_have_the_nodes_that_they_name(
    tmp_path: Path, drawn: Drawn, dialect: Dialect, head: tuple[str, str]
) -> None:
    named = {drawn.ids[end] for edge in drawn.edges for end in edge[:2]}
    lay(tmp_path, {f"edges.{dialect.suffix}": dialect.write(edge_rows(drawn, head))})
    graph = answer(lambda: load_graph(tmp_path), "edges", tmp_path.name)
    if len(named) < 2:
        assert isinstance(graph, DGBError)
        return
    assert {str(node) for node in graph.node_ids} == named
    assert_same_edges(graph, drawn, {node: i for i, node in enumerate(drawn.ids)})


EDGE_FAULTS = {
    "no source": lambda row: ["", *row[1:]],
    "no target": lambda row: [row[0], "  ", row[2]],
    "a node of no row": lambda row: ["nobody at all", *row[1:]],
    "a cell too many": lambda row: [*row, "x"],
    "a cell too few": lambda row: row[:2],
    "a word for a weight": lambda row: [*row[:2], "heavy"],
    "no weight": lambda row: [*row[:2], ""],
    "a negative weight": lambda row: [*row[:2], "-0.5"],
    "an infinite weight": lambda row: [*row[:2], "inf"],
    "a weight beyond all floats": lambda row: [*row[:2], "1e999"],
}
NODE_FAULTS = {
    "no id": lambda row: ["", *row[1:]],
    "a cell too many": lambda row: [*row, "x"],
    "a cell too few": lambda row: row[:-1],
    "no number": lambda row: [row[0], "", *row[2:]],
    "a decimal comma": lambda row: [row[0], "0,5", *row[2:]],
    "not a number": lambda row: [row[0], "nan", *row[2:]],
    "a number beyond all floats": lambda row: [row[0], row[1], "-1e999", row[3]],
}


@inputs(8)
@given(
    drawn=graphs().filter(lambda drawn: len(drawn.edges) > 2 and len(drawn.ids) > 2),
    fault=st.sampled_from(
        [("edges", key) for key in EDGE_FAULTS] + [("nodes", k) for k in NODE_FAULTS]
    ),
    where=st.integers(0, 100),
    head=st.sampled_from(["", "# a comment\n\n"]),
)
def test_a_fault_is_told_with_file_and_line(
    tmp_path: Path, drawn: Drawn, fault: tuple[str, str], where: int, head: str
) -> None:
    tables = {"edges": edge_rows(drawn), "nodes": node_rows(drawn)}
    table, faults = fault[0], EDGE_FAULTS if fault[0] == "edges" else NODE_FAULTS
    row = 1 + where % (len(tables[table]) - 1)
    tables[table][row] = faults[fault[1]](tables[table][row])  # type: ignore[no-untyped-call]
    dialect = replace(PLAIN, head=head)
    lay(tmp_path, {f"{name}.csv": dialect.write(rows) for name, rows in tables.items()})
    place = f"{table}.csv:{1 + row + head.count(chr(10))}"
    error = answer(lambda: load_graph(tmp_path, missing="refuse"), place)
    assert isinstance(error, DGBError), fault


@inputs(3)
@given(drawn=graphs(), again=st.integers(0, 100))
def test_an_id_that_is_given_twice_is_told_with_its_line(
    tmp_path: Path, drawn: Drawn, again: int
) -> None:
    rows = node_rows(drawn)
    rows.append([drawn.ids[again % len(drawn.ids)], 0.5, -0.5, "red"])
    lay(tmp_path, {"edges.csv": PLAIN.write(edge_rows(drawn)), "nodes.csv": PLAIN.write(rows)})
    assert isinstance(answer(lambda: load_graph(tmp_path), f"nodes.csv:{len(rows)}"), DGBError)


cells = texts() | st.sampled_from(
    ["", " ", "nan", "1e5", "2020-02-30", "true", "-0", "1,5", "\x00"]
)
CELL = cells | st.text(max_size=6)


@inputs(8)
@given(
    edges=st.lists(st.lists(CELL, min_size=1, max_size=4), max_size=6),
    nodes=st.lists(st.lists(CELL, min_size=1, max_size=4), max_size=6),
    dialect=dialects,
)
def test_tables_of_anything_are_read_right_or_refused(
    tmp_path: Path, edges: list[list[str]], nodes: list[list[str]], dialect: Dialect
) -> None:
    def written(rows: list[list[str]]) -> bytes:
        # Half of a surrogate pair cannot be written at all.
        return dialect.write([[c.encode("utf-8", "replace").decode() for c in row] for row in rows])

    names = [f"{what}.{dialect.suffix}" for what in ("edges", "nodes")]
    lay(tmp_path, dict(zip(names, (written(edges), written(nodes)), strict=True)))
    answer(lambda: load_graph(tmp_path), *names, tmp_path.name)
