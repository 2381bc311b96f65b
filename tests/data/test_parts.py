"""Large graphs: files stay files, and what is done in parts comes out as if done at once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dgb import arrays as parts
from dgb.arrays import Array
from dgb.data.fingerprint import fingerprint
from dgb.data.formats.arrays import edge_matrix
from dgb.data.graph import make_graph, undirected
from dgb.data.load import load_graph
from dgb.errors import DGBError
from tests.conftest import make_blocks

PAIRS = np.array([[0, 1, 2], [1, 2, 3]], np.int32)


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "NUMBERS", 6)
    monkeypatch.setattr(parts, "NONZEROS", 4)


def write_graph(folder: Path, x: Array) -> Path:
    np.save(folder / "edges.npy", PAIRS)
    np.save(folder / "nodes.npy", x)
    np.save(folder / "labels.npy", np.arange(len(x), dtype=np.int32) % 2)
    return folder


def test_float32_features_stay_in_their_file(tmp_path: Path) -> None:
    x = np.random.default_rng(0).random((5, 3), np.float32)
    graph = load_graph(write_graph(tmp_path, x))
    assert isinstance(graph.x.base, np.memmap)
    np.testing.assert_array_equal(graph.x, x)
    assert graph.labels is not None and graph.labels.tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int8, ">f4"])
def test_other_features_are_turned_into_float32(tmp_path: Path, dtype: Any) -> None:
    x = np.arange(15).reshape(5, 3).astype(dtype)
    graph = load_graph(write_graph(tmp_path, x))
    assert graph.x.dtype == np.float32 and graph.x.dtype.isnative
    np.testing.assert_array_equal(graph.x, x)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (2, 1), (6, 2)])
@pytest.mark.usefixtures("few_at_once")
def test_a_gap_is_found_in_whichever_part(value: float, place: tuple[int, int]) -> None:
    x = np.ones((7, 3), np.float32)
    x[place] = value
    for features in (x, sparse.csr_array(x)):
        with pytest.raises(DGBError, match="NaN or infinite"):
            make_graph("toy", features, sparse.coo_array((7, 7)))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_fingerprint_does_not_tell_the_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: Any
) -> None:
    x = np.asarray(np.random.default_rng(0).random((5, 3), np.float32), order=order)
    whole = fingerprint(make_graph("toy", x.copy(), edge_matrix(PAIRS, 5), labels=np.arange(5) % 2))
    monkeypatch.setattr(parts, "NUMBERS", 4)
    assert fingerprint(load_graph(write_graph(tmp_path, x))) == whole
    x[4, 2] += 1
    assert fingerprint(load_graph(write_graph(tmp_path, x))) != whole


@pytest.mark.usefixtures("few_at_once")
def test_parts_are_all_rows_once_and_not_too_many_at_a_time() -> None:
    rows = parts.row_parts(8, 2)
    assert [part.stop - part.start for part in rows] == [3, 3, 2]
    assert parts.row_parts(2, 100) == [slice(0, 1), slice(1, 2)]
    starts = np.array([0, 0, 3, 5, 30, 30, 31])  # a row larger than a part, and empty ones
    cuts = parts.nonzero_parts(starts)
    assert [i for part in cuts for i in range(part.start, part.stop)] == list(range(6))
    assert parts.nonzero_parts(np.zeros(4, int)) == [slice(0, 3)]


def brute_force(row: Array, col: Array, weight: Array, size: int) -> Array:
    dense = np.zeros((size, size), np.float32)
    for i, j, value in zip(row, col, weight, strict=True):
        if i != j:
            dense[i, j] = dense[j, i] = max(dense[i, j], value)
    return dense


@pytest.mark.parametrize("values", [(1.0,), (2.5,), (0.0,), (0.0, 1.0), (0.0, 0.5, 1.0, 7.0)])
@pytest.mark.parametrize("count", [0, 3, 40, 400])
def test_edges_become_what_the_rule_says(values: tuple[float, ...], count: int) -> None:
    rng = np.random.default_rng(count)
    row, col = rng.integers(12, size=(2, count))
    weight = rng.choice(values, count)
    found = undirected(sparse.coo_array((weight, (row, col)), shape=(12, 12)))
    np.testing.assert_array_equal(found.toarray(), brute_force(row, col, weight, 12))
    assert found.has_canonical_format and found.dtype == np.float32
    assert found.data.all() and found.indices.dtype == found.indptr.dtype == np.int32


def test_an_edge_listed_256_times_is_an_edge() -> None:
    # Ones of eight bits that are added would make zero of them.
    found = undirected(edge_matrix(np.repeat([[0], [1]], 256, axis=1), 3))
    assert found.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_a_weight_too_small_for_float32_is_no_edge() -> None:
    weight = np.array([1e-60, 1.0])
    assert undirected(sparse.coo_array((weight, ([0, 1], [1, 2])), shape=(3, 3))).nnz == 2


def test_positions_of_32_bits_are_not_copied() -> None:
    edges = edge_matrix(PAIRS, 4)
    assert all(np.shares_memory(ends, PAIRS) for ends in edges.coords)
    assert edges.data.nbytes == 3


@pytest.mark.parametrize("pairs", [[[0], [4]], [[-1], [0]]])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_positions_beyond_the_nodes_are_refused(pairs: list[list[int]], dtype: Any) -> None:
    with pytest.raises(DGBError, match=r"outside 0 … 3"):
        edge_matrix(np.array(pairs, dtype), 4)


def test_reading_leaves_the_given_matrix_as_it_is() -> None:
    edges = sparse.coo_array((np.array([1.0, 3.0, 2.0]), ([0, 1, 1], [1, 0, 1])), shape=(2, 2))
    undirected(edges)
    assert edges.data.tolist() == [1.0, 3.0, 2.0] and edges.nnz == 3
    graph = make_blocks(30)
    again = undirected(graph.adjacency)
    assert abs(again - graph.adjacency).nnz == 0
