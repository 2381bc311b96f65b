"""Node rows: ids, labels and splits, with every refusal told by its line."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dgb.data.graph import Graph
from dgb.data.tables.from_tables import graph_from_tables
from dgb.data.tables.source import read_table, table_of
from dgb.data.tables.table import Table
from dgb.errors import DGBError
from dgb.recipe import Data


def table(tmp_path: Path, name: str, text: str) -> Table:
    (tmp_path / name).write_text(text, "utf-8")
    return read_table(tmp_path / name)


def graph_of(tmp_path: Path, nodes: str, labels: str = "", **reading: Any) -> Graph:
    rows = table(tmp_path, "nodes.csv", nodes)
    given = table(tmp_path, "labels.csv", labels) if labels else None
    none: list[str] = []
    edges = table_of({"source": np.array(none, str), "target": np.array(none, str)}, "edges")
    return graph_from_tables("g", edges, rows, given, Data(**reading))


def names_of(graph: Graph) -> list[str]:
    assert graph.encoding is not None
    return graph.encoding.feature_names()


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("f,ID\n1,a\n0,b\n", {}),
        ("f,Node_Id\n1,a\n0,b\n", {}),
        ("f,node\n1,a\n0,b\n", {}),
        ("who,f\na,1\nb,0\n", {}),
        ("id,who,f\n1,a,1\n2,b,0\n", {"id": "Who", "drop": "id"}),
    ],
)
def test_the_column_of_ids(tmp_path: Path, text: str, reading: dict[str, str]) -> None:
    graph = graph_of(tmp_path, text, **reading)
    assert graph.node_ids.tolist() == ["a", "b"]
    assert names_of(graph) == ["f"]
    assert any("'who', is taken for the ids" in note for note in graph.notes) == (text[0] == "w")


def test_ids_of_frames_keep_their_type() -> None:
    edges = table_of({"source": ["1"], "target": ["2"]}, "edges")
    for ids in (["1", "2"], [1, 2]):
        nodes = table_of(pd.DataFrame({"id": ids, "f": [0.5, 1]}), "nodes")
        assert graph_from_tables("g", edges, nodes, None, Data()).node_ids.tolist() == ids


def test_repeated_ids_are_counted_and_named(tmp_path: Path) -> None:
    with pytest.raises(DGBError) as caught:
        graph_of(tmp_path, "id,f\na,1\nb,1\n\na,2\n" + "".join(f"b,{i}\n" for i in range(2, 8)))
    message = str(caught.value)
    assert "7 in all: nodes.csv:5: id 'a' again; nodes.csv:6: id 'b' again" in message
    assert "and 2 more" in message


def test_missing_ids_are_named(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match=r"1 in all: nodes\.csv:3: id is empty"):
        graph_of(tmp_path, "id,f\na,1\n ,2\n")


def test_ids_that_are_fractions_are_refused() -> None:
    nodes = table_of({"id": [0.5, 1.5], "f": [1, 2]}, "nodes")
    edges = table_of({"source": [1], "target": [2]}, "edges")
    with pytest.raises(DGBError, match="holds fractions"):
        graph_from_tables("g", edges, nodes, None, Data())


@pytest.mark.parametrize("key", ["id", "label", "split", "drop"])
def test_a_column_that_is_not_there_is_answered_with_the_nearest(tmp_path: Path, key: str) -> None:
    message = rf"'vanue' \(data\.{key}\); did you mean 'venue'\? Its columns: (id, )?venue, f"
    with pytest.raises(DGBError, match=message):
        graph_of(tmp_path, "id,venue,f\na,x,1\nb,y,2\n", **{key: "vanue"})


@pytest.mark.parametrize("name", ["label", "Class", "y", "TARGET"])
def test_usual_names_of_labels(tmp_path: Path, name: str) -> None:
    graph = graph_of(tmp_path, f"id,f,{name}\na,1,dog\nb,2,cat\nc,3,\nd,4,dog\n")
    assert graph.labels is not None
    assert (graph.labels.tolist(), graph.label_names) == ([1, 0, -1, 1], ("cat", "dog"))
    assert names_of(graph) == ["f"]


@pytest.mark.parametrize(
    ("cells", "labels", "names"),
    [
        (["10", "9", "2"], [2, 1, 0], ("2", "9", "10")),
        (["0", "2", "1"], [0, 2, 1], ("0", "1", "2")),
        (["1.0", "", "0.0"], [1, -1, 0], ("0", "1")),  # as pandas writes integers with a gap
        (["010", "9", "2"], [0, 2, 1], ("010", "2", "9")),
        ([" b", "a ", "b"], [1, 0, 1], ("a", "b")),
    ],
)
def test_classes_are_sorted(
    tmp_path: Path, cells: list[str], labels: list[int], names: tuple[str, ...]
) -> None:
    rows = "".join(f"n{i},1,{cell}\n" for i, cell in enumerate(cells))
    graph = graph_of(tmp_path, f"id,f,label\n{rows}")
    assert graph.labels is not None
    assert (graph.labels.tolist(), graph.label_names) == (labels, names)


@pytest.mark.parametrize(
    "cells", [[3, 1, None], [3.0, 1.0, float("nan")], pd.Categorical(["3", "1", None])]
)
def test_labels_of_frames(cells: Any) -> None:
    nodes = table_of(pd.DataFrame({"id": [1, 2, 3], "f": [1, 2, 3], "y": cells}), "nodes")
    edges = table_of({"source": [1], "target": [2]}, "edges")
    graph = graph_from_tables("g", edges, nodes, None, Data())
    assert graph.labels is not None
    assert (graph.labels.tolist(), graph.label_names) == ([1, 0, -1], ("1", "3"))


def test_beside_x_y_is_a_place_and_no_label(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, "id,x,y\na,0,1\nb,1,0\n")
    assert graph.labels is None
    assert names_of(graph) == ["x", "y"]


def test_a_chosen_label_leaves_the_usual_name_a_feature(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, "id,class,venue\na,1,x\nb,0,y\n", label="venue")
    assert (graph.label_names, names_of(graph)) == (("x", "y"), ["class"])


def test_a_dropped_label_is_neither_label_nor_feature(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, "id,f,g,label\na,1,1,x\nb,0,1,y\n", drop="label, g")
    assert graph.labels is None
    assert names_of(graph) == ["f"]


def test_the_words_of_a_split(tmp_path: Path) -> None:
    parts = ["train", "Val", "valid", "validation", "TEST", "", "train"]
    rows = "".join(f"n{i},1,{part}\n" for i, part in enumerate(parts))
    (split,) = graph_of(tmp_path, f"id,f,split\n{rows}").splits
    assert [part.tolist() for part in vars(split).values()] == [[0, 6], [1, 2, 3], [4]]


def test_a_split_that_is_empty_is_none(tmp_path: Path) -> None:
    assert graph_of(tmp_path, "id,f,split\na,1,\nb,0,\n").splits == ()


def test_other_words_in_a_split_are_told_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match=r"1 in all: nodes\.csv:4: part is 'tset'"):
        graph_of(tmp_path, "id,f,part\na,1,train\nb,0,\nc,0,tset\n", split="part")


def test_labels_from_a_table_of_their_own(tmp_path: Path) -> None:
    labels = "node,label,split\nc,x,train\na,y,test\n"
    graph = graph_of(tmp_path, "id,f\na,1\nb,0\nc,2\n", labels)
    assert graph.labels is not None
    assert (graph.labels.tolist(), graph.label_names) == ([1, -1, 0], ("x", "y"))
    assert (graph.splits[0].train.tolist(), graph.splits[0].test.tolist()) == ([2], [0])


def test_the_second_column_of_labels_needs_no_usual_name(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, "id,f\na,1\nb,0\n", "id,venue\nb,x\n")
    assert graph.labels is not None
    assert graph.labels.tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("id,label\na,x\nq,y\n", r"1 in all: labels\.csv:3: node 'q'"),
        ("id,label\na,x\na,y\n", r"1 in all: labels\.csv:3: id 'a' again"),
        ("id,label\n,x\na,y\n", r"1 in all: labels\.csv:2: id is empty"),
        ("id\na\n", "has no column next to 'id'"),
    ],
)
def test_wrong_tables_of_labels(tmp_path: Path, labels: str, message: str) -> None:
    with pytest.raises(DGBError, match=message):
        graph_of(tmp_path, "id,f\na,1\nb,0\n", labels)


def test_labels_given_twice_never_become_features(tmp_path: Path) -> None:
    nodes, labels = "id,f,class\na,1,0\nb,0,1\n", "id,label\na,x\n"
    with pytest.raises(DGBError, match=r"both give the label of nodes; .*data.drop=class"):
        graph_of(tmp_path, nodes, labels)
    assert names_of(graph_of(tmp_path, nodes, labels, drop="class")) == ["f"]


def test_rows_without_features_get_those_of_the_edges(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, "id,label\na,x\nb,y\n", structure="degree")
    assert graph.encoding is not None
    assert (graph.encoding.structure, graph.encoding.columns) == ("degree", ())
    assert graph.x.shape[0] == 2
    assert "made of the edges" in graph.notes[-1]


def test_a_label_that_names_each_node_is_no_class(tmp_path: Path) -> None:
    rows = "".join(f"{i},person {i},{i % 2}\n" for i in range(30))
    gephi = f"Id,Label,group\n{rows}"
    assert graph_of(tmp_path, gephi).labels is None
    assert len(graph_of(tmp_path, gephi, label="Label").label_names) == 30


def test_labels_without_a_row_of_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match=r"labels\.csv:1: starts with the node 'a'"):
        graph_of(tmp_path, "id,f\na,1\nb,0\n", "a,x\nb,y\n")


@pytest.mark.parametrize("unknown", ["refuse", "drop"])
def test_nodes_without_a_row_of_names_are_refused(tmp_path: Path, unknown: str) -> None:
    rows = table(tmp_path, "nodes.csv", "# people\na,1\nb,0\nc,1\n")
    edges = table_of({"source": ["a", "b"], "target": ["b", "c"]}, "edges")
    with pytest.raises(DGBError, match=r"nodes\.csv:2: starts with the node 'a'; add a first row"):
        graph_from_tables("g", edges, rows, None, Data(unknown=unknown))


def test_a_node_may_be_called_as_a_column_is(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, "id,f\nid,1\nb,0\n", "id,label\nb,x\n")
    assert graph.node_ids.tolist() == ["id", "b"]
    graph = graph_of(tmp_path, "word,f\nword,1\nb,0\n", "word,label\nword,x\nb,y\n")
    assert graph.label_names == ("x", "y")


def test_empty_labels_are_none(tmp_path: Path) -> None:
    assert graph_of(tmp_path, "id,f,label\na,1,\nb,0,\n").labels is None


def test_the_row_numbers_that_pandas_writes_are_no_feature(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, ",id,f\n0,a,1\n1,b,0\n")
    assert names_of(graph) == ["f"]
    assert "nodes.csv: a column that only counts the rows is not used" in graph.notes


@pytest.mark.parametrize("key", ["label", "split"])
def test_lists_are_neither_labels_nor_splits(key: str) -> None:
    nodes = table_of({"id": [1, 2], "f": [1, 0], key: [[1], [2]]}, "nodes")
    edges = table_of({"source": [1], "target": [2]}, "edges")
    with pytest.raises(DGBError, match="which cannot be used"):
        graph_from_tables("g", edges, nodes, None, Data())
