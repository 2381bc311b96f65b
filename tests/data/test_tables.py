"""Tables from files and frames, and the lines that their faults are told with."""

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from dgb.data.tables.numbers import number_cells
from dgb.data.tables.source import read_table, table_of
from dgb.data.tables.table import Table
from dgb.errors import DGBError


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def columns(table: Table) -> dict[str, list[Any]]:
    return {name: table.content.column(name).to_pylist() for name in table.names}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "id,name\n007,ada\n8,\n"),
        ("t.csv", "id,name\r\n007,ada\r\n8,\r\n"),
        ("t.csv", "\ufeffid,name\n007,ada\n8,"),
        ("t.csv", "\ufeff# a comment\nid,name\n007,ada\n8,"),
        ("t.csv", "id;name\n007;ada\n8;\n"),
        ("t.csv", '"id","name"\n"007","ada"\n"8",""\n'),
        ("t.csv", " id , name \n 007 ,ada \n8,  \n"),
        ("t.tsv", "id\tname\n007\tada\n8\t\n"),
        ("t.TXT", "# a comment, with commas\n% another\n\nid\tname\n007\tada\n\n8\t\n"),
        ("t.csv", "id,name\r007,ada\r8,\r"),
    ],
)
def test_every_spelling_gives_the_same_table(tmp_path: Path, name: str, content: str) -> None:
    table = read_table(write(tmp_path / name, content))
    assert columns(table) == {"id": ["007", "8"], "name": ["ada", None]}


def test_runs_of_spaces_are_one_delimiter(tmp_path: Path) -> None:
    path = write(tmp_path / "g.edgelist", "# n\n  a   b  1\nc\t d 2  \n\n e f 3\r\n")
    table = read_table(path, has_names=False)
    assert columns(table) == {"1": ["a", "c", "e"], "2": ["b", "d", "f"], "3": ["1", "2", "3"]}
    assert table.places([0, 1, 2]) == ["g.edgelist:2", "g.edgelist:3", "g.edgelist:5"]


def test_quoted_cells_hold_delimiters_quotes_and_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 'id,text\n"a,b","one\ntwo"\nç,"say ""x"""\n"long",z\n')
    table = read_table(path)
    assert columns(table) == {"id": ["a,b", "ç", "long"], "text": ["one\ntwo", 'say "x"', "z"]}
    assert table.place(2) == "t.csv:5"


def test_a_column_of_texts_is_not_cut_at_spaces(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", "name\nada\ngrace hopper\n"))
    assert columns(table) == {"name": ["ada", "grace hopper"]}


def test_commas_inside_a_semicolon_file(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "1;2;0,5\n2;3;0,7\n")
    assert columns(read_table(path, has_names=False))["3"] == ["0,5", "0,7"]


def test_a_packed_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv.gz", gzip.compress(b"# c\nid,a\nx,1\n\ny,2\n"))
    table = read_table(path)
    assert columns(table) == {"id": ["x", "y"], "a": ["1", "2"]}
    assert table.place(1) == "t.csv.gz:5"


def test_a_cell_longer_than_pythons_limit_has_a_line(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", f"id,a\nx,{'w' * 200_000}\ny,1\n"))
    assert table.place(1) == "t.csv:3"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("# c\n\nid,a\nx,1\n\ny,2,3\nz,1\n", r"t\.csv:6: 3 cells where the first row has 2"),
        ('id,a\n"x\ny",1\nz\n', r"t\.csv:4: 1 cells"),
        (b"id,a\nx,1\ny,\xe9\n", r"t\.csv:3: not UTF-8"),
        ("id,a\n".encode("utf-16-le"), r"t\.csv: not UTF-8 .*data\.charset=utf-16-le"),
        ("", "t.csv is empty"),
        ("# only\n% comments", "t.csv is empty"),
        ("a,b,a\n1,2,3\n", r"t\.csv:1: two columns are called 'a'"),
        ("#\n0,1\n1,2\n", r"t\.csv:2: the first row must name the columns"),
    ],
)
def test_broken_text_is_told_with_its_line(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(DGBError, match=message) as caught:
        read_table(write(tmp_path / "t.csv", content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"), [("t.xlsx", b"x"), ("t.parquet", b"no"), ("t.csv.gz", b"\x1f\x8bno gzip")]
)
def test_other_files_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(DGBError, match=name):
        read_table(write(tmp_path / name, content))


def test_parquet_keeps_types_and_counts_rows_from_one(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"id": [7, 8], "s": ["a", ""]}), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert columns(table) == {"id": [7, 8], "s": ["a", None]}
    assert table.place(1) == "t.parquet row 2"


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "dict"])
def test_frames_of_all_kinds(kind: str) -> None:
    values = {"id": [1, 2], "s": ["x", "y"], "v": [0.5, 1.5]}
    frame: Any = values
    if kind == "polars":
        frame = pytest.importorskip("polars").DataFrame(values)
    elif kind != "dict":
        frame = pd.DataFrame(values) if kind == "pandas" else pa.table(values)
    table = table_of(frame, "nodes")
    assert columns(table) == {"id": [1, 2], "s": ["x", "y"], "v": [0.5, 1.5]}
    assert table.place(0) == "row 1 of nodes"


def test_the_index_of_pandas_is_no_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1, 2], "c": pd.Categorical(["x", "y"])}, index=[5, 6])
    assert columns(table_of(frame, "nodes")) == {"id": [1, 2], "c": ["x", "y"]}
    frame.to_parquet(tmp_path / "t.parquet")
    assert columns(read_table(tmp_path / "t.parquet")) == {"id": [1, 2], "c": ["x", "y"]}


@pytest.mark.parametrize("frame", [{"a": [1], "b": [1, 2]}, [1, 2], {"a": [1, "x"]}, 3])
def test_what_is_no_table_is_refused(frame: Any) -> None:
    with pytest.raises(DGBError, match="nodes: not a table"):
        table_of(frame, "nodes")


def test_a_folder_of_parquet_parts_is_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "nodes.parquet"
    folder.mkdir()
    for part, ids in enumerate((["a", "b"], ["c"])):
        parquet.write_table(pa.table({"id": ids}), folder / f"part-{part}.parquet")
    assert columns(read_table(folder)) == {"id": ["a", "b", "c"]}


def test_a_slice_of_a_table_is_read_as_its_own_rows() -> None:
    text = pa.array(["aaaa", "1", "", "22", None, "3"], pa.large_string())
    table = table_of(pa.table({"x": text}).slice(1), "rows")
    assert columns(table)["x"] == ["1", None, "22", None, "3"]
    numbers = number_cells(table.content.column("x").slice(2))
    assert numbers is not None and numbers[[0, 2]].tolist() == [22, 3]
