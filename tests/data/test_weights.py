"""Weights of edges: repeats, scales, and what other libraries call them."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData

from dgb.cli import main
from dgb.data.formats.pyg import from_hetero_data, from_pyg
from dgb.data.graph import Graph, make_graph
from dgb.data.load import load_graph
from dgb.data.look.trouble import trouble
from dgb.data.objects import to_graph
from dgb.data.structure import structural_features
from dgb.errors import DGBError

ROWS = "source,target,amount\na,b,2\na,b,3\nb,a,4\nb,c,10\nc,c,9\n"  # a–b three times, one loop


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "edges.csv"
    path.write_text(ROWS, "utf-8")
    return path


def weight(graph: Graph, one: str, other: str) -> float:
    ids = graph.node_ids.tolist()
    both = graph.adjacency[ids.index(one), ids.index(other)]
    assert both == graph.adjacency[ids.index(other), ids.index(one)]
    return float(both)


@pytest.mark.parametrize(("repeats", "expected"), [("max", 4), ("sum", 9), ("count", 3)])
def test_an_edge_that_is_listed_again_weighs_as_asked(
    shop: Path, repeats: str, expected: float
) -> None:
    graph = load_graph(shop, weight="amount", repeats=repeats)
    assert weight(graph, "a", "b") == expected
    assert weight(graph, "b", "c") == (1 if repeats == "count" else 10)
    assert graph.adjacency.diagonal().sum() == 0
    (note,) = [note for note in graph.notes if "listed again" in note]
    assert "also in the other direction: 2 of 4;" in note
    assert {"max": "largest", "sum": "added up", "count": "as often as"}[repeats] in note


def test_a_list_of_every_edge_both_ways_repeats_none_of_them(shop: Path) -> None:
    shop.write_text("source,target,weight\na,b,2\nb,a,2\nb,c,5\nc,b,5\n", "utf-8")
    for repeats in ("max", "sum"):
        graph = load_graph(shop, repeats=repeats)
        assert (weight(graph, "a", "b"), weight(graph, "b", "c")) == (2, 5)
        assert not any("again" in note for note in graph.notes)


@pytest.mark.parametrize("kind", ["npy", "npz", "pyg", "matrix"])
def test_other_forms_of_edges_count_repeats_as_well(tmp_path: Path, kind: str) -> None:
    index = np.array([[0, 0, 1, 1], [1, 1, 0, 2]])

    def read(**settings: Any) -> Graph:
        if kind == "pyg":
            return to_graph(Data(x=torch.eye(3), edge_index=torch.from_numpy(index)), **settings)
        if kind == "matrix":
            ones = np.array([[0, 2, 0], [1, 0, 1], [0, 0, 0]])
            return to_graph(np.eye(3), adjacency=ones, **settings)
        path = tmp_path / f"edges.{kind}"
        if kind == "npy":
            np.save(path, index)
        else:
            np.savez(path, edge_index=index, x=np.eye(3))
        return load_graph(path, **settings)

    assert read().adjacency[0, 1] == (2 if kind == "matrix" else 1)
    assert any("listed again" in note for note in read().notes)
    assert read(repeats="sum").adjacency[0, 1] == 3
    assert read(repeats="sum").adjacency[1, 2] == 1
    assert any("weights were added up" in note for note in read(repeats="sum").notes)


def test_weights_are_scaled_and_it_is_told(shop: Path) -> None:
    plain = load_graph(shop, weight="amount")
    logs = load_graph(shop, weight="amount", weights="log")
    assert weight(logs, "b", "c") == pytest.approx(np.log(11))
    assert "(data.weights=log): median 7, now 2" in logs.notes[-1]
    even = load_graph(shop, weight="amount", weights="mean-1")
    assert even.adjacency.data.mean() == pytest.approx(1)
    assert weight(even, "b", "c") / weight(even, "a", "b") == pytest.approx(2.5)
    # Features that are made of edges are made of the scaled ones.
    expected = structural_features(logs.adjacency, logs.node_ids, "walk")
    np.testing.assert_array_equal(logs.x, expected)
    assert not np.array_equal(plain.x, logs.x)


def test_edges_without_weights_have_none_to_scale(shop: Path) -> None:
    graph = load_graph(shop, weights="log")
    assert (graph.adjacency.data == 1).all()
    assert not any("scaled" in note for note in graph.notes)
    assert "edges.csv: data.weight=amount would take 'amount' for the weights" in graph.notes


def test_the_command_takes_a_column_for_the_weights(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "check", str(shop), "--weight", "amount"]) == 0
    assert "weights                 min 4, median 7, 99 % 10, max 10\n" in capsys.readouterr().out
    assert main(["data", "check", str(shop), "--weight", "amont"]) == 2
    assert "amount" in capsys.readouterr().err
    assert main(["data", "check", "cora", "--set", "data.repeats=sum"]) == 2
    assert "go with a file of edges" in capsys.readouterr().err
    assert main(["data", "check", "examples/library", "--set", "data.weights=log"]) == 2
    assert "one node type" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.full(100, 400.0), "far from 1 (median 400"),
        (np.full(100, 0.01), "far from 1 (median 0.01"),
        (np.repeat([1.0, 50.0], [90, 10]), "very uneven (median 1, one in a hundred above 50)"),
        (np.linspace(0.2, 5, 100), None),
    ],
)
def test_weights_far_from_one_are_trouble(weights: Any, words: str | None) -> None:
    places = np.arange(100)
    edges = nx.Graph()
    edges.add_weighted_edges_from(zip(places, (places + 1) % 100, weights, strict=True))
    x = np.random.default_rng(0).random((100, 4))
    found = trouble(make_graph("ring", x, nx.to_scipy_sparse_array(edges)))
    assert len(found) == (words is not None)
    assert all(words in sentence and "data.weights=log" in sentence for sentence in found if words)


@pytest.mark.parametrize("shape", [(3,), (3, 1)])
def test_edge_attr_of_one_number_is_the_weight(shape: tuple[int, ...]) -> None:
    index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    data = Data(x=torch.eye(4), edge_index=index, edge_attr=torch.tensor([2.0, 3, 4]).view(shape))
    graph = from_pyg(data)
    assert graph.adjacency[0, 1] == 2
    assert "is taken for the weights" in graph.notes[0]
    data.edge_weight = torch.ones(3)
    assert from_pyg(data).adjacency[0, 1] == 1
    assert from_pyg(data).notes == ()


@pytest.mark.parametrize(
    "attribute", [torch.ones(3, 4), torch.tensor([0, 1, 2]), torch.tensor([-1.0, 1, 1])]
)
def test_other_edge_attr_is_told_to_be_unused(attribute: torch.Tensor) -> None:
    index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    graph = from_pyg(Data(x=torch.eye(4), edge_index=index, edge_attr=attribute))
    assert (graph.adjacency.data == 1).all() and graph.num_edges == 3
    assert f"edge_attr of shape {list(attribute.shape)} is not used" in graph.notes[0]


def test_edge_attr_of_a_relation_is_the_weight_as_well() -> None:
    data = HeteroData()
    data["a"].x, data["b"].x = torch.eye(2), torch.eye(2)
    data["a", "to", "b"].edge_index = torch.tensor([[0, 1], [1, 0]])
    data["a", "to", "b"].edge_attr = torch.tensor([2.0, 3.0])
    graph = from_hetero_data(data, target="a")
    assert graph.relations[0].matrix.max() == 3
    assert graph.notes[0].startswith("relation a-to-b: edge_attr")


def test_directions_and_parallel_edges_of_networkx_are_told() -> None:
    directed = nx.MultiDiGraph([(0, 1), (0, 1), (1, 0), (1, 2)])
    graph = to_graph(nx.DiGraph([(0, 1), (1, 2)]))
    notes = " ".join(to_graph(directed).notes)
    assert "listed again, also in the other direction: 2 of 4" in notes
    assert "4 directed edges became 2 without direction" in notes
    assert "2 directed edges became 2" in graph.notes[-1]
    assert "listed again" not in " ".join(graph.notes)
    assert not any("direct" in note for note in to_graph(nx.path_graph(4)).notes)


def test_sums_that_are_no_numbers_any_more_are_refused(shop: Path) -> None:
    shop.write_text("source,target,weight\na,b,3e38\na,b,3e38\nb,c,1\n", "utf-8")
    with pytest.raises(DGBError, match="finite"):
        load_graph(shop, repeats="sum")
