"""To torch_geometric's Data and back."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data

from dgb.data.align import align
from dgb.data.encoding import named_columns
from dgb.data.formats.pyg import from_pyg, to_pyg
from dgb.data.graph import Graph, Split, make_graph
from dgb.errors import DGBError


def toy(is_sparse: bool, num_splits: int) -> Graph:
    x = np.array([[1.0, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 1]])
    edges = sparse.coo_array(([0.5, 2.0], ([0, 1], [1, 2])), shape=(4, 4))
    split = Split(np.array([0]), np.array([2]), np.array([1, 3]))
    return make_graph(
        "toy",
        sparse.csr_array(x) if is_sparse else x,
        edges,
        node_ids=np.array(["a", "b", "c", "d"]),
        labels=np.array([0, 1, -1, 1]),
        splits=(split, Split(split.validation, split.train, split.test))[:num_splits],
    )


@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize("num_splits", [0, 1, 2])
def test_there_and_back(is_sparse: bool, num_splits: int) -> None:
    graph = toy(is_sparse, num_splits)
    data = to_pyg(graph)
    assert (data.num_nodes, data.num_edges, data.is_undirected()) == (4, 4, True)
    again = from_pyg(data, name="toy")
    assert sparse.issparse(again.x) == is_sparse
    assert abs(again.x - graph.x).max() == 0
    assert abs(again.adjacency - graph.adjacency).nnz == 0
    assert again.labels is not None
    assert again.labels.tolist() == [0, 1, -1, 1]
    assert again.node_ids.tolist() == ["a", "b", "c", "d"]
    parts = [[part.tolist() for part in vars(split).values()] for split in again.splits]
    assert parts == [[[0], [2], [1, 3]], [[2], [0], [1, 3]]][:num_splits]


def test_to_pyg_shares_no_memory_with_the_graph() -> None:
    graph = toy(is_sparse=False, num_splits=1)
    to_pyg(graph).x.zero_()
    assert graph.x.sum() == 6


def test_masks_in_columns_with_one_test_set_are_several_splits() -> None:
    data = Data(
        x=torch.ones(3, 2),
        edge_index=torch.tensor([[0, 1], [1, 2]]),
        train_mask=torch.tensor([[True, False], [False, True], [False, False]]),
        val_mask=torch.tensor([[False, True], [True, False], [False, False]]),
        test_mask=torch.tensor([False, False, True]),
        y=torch.tensor([[0], [1], [1]]),
    )
    graph = from_pyg(data)
    assert [split.train.tolist() for split in graph.splits] == [[0], [1]]
    assert [split.test.tolist() for split in graph.splits] == [[2], [2]]
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"edge_index": None}, "set data.edge_index"),
        ({"edge_index": torch.tensor([[0], [3]])}, "outside 0 … 2"),
        ({"feature_names": ["a"]}, "1 feature names for 2"),
        ({"y": torch.ones(3, 4)}, "one integer per node"),
        ({"train_mask": torch.ones(4, dtype=torch.bool)}, "train_mask"),
    ],
)
def test_what_cannot_be_a_graph_is_said(parts: dict[str, Any], words: str) -> None:
    whole: dict[str, Any] = {"x": torch.ones(3, 2), "edge_index": torch.tensor([[0], [1]])}
    with pytest.raises(DGBError, match=words):
        from_pyg(Data(**(whole | parts)))


def test_a_data_without_features_gets_some_and_says_so() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # PyG's own, on a number of nodes that it has to infer
        graph = from_pyg(Data(edge_index=torch.tensor([[0, 1], [1, 2]])), structure="degree")
    assert graph.num_nodes == 3
    assert graph.encoding is not None
    assert graph.encoding.structure == "degree"
    assert "no features" in graph.notes[0]
    assert from_pyg(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=9)).num_nodes == 9


def test_names_of_columns_are_kept() -> None:
    graph = replace(toy(is_sparse=True, num_splits=0), encoding=named_columns(["a", "b", "c"]))
    assert to_pyg(graph).feature_names == ["a", "b", "c"]
    assert from_pyg(to_pyg(graph)).encoding == graph.encoding


def test_scaled_columns_are_not_scaled_twice_after_a_way_through_pyg() -> None:
    scales = np.array([[1.0, 0, 0], [2.0, 1, 4]])
    graph = replace(
        toy(is_sparse=False, num_splits=0), encoding=named_columns(["a", "b", "c"], scales)
    )
    again = from_pyg(to_pyg(graph))
    assert again.encoding == graph.encoding
    np.testing.assert_array_equal(align(again, graph.encoding).x, graph.x)
    with pytest.raises(DGBError, match="3 shifts and as many scales"):
        data = to_pyg(graph)
        data.feature_scales = torch.zeros(2, 3)
        from_pyg(data)
