"""What is seen while a large file is read, and that it changes nothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tqdm import tqdm

from dgb.data.load import load_graph
from dgb.data.tables.source import read_table


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the bars that are made, whoever makes them."""
    made: list[Any] = []

    class Kept(tqdm):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            made.append(self)

    monkeypatch.setattr("tqdm.tqdm", Kept)
    return made


def test_a_text_file_is_told_by_its_bytes(tmp_path: Path, bars: list[Any]) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "a,b\nb,c\n" * 1000)
    assert read_table(path).content.num_rows == 2000
    assert [(bar.desc, bar.n, bar.total) for bar in bars] == [("edges.csv", 8014, 8014)]
    assert bars[0].unit == "B" and bars[0].delay == 1  # nothing is drawn within the first second


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_row_groups_of_parquet_are_read_in_order(
    tmp_path: Path, bars: list[Any], rows: int
) -> None:
    path = tmp_path / "nodes.parquet"
    words = pa.array([f"w{i % 3}" for i in range(rows)], pa.string()).dictionary_encode()
    table = pa.table({"id": np.arange(rows), "word": words})
    parquet.write_table(table, path, row_group_size=2)
    found = read_table(path).content
    assert found["id"].to_pylist() == list(range(rows))
    assert found["word"].to_pylist() == [f"w{i % 3}" for i in range(rows)]
    (bar,) = bars
    assert bar.desc == "nodes.parquet" and bar.n <= bar.total and (bar.n > 0 or rows == 0)


def test_arrays_tell_features_and_edges_and_nothing_is_printed_for_a_small_graph(
    tmp_path: Path, bars: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "edges.npy", np.array([[0, 1, 2], [1, 2, 0]], np.int32))
    np.save(tmp_path / "nodes.npy", np.ones((3, 2), np.float32))
    np.save(tmp_path / "labels.npy", np.arange(3))
    load_graph(tmp_path)
    assert [(bar.desc, bar.n) for bar in bars] == [("features", 24), ("adjacency", 3)]
    assert capsys.readouterr().err == ""
