"""Arrays, tensors and columns of any type and shape where a graph is expected."""

import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pyarrow import parquet
from scipy import sparse
from torch_geometric.data import Data

from dgb.data.graph import Graph
from dgb.data.load import load_graph
from tests.fuzz.oracle import answer, inputs, lay

NAMED = ("i8", "i1", "u8", "f4", "f8", "f2", "b1", "U4", "S3", "c8", "M8[s]")
KINDS = [np.dtype(name) for name in NAMED]
WHOLE = ["edge_index", "edge_weight", "x", "y", "node_ids", "split", "label_names", "feature_names"]
PARTS = ["x_data", "x_indices", "x_indptr", "x_shape", "feature_scales", "structure"]
SCIPY = ["format", "shape", "data", "indices", "indptr", "row", "col"]
SHAPES = [(), (0,), (4,), (5,), (2,), (2, 5), (5, 2), (4, 3), (4, 1), (1, 4), (0, 3), (2, 2, 2)]


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    kind = draw(st.sampled_from(KINDS))
    shape = draw(st.sampled_from(SHAPES))
    if kind.kind == "i" and draw(st.booleans()):
        return draw(hnp.arrays(kind, shape, elements=st.integers(-1, 4)))
    return draw(hnp.arrays(kind, shape))


def whole() -> dict[str, np.ndarray]:
    """Return the arrays of a graph of four nodes."""
    edges = np.array([[0, 1, 2], [1, 2, 3]])
    return {"edge_index": edges, "x": np.eye(4, 3), "y": np.array([0, 1, 1, -1])}


def packed(arrays: dict[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()


@inputs(6)
@given(changed=st.dictionaries(st.sampled_from(WHOLE + PARTS), arrays(), min_size=1, max_size=4))
def test_an_npz_of_any_arrays(tmp_path: Path, changed: dict[str, np.ndarray]) -> None:
    lay(tmp_path, {"g.npz": packed(whole() | changed)})
    graph = answer(lambda: load_graph(tmp_path / "g.npz"), "g.npz")
    if isinstance(graph, Graph) and "x" in changed and changed["x"].ndim == 2:
        np.testing.assert_array_equal(graph.x, changed["x"].astype(np.float32))


@inputs(4)
@given(changed=st.dictionaries(st.sampled_from(SCIPY), arrays(), min_size=1, max_size=3))
def test_a_sparse_matrix_of_any_arrays(tmp_path: Path, changed: dict[str, np.ndarray]) -> None:
    matrix = sparse.csr_array(np.eye(4, k=1))
    parts = {
        name: np.asarray(getattr(matrix, name)) for name in ("shape", "data", "indices", "indptr")
    }
    lay(tmp_path, {"g.npz": packed(parts | {"format": np.array(b"csr")} | changed)})
    answer(lambda: load_graph(tmp_path / "g.npz"), "g.npz")


@inputs(3)
@given(edges=arrays(), nodes=arrays(), labels=arrays(), which=st.integers(0, 7))
def test_npy_files_of_any_arrays(
    tmp_path: Path, edges: np.ndarray, nodes: np.ndarray, labels: np.ndarray, which: int
) -> None:
    drawn = {"edges": edges, "nodes": nodes, "labels": labels}
    right = dict(zip(drawn, whole().values(), strict=True))
    files = {}
    for bit, name in enumerate(drawn):
        file = io.BytesIO()
        np.save(file, (drawn if which >> bit & 1 else right)[name], allow_pickle=False)
        files[f"{name}.npy"] = file.getvalue()
    lay(tmp_path, files)
    answer(lambda: load_graph(tmp_path), *files, tmp_path.name)


MOMENT = datetime(2024, 2, 29, tzinfo=UTC)
CELLS = [True, 1, -1, 2**62, 0.5, float("nan"), float("inf"), "a", "", "1", "\x00", b"\xff", None]
CELLS += [MOMENT, MOMENT.date(), MOMENT.time(), [1.0, 2.0], [], ["a"], {"k": 1}]


@st.composite
def columns(draw: st.DrawFn, length: int) -> Any:
    """Draw a column of one type, with gaps; of several types it could not be written."""
    cell = draw(st.sampled_from(CELLS))
    if isinstance(cell, str):
        letters = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
        made = pa.array([draw(letters) for _ in range(length)])
    else:
        made = pa.array([draw(st.sampled_from([cell, cell, None])) for _ in range(length)])
    return made.dictionary_encode() if draw(st.booleans()) and isinstance(cell, str) else made


@inputs(5)
@given(data=st.data())
def test_parquet_of_any_columns(tmp_path: Path, data: st.DataObject) -> None:
    edges = {"source": pa.array(["a", "b", "c"]), "target": pa.array(["b", "c", "d"])}
    nodes = {"id": pa.array(list("abcd")), "size": pa.array([1, 2, 3, 4.5])}
    for table, names in (
        (edges, ["source", "target", "weight"]),
        (nodes, ["id", "size", "label", "new"]),
    ):
        length = len(next(iter(table.values())))
        for name in data.draw(st.lists(st.sampled_from(names), max_size=2)):
            table[name] = data.draw(columns(length))
    files = {}
    for name, table in (("edges", edges), ("nodes", nodes)):
        file = io.BytesIO()
        parquet.write_table(pa.table(table), file)
        files[f"{name}.parquet"] = file.getvalue()
    lay(tmp_path, files)
    answer(lambda: load_graph(tmp_path), *files, tmp_path.name)


TENSORS = (
    "x",
    "edge_index",
    "edge_weight",
    "y",
    "train_mask",
    "test_mask",
    "node_ids",
    "feature_names",
)
THINGS = st.sampled_from(
    [None, "text", 7, ["a", "b"], {"k": 1}, [1, "a", None, 2.5], torch.zeros(4, 4).to_sparse()]
)


@inputs(3)
@given(
    changed=st.dictionaries(
        st.sampled_from((*TENSORS, "num_nodes")),
        arrays().filter(lambda a: a.dtype.kind in "biuf" and a.dtype != np.uint64).map(torch.tensor)
        | THINGS,
        min_size=1,
        max_size=4,
    )
)
def test_a_pt_file_of_any_tensors(tmp_path: Path, changed: dict[str, Any]) -> None:
    parts = {name: torch.tensor(array) for name, array in whole().items()}
    lay(tmp_path, {})
    torch.save(Data(**parts | changed), tmp_path / "g.pt")
    answer(lambda: load_graph(tmp_path / "g.pt"), "g.pt")
