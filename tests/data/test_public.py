"""The readers of public formats, on tiny files of those formats."""

import gzip
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from dgb.data.public.datasets import read_gnn_benchmark, read_ogbn_arxiv, read_wikics
from dgb.errors import DGBError


def write_gnn_benchmark(path: Path) -> Path:
    """Write four nodes; the names are a pickled array, as in the published files."""
    adjacency = sparse.csr_array(([1.0, 1.0, 1.0, 1.0], ([0, 1, 2, 3], [1, 0, 1, 3])), shape=(4, 4))
    words = sparse.csr_array(np.array([[0, 3.0], [1, 0], [0, 0], [2, 2]]))
    arrays = {"labels": np.array([0, 1, 1, 0]), "node_names": np.array(["a", None], dtype=object)}
    for prefix, matrix in (("adj", adjacency), ("attr", words)):
        for part in ("data", "indices", "indptr", "shape"):
            arrays[f"{prefix}_{part}"] = np.asarray(getattr(matrix, part))
    np.savez(path, allow_pickle=True, **arrays)
    return path


def test_gnn_benchmark(tmp_path: Path) -> None:
    graph = read_gnn_benchmark("amazon-toy", write_gnn_benchmark(tmp_path / "toy.npz"))
    assert (graph.name, graph.num_edges, graph.num_classes) == ("amazon-toy", 2, 2)
    np.testing.assert_array_equal(graph.x.toarray(), [[0, 1], [1, 0], [0, 0], [1, 1]])


def test_gnn_benchmark_without_labels_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "toy.npz", adj_data=np.ones(1))
    with pytest.raises(DGBError, match="not the published file"):
        read_gnn_benchmark("amazon-toy", tmp_path / "toy.npz")


WIKICS = {
    "features": [[0.5, 1], [0, -1], [2, 2]],
    "labels": [0, 1, 2],
    "links": [[1, 0], [], [1]],
    "train_masks": [[True, False, False], [False, True, False]],
    "val_masks": [[False, True, False], [True, False, False]],
    "stopping_masks": [[False, False, False], [False, False, False]],
    "test_mask": [False, False, True],
}


def test_wikics(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text(json.dumps(WIKICS))
    graph = read_wikics("wikics", tmp_path / "data.json")
    assert (graph.num_nodes, graph.num_edges, graph.num_classes) == (3, 2, 3)
    assert graph.x[1, 1] == -1
    assert [split.train.tolist() for split in graph.splits] == [[0], [1]]
    assert [split.validation.tolist() for split in graph.splits] == [[1], [0]]
    assert [split.test.tolist() for split in graph.splits] == [[2], [2]]


@pytest.mark.parametrize("content", ["{", "[]", json.dumps(WIKICS | {"links": [[7], [], []]})])
def test_broken_wikics(tmp_path: Path, content: str) -> None:
    (tmp_path / "data.json").write_text(content)
    with pytest.raises(DGBError, match=r"not the published file|outside 0 … 2"):
        read_wikics("wikics", tmp_path / "data.json")


ARXIV = {
    "raw/node-feat": "0.5,1\n-0.25,0\n0,3\n",
    "raw/edge": "0,1\n2,1\n",
    "raw/node-label": "0\n4\n1\n",
    "split/time/train": "2\n",
    "split/time/valid": "0\n",
    "split/time/test": "1\n",
}


def write_arxiv(path: Path, tables: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in tables.items():
            archive.writestr(f"arxiv/{name}.csv.gz", gzip.compress(text.encode()))
    return path


def test_ogbn_arxiv(tmp_path: Path) -> None:
    graph = read_ogbn_arxiv("ogbn-arxiv", write_arxiv(tmp_path / "arxiv.zip", ARXIV))
    np.testing.assert_array_equal(graph.x, np.array([[0.5, 1], [-0.25, 0], [0, 3]], np.float32))
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 4, 1]
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert [part.tolist() for part in vars(graph.splits[0]).values()] == [[2], [0], [1]]


def test_broken_ogbn_arxiv(tmp_path: Path) -> None:
    part = {name: text for name, text in ARXIV.items() if name != "raw/edge"}
    with pytest.raises(DGBError, match="not the published file"):
        read_ogbn_arxiv("ogbn-arxiv", write_arxiv(tmp_path / "arxiv.zip", part))
    (tmp_path / "arxiv.zip").write_bytes(b"not a zip")
    with pytest.raises(DGBError, match="not the published file"):
        read_ogbn_arxiv("ogbn-arxiv", tmp_path / "arxiv.zip")
