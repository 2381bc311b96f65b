"""Objects as people have them: mixed types in frames, labels as floats, attributes of edges."""

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from torch_geometric.data import Data

from dgb.cli import main
from dgb.data.objects import to_graph
from dgb.errors import DGBError
from tests.data.test_edge_table import pairs
from tests.data.test_messy import values

EDGES = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3]})
INDEX = torch.tensor([[0, 1, 2], [1, 2, 3]])


def test_columns_of_several_types_are_text() -> None:
    rows = pd.DataFrame({"id": [0, "1", 2, 3], "v": [1, "2", 3.5, None], "kind": ["a", 5, "a", 5]})
    graph = to_graph(rows, edges=EDGES)
    assert pairs(graph) == {("0", "1"), ("1", "2"), ("2", "3")}
    assert values(graph).tolist() == pytest.approx([1, 2, 3.5, 2])
    assert graph.encoding is not None and graph.encoding.columns[1].levels == ("5", "a")


def test_spans_of_time_are_numbers_of_days() -> None:
    rows = pd.DataFrame({"id": range(4), "v": pd.to_timedelta([1, 2, 3, 12], "D")})
    assert values(to_graph(rows, edges=EDGES)).tolist() == pytest.approx([1, 2, 3, 12])


@pytest.mark.parametrize("unknown", [float("nan"), -1.0])
def test_whole_numbers_with_a_point_are_classes(unknown: float) -> None:
    data = Data(x=torch.eye(4), edge_index=INDEX, y=torch.tensor([0.0, 1.0, unknown, 1.0]))
    graph = to_graph(data)
    assert graph.labels is not None and graph.labels.tolist() == [0, 1, -1, 1]
    for wrong in (0.5, float("inf")):
        data.y = torch.tensor([0.0, 1.0, wrong, 1.0])
        with pytest.raises(DGBError, match="training needs none: leave them out"):
            to_graph(data)


def test_other_tensors_are_read_or_refused() -> None:
    graph = to_graph(Data(x=torch.eye(4).bfloat16(), edge_index=INDEX))
    assert np.array_equal(graph.x, np.eye(4))
    with pytest.raises(DGBError, match=r"x must be \[num_nodes, num_features\], not \[4\]"):
        to_graph(Data(x=torch.ones(4), edge_index=INDEX))
    for matrix in (torch.eye(4).to_sparse(), torch.eye(4).to_sparse_csr()):
        with pytest.raises(DGBError, match="sparse tensor of torch; give a scipy"):
            to_graph(np.eye(4), adjacency=matrix)


def test_edges_without_a_weight_and_other_attributes_are_told() -> None:
    network = nx.path_graph(4)
    nx.set_edge_attributes(network, {(0, 1): {"weight": "3"}, (1, 2): {"weight": 2}})
    graph = to_graph(network)
    assert sorted(set(graph.adjacency.data)) == [1.0, 2.0, 3.0]
    assert "edges without 'weight', which weigh 1: 1 of 3" in graph.notes
    other = nx.path_graph(4)
    nx.set_edge_attributes(other, 5.0, "strength")
    notes = to_graph(other).notes
    assert "attributes of edges that are not used: strength" in notes
    assert "data.weight=strength would take 'strength' for the weights" in notes
    assert not any("strength" in note for note in to_graph(other, weight="strength").notes)


@pytest.mark.parametrize("verb", ["links", "outliers", "predict"])
def test_a_missing_run_is_not_a_fault_of_an_option(verb: str, tmp_path: Any, capsys: Any) -> None:
    assert main([verb, str(tmp_path / "none")]) == 2
    told = capsys.readouterr().err
    assert "--out" not in told and "dgb train" in told
