"""What is seen while a large file is read, and that it changes nothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dgb import terminal as progress
from dgb.data import load_graph
from dgb.data.tables.table import read_table


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the bars that were made, each with its `desc`, `total` and `n`."""
    made: list[Any] = []
    real = progress.progress_bar

    def keeping(*arguments: Any, **options: Any) -> Any:
        assert options["delay"] == 1 and options["unit_scale"]
        made.append(real(*arguments, **options))
        return made[-1]

    monkeypatch.setattr("dgb.terminal.progress_bar", keeping)
    monkeypatch.setattr("dgb.arrays.progress_bar", keeping)
    return made


def test_a_text_file_is_told_by_its_bytes(tmp_path: Path, bars: list[Any]) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "a,b\nb,c\n" * 1000)
    assert read_table(path).content.num_rows == 2000
    assert [(bar.desc, bar.n, bar.total) for bar in bars] == [("edges.csv", 8014, 8014)]


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
    assert bars[0].desc == "nodes.parquet" and bars[0].n <= bars[0].total


def test_arrays_tell_features_and_edges_and_nothing_is_printed_for_a_small_graph(
    tmp_path: Path, bars: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "edges.npy", np.array([[0, 1, 2], [1, 2, 0]], np.int32))
    np.save(tmp_path / "nodes.npy", np.ones((3, 2), np.float32))
    np.save(tmp_path / "labels.npy", np.arange(3))
    load_graph(tmp_path)
    assert [(bar.desc, bar.n) for bar in bars] == [("features", 24), ("adjacency", 3)]
    assert capsys.readouterr().err == ""
