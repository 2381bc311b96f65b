"""Columns of a table to columns of x, and the same columns for another table."""

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import tomli_w
from scipy import sparse

from dgb.data.encoding import Column, Encoding, encoding_from, plain_encoding
from dgb.data.graph import Graph
from dgb.data.tables.from_tables import graph_from_tables
from dgb.data.tables.source import read_table, table_of
from dgb.data.tables.table import Table
from dgb.errors import DGBError
from dgb.recipe import Data


def graph_of(nodes: Any, encoding: Encoding | None = None, **reading: Any) -> Graph:
    if not isinstance(nodes, Table):
        size = len(next(iter(nodes.values())))
        nodes = table_of({"id": np.arange(size), **nodes}, "nodes")
    edges = table_of({"source": np.zeros(0, np.int64), "target": np.zeros(0, np.int64)}, "edges")
    return graph_from_tables("g", edges, nodes, None, Data(**reading), encoding)


def from_text(tmp_path: Path, text: str, **reading: Any) -> Graph:
    (tmp_path / "nodes.csv").write_text(text, "utf-8")
    return graph_of(read_table(tmp_path / "nodes.csv"), **reading)


def dense(graph: Graph) -> Any:
    return graph.x.toarray() if sparse.issparse(graph.x) else graph.x


def columns_of(graph: Graph) -> tuple[Column, ...]:
    assert graph.encoding is not None
    return graph.encoding.columns


def test_small_numbers_stay_as_they_are() -> None:
    graph = graph_of({"a": [-1.0, 0.25, 1.0], "b": [1, 1, 1]})
    assert dense(graph).tolist() == [[-1, 1], [0.25, 1], [1, 1]]
    assert graph.x.dtype == np.float32


def test_other_numbers_are_standardised() -> None:
    graph = graph_of({"a": [10.0, 20, 30, 60], "c": [5.0, 5, 5, 5]})
    assert dense(graph)[:, 0].mean() == pytest.approx(0, abs=1e-6)
    assert dense(graph)[:, 0].std() == pytest.approx(1)
    assert dense(graph)[:, 1].tolist() == [0] * 4
    assert columns_of(graph)[0].shift == 30
    assert columns_of(graph)[0].scale == pytest.approx(math.sqrt(350))


def test_mostly_zeros_stay_zeros_and_sparse() -> None:
    cells = np.zeros((10, 4))
    cells[0] = [8, -4, 2, 1]
    cells[1] = [2, 0, 0, 0]
    graph = graph_of({f"w{i}": cells[:, i] for i in range(4)})
    assert sparse.issparse(graph.x)
    assert graph.x.nnz == 5
    assert graph.x.toarray()[:2].tolist() == [[1, -1, 1, 1], [0.25, 0, 0, 0]]


def test_text_of_numbers_booleans_and_dates(tmp_path: Path) -> None:
    graph = from_text(
        tmp_path,
        "id,n,e,b,d,t\na,1,-.5,True,1970-01-02,1970-01-01T12:00\nb,0,1e-1,false,1970-01-01,1970-01-01\n",
    )
    assert dense(graph).tolist() == pytest.approx(
        np.array([[1, -0.5, 1, 1, 0.5], [0, 0.1, 0, 0, 0]])
    )
    assert {column.kind for column in columns_of(graph)} == {"number"}


def test_typed_booleans_and_dates() -> None:
    frame = pd.DataFrame(
        {
            "id": [1, 2],
            "b": [True, False],
            "d": pd.to_datetime(["1970-01-02T00:00", "1970-01-01T06:00"]),
            "z": pd.to_datetime(["1970-01-01T12:00Z", "1970-01-01T00:00Z"]),
        }
    )
    assert dense(graph_of(table_of(frame, "nodes"))).tolist() == [[1, 1, 0.5], [0, 0.25, 0]]


@pytest.mark.parametrize("cell", ["", "NaN", "inf", "n/a", '"1,5"', "1e999", "1e300"])
def test_cells_that_are_no_numbers_are_told_with_their_line(tmp_path: Path, cell: str) -> None:
    message = (
        r"cells of 'age' that are not finite numbers, 1 of 4: nodes\.csv:4: age is .*data.drop=age"
    )
    with pytest.raises(DGBError, match=message):
        from_text(tmp_path, f"id,age\na,1\n\nb,{cell}\nc,30\nd,40\n", missing="refuse")


def test_five_faults_are_told_and_the_others_counted(tmp_path: Path) -> None:
    rows = "".join(f"n{i},{'' if i < 7 else i}\n" for i in range(20))
    with pytest.raises(DGBError, match=r"7 of 20: nodes\.csv:2: .*nodes\.csv:6: [^:]*and 2 more"):
        from_text(tmp_path, f"id,age\n{rows}", missing="refuse")
    assert from_text(tmp_path, f"id,age,f\n{rows.replace(chr(10), ',1' + chr(10))}", drop="age")


@pytest.mark.parametrize("slip", ["2020-1-2", "2020-13-01", "soon"])
def test_a_slip_among_dates_is_told(tmp_path: Path, slip: str) -> None:
    with pytest.raises(DGBError, match=rf"nodes\.csv:3: day is '{slip}'"):
        from_text(tmp_path, f"id,day\na,2020-01-01\nb,{slip}\nc,2020-01-03\n")


def test_moments_with_and_without_a_zone(tmp_path: Path) -> None:
    cells = ("1970-01-01T12:00:00Z", "1970-01-01T12:00:00+06:00", "1970-01-01")
    some = from_text(tmp_path, "id,t\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    assert dense(some)[:, 0].tolist() == [0.5, 0.25, 0]


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_gaps_in_frames_are_told_with_their_row(value: float | None) -> None:
    with pytest.raises(DGBError, match="row 2 of nodes: a is"):
        graph_of({"a": [1.0, value, 2.0]}, missing="refuse")


def test_few_texts_are_categories_and_empty_cells_no_level(tmp_path: Path) -> None:
    graph = from_text(tmp_path, "id,v\na,x\nb,y\nc,\nd,x\n")
    assert dense(graph).tolist() == [[1, 0], [0, 1], [0, 0], [1, 0]]
    assert graph.encoding is not None
    assert graph.encoding.feature_names() == ["v=x", "v=y"]
    assert "nodes.csv: text read as categories: v" in graph.notes


@pytest.mark.parametrize(
    ("nodes", "values", "kind"),
    [
        (40, 20, "category"),
        (40, 21, "words"),
        (1000, 50, "category"),
        (1000, 51, "words"),
        (5000, 200, "category"),
        (5000, 201, "words"),
    ],
)
def test_how_many_values_are_few(nodes: int, values: int, kind: str) -> None:
    cells = [f"v{i % values}" for i in range(nodes)]
    (column,) = columns_of(graph_of({"t": cells}))
    assert column.kind == kind
    assert len(column.names()) == (values if kind == "category" else 256)


def test_words_are_hashed_without_regard_to_case() -> None:
    graph = graph_of({"t": ["Deep graph", "graph DEEP", "other words", None]}, text="words")
    x = dense(graph)
    assert x.shape == (4, 256)
    assert x[0].tolist() == x[1].tolist()
    assert np.linalg.norm(x, axis=1).tolist() == pytest.approx([1, 1, 1, 0])
    assert x[0] @ x[2] == 0


def test_text_can_be_forced_or_dropped() -> None:
    cells = {"f": np.arange(400) % 2, "t": [f"v{i}" for i in range(400)]}
    category = graph_of(cells, text="category")
    assert len(columns_of(category)[1].levels) == 200
    assert "nodes: values of 't' that have no column: 200" in category.notes
    dropped = graph_of(cells, text="drop")
    assert [column.name for column in columns_of(dropped)] == ["f"]
    assert "nodes: columns of text that are not used: t" in dropped.notes


def test_a_column_without_values_is_not_used(tmp_path: Path) -> None:
    graph = from_text(tmp_path, "id,f,none\na,1,\nb,0,\n")
    assert dense(graph).shape == (2, 1)
    assert "nodes.csv: columns without any value are not used: none" in graph.notes


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float64(), 3)])
def test_vectors_become_a_column_each(kind: Any) -> None:
    cells = pa.array([[0.5, 0, 1], [0, -1, 0.25]], kind)
    graph = graph_of(table_of(pa.table({"id": [1, 2], "e": cells}), "nodes"))
    assert dense(graph).tolist() == [[0.5, 0, 1], [0, -1, 0.25]]
    assert graph.encoding is not None
    assert graph.encoding.feature_names() == ["e#0", "e#1", "e#2"]


def test_a_vector_is_scaled_as_a_whole() -> None:
    graph = graph_of({"e": [[1.0, 100], [2.0, 103], [3.0, 102]]})
    assert np.diff(dense(graph)[:, 0]) == pytest.approx(
        np.diff([1, 2, 3]) / columns_of(graph)[0].scale, rel=1e-4
    )
    assert dense(graph).mean() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([[1.0, 2], [1.0], None], "one length, here 2: row 2 of nodes: e has 1; row 3 of nodes"),
        ([[1.0, 2], [1.0, math.nan], [1.0, 2]], "row 2 of nodes: e holds a gap"),
        ([["a"], ["b"], ["c"]], "which is not a feature"),
        ([{"a": 1}, {"a": 2}, {"a": 3}], "which is not a feature; .*data.drop=e"),
    ],
)
def test_cells_that_are_no_features(cells: Any, message: str) -> None:
    with pytest.raises(DGBError, match=message):
        graph_of({"e": cells})


MIXED: dict[str, Any] = {
    "age": [20.0, 30, 50, 20],
    "count": [0, 0, 0, 7],
    "venue": ["x", "y", None, "x"],
    "vector": [[1.0, 9], [2.0, 8], [3.0, 7], [4.0, 6]],
}


def test_an_encoding_survives_a_file() -> None:
    encoding = graph_of(MIXED).encoding
    assert encoding is not None
    assert encoding_from(plain_encoding(encoding)) == encoding
    as_file = tomllib.loads(tomli_w.dumps(plain_encoding(encoding)))
    assert encoding_from(as_file) == encoding


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"name": "a", "scale": 0.0}, "column 'a' is damaged"),
        ({"name": "a", "shift": "much"}, "column 'a' is damaged"),
        ({"name": "a", "shift": math.nan}, "column 'a' is damaged"),
        ({"name": "a", "kind": "category", "levels": [1]}, "column 'a' is damaged"),
        ({"name": "a", "kind": "picture"}, "upgrade dgb"),
        ({"name": "a", "colour": "red"}, "not a description"),
        ({"shift": 1.0}, "not a description"),
    ],
)
def test_a_damaged_encoding_is_refused(column: dict[str, Any], message: str) -> None:
    with pytest.raises(DGBError, match=message):
        encoding_from({"structure": "", "columns": [column]})


def test_columns_in_another_order_give_equal_rows() -> None:
    graph = graph_of(MIXED)
    some = [3, 1]
    other = {name: [cells[i] for i in some] for name, cells in reversed(MIXED.items())}
    again = graph_of({"more": [1, 2], **other}, graph.encoding)
    assert dense(again).tolist() == dense(graph)[some].tolist()
    assert again.encoding == graph.encoding
    assert "nodes: columns that the run does not know, left out: more" in again.notes


def test_levels_that_a_run_has_not_seen_are_zeros() -> None:
    graph = graph_of({"v": ["x", "y"]})
    again = graph_of({"v": ["z", "y", None]}, graph.encoding)
    assert dense(again).tolist() == [[0, 0], [0, 1], [0, 0]]
    assert "nodes: values of 'v' that have no column: 1" in again.notes


def test_levels_that_look_like_numbers_stay_text(tmp_path: Path) -> None:
    graph = from_text(tmp_path, "id,v\na,007\nb,b1\nc,c2\n")
    again = from_text(tmp_path, "id,v\nd,007\ne,7\n", encoding=graph.encoding)
    assert dense(again).tolist() == [[1, 0, 0], [0, 0, 0]]


def test_missing_columns_are_counted_and_five_are_named() -> None:
    graph = graph_of({f"c{i}": [0, 1] for i in range(8)})
    named = r"lacks 7 of the 8 columns .*: c1, c2, c3, c4, c5 and 2 more; add"
    with pytest.raises(DGBError, match=named):
        graph_of({"c0": [0, 1]}, graph.encoding)


@pytest.mark.parametrize("cells", [["x", "y"], [[1.0], [2.0]], [None, 1]])
def test_another_kind_of_cells_than_the_run_had(cells: Any) -> None:
    graph = graph_of({"a": [1, 0]}, missing="refuse")
    with pytest.raises(DGBError, match="'a'"):
        graph_of({"a": cells}, graph.encoding)


def test_vectors_of_another_length_than_the_run_had() -> None:
    graph = graph_of({"e": [[1.0, 0], [0, 1.0]]})
    with pytest.raises(DGBError, match="must hold lists of 2 numbers"):
        graph_of({"e": [[1.0], [0.5]]}, graph.encoding)


def test_new_nodes_need_no_labels_of_the_run() -> None:
    trained = {"a": [1, 0], "class": [0, 1], "venue": ["x", "y"], "junk": [1, 2]}
    graph = graph_of(trained, label="venue", drop="junk")
    again = graph_of({"a": [0, 1], "class": [1, 1]}, graph.encoding, label="venue", drop="junk")
    assert dense(again).tolist() == [[0, 1], [1, 1]]
    unasked = graph_of({"a": [0, 1], "class": [1, 1]}, graph.encoding)
    assert dense(unasked).tolist() == [[0, 1], [1, 1]]
    assert unasked.labels is None


def test_a_run_trained_on_edges_uses_edges_again() -> None:
    graph = graph_of({"a": [1, 2]}, Encoding(structure="degree"))
    assert graph.encoding == Encoding(structure="degree")
    assert "nodes: features not used: the run was trained on edges" in graph.notes


def test_a_run_trained_on_columns_needs_rows() -> None:
    edges = table_of({"source": [1], "target": [2]}, "edges")
    with pytest.raises(DGBError, match="trained on 1 columns of nodes"):
        graph_from_tables("g", edges, None, None, Data(), Encoding((Column("a"),)))


@pytest.mark.parametrize(
    ("trained", "new", "wanted"),
    [
        (["2024-01-01", "2024-03-01"], ["20240101", "20240301"], "dates"),
        (["30", "40"], ["2024-01-01", "2024-03-01"], "numbers"),
        (["2024-01-01", "2024-03-01"], ["soon", "late"], "dates"),
    ],
)
def test_dates_and_numbers_are_not_taken_for_each_other(
    trained: list[str], new: list[str], wanted: str
) -> None:
    encoding = graph_of({"since": trained}).encoding
    assert encoding is not None
    assert encoding == encoding_from(tomllib.loads(tomli_w.dumps(plain_encoding(encoding))))
    with pytest.raises(DGBError, match=f"'since' held {wanted} when .*row 1 .*; give {wanted}"):
        graph_of({"since": new}, encoding)


def test_dates_are_read_alike_from_text_and_from_typed_columns() -> None:
    trained = graph_of({"since": ["2024-01-01", "2024-03-01"]})
    typed = graph_of({"since": pd.to_datetime(["2024-01-01", "2024-03-01"])}, trained.encoding)
    np.testing.assert_allclose(dense(typed), dense(trained))
