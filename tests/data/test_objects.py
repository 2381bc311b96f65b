"""Objects of other libraries that hold a graph."""

from types import SimpleNamespace
from typing import Any

import networkx
import numpy as np
import pandas
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data as PygData
from torch_geometric.data import HeteroData

from dgb.data.encoding import Encoding, named_columns
from dgb.data.graph import Graph, make_graph
from dgb.data.objects import to_graph
from dgb.errors import DGBError

X = np.array([[1, 0.5], [0, 1], [1, 1]], np.float32)
ADJACENCY = sparse.csr_array(np.array([[0, 2.0, 0], [2.0, 0, 1], [0, 1, 0]]))


def dense(graph: Graph) -> Any:
    return graph.x.toarray() if sparse.issparse(graph.x) else graph.x


def test_a_graph_stays_itself() -> None:
    graph = make_graph("toy", X, ADJACENCY)
    assert to_graph(graph) is graph


def test_a_data_of_pyg() -> None:
    data = PygData(x=torch.from_numpy(X), edge_index=torch.tensor([[0, 1], [1, 2]]))
    assert to_graph(data).num_edges == 2
    made = to_graph(PygData(edge_index=data.edge_index, num_nodes=3), structure="degree")
    assert made.encoding == Encoding(structure="degree")


@pytest.mark.parametrize("kind", ["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"])
def test_networkx_graphs_of_every_kind(kind: str) -> None:
    network = getattr(networkx, kind)()
    network.add_nodes_from([(3, {"a": 0.5}), (1, {"a": 0.25}), (2, {"a": 1.0})])
    network.add_edge(3, 1, weight=2.0)
    network.add_edge(1, 3)
    graph = to_graph(network)
    assert graph.node_ids.tolist() == [3, 1, 2]
    assert graph.node_ids.dtype.kind == "i"
    assert graph.num_edges == 1
    np.testing.assert_allclose(dense(graph)[:, 0], [0.5, 0.25, 1.0])


def test_networkx_without_attributes_gets_features_and_keeps_lonely_nodes() -> None:
    network = networkx.path_graph(4)
    network.add_node(9)
    graph = to_graph(network, structure="ppr")
    assert graph.num_nodes == 5
    assert graph.encoding == Encoding(structure="ppr")
    assert "no features" in graph.notes[0]


@pytest.mark.parametrize(
    "ids", [[(0, 1), (1, 2), 3], [True, False, 2], [0, 1, 2**70], [0.5, 1.5, 2]]
)
def test_networkx_ids_of_other_types_become_text_and_it_is_said(ids: list[Any]) -> None:
    network = networkx.Graph()
    network.add_edges_from([(ids[0], ids[1]), (ids[1], ids[2])])
    graph = to_graph(network)
    assert graph.node_ids.tolist() == [str(node) for node in network.nodes]
    assert "turned into text" in graph.notes[0]


def test_networkx_integers_of_numpy_stay_integers() -> None:
    network = networkx.Graph([(np.int64(5), np.int32(7)), (7, 8)])
    assert to_graph(network).node_ids.tolist() == [5, 7, 8]


def test_networkx_ids_that_are_one_text_are_refused() -> None:
    with pytest.raises(DGBError, match="'1'"):
        to_graph(networkx.Graph([(1, "1"), (1, 2)]))


def test_networkx_labels_splits_and_an_attribute_called_id() -> None:
    network = networkx.path_graph(3)
    values = zip(["x", "y", "x"], ["train", "test", "validation"], [0.1, 0.2, 0.3], strict=True)
    for node, (kind, split, number) in enumerate(values):
        network.nodes[node].update({"kind": kind, "split": split, "id": number})
    graph = to_graph(network, label="kind")
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 0]
    assert graph.splits[0].test.tolist() == [1]
    assert graph.node_ids.tolist() == [0, 1, 2]
    np.testing.assert_allclose(dense(graph), [[0.1], [0.2], [0.3]], rtol=1e-6)


def test_networkx_weights_of_another_name() -> None:
    network = networkx.Graph()
    network.add_edge("a", "b", strength=3.0, weight=9.0)
    network.add_edge("b", "c", strength=1.0)
    assert to_graph(network, weight="strength").adjacency[0, 1] == 3
    assert to_graph(network).adjacency[0, 1] == 9


def test_igraph_by_its_names() -> None:
    igraph = pytest.importorskip("igraph")
    network = igraph.Graph(edges=[(0, 1), (1, 2)])
    network.vs["name"] = ["p", "q", "r"]
    network.vs["size"] = [0.5, 0.25, 1.0]
    network.es["weight"] = [2.0, 1.0]
    graph = to_graph(network)
    assert graph.node_ids.tolist() == ["p", "q", "r"]
    assert graph.adjacency[0, 1] == 2
    np.testing.assert_allclose(dense(graph)[:, 0], [0.5, 0.25, 1.0])
    assert to_graph(igraph.Graph(n=4, edges=[(0, 2)])).node_ids.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("x", [X, sparse.csr_matrix(X), X.tolist()])
@pytest.mark.parametrize(
    "adjacency", [ADJACENCY, sparse.coo_matrix(ADJACENCY), ADJACENCY.toarray()]
)
def test_features_with_an_adjacency(x: Any, adjacency: Any) -> None:
    graph = to_graph(x, adjacency=adjacency)
    np.testing.assert_array_equal(dense(graph), X)
    np.testing.assert_array_equal(graph.adjacency.toarray(), ADJACENCY.toarray())


def test_a_frame_with_an_adjacency_names_its_columns() -> None:
    frame = pandas.DataFrame(X, columns=["age", "size"])
    graph = to_graph(frame, adjacency=ADJACENCY)
    assert graph.encoding == named_columns(["age", "size"])
    np.testing.assert_array_equal(graph.x, X)
    turned = to_graph(frame[["size", "age"]], adjacency=ADJACENCY, encoding=graph.encoding)
    np.testing.assert_array_equal(turned.x, X)
    with pytest.raises(DGBError, match=r"lacks 1 of the 2 .* age"):
        to_graph(frame[["size"]], adjacency=ADJACENCY, encoding=graph.encoding)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_frames_of_nodes_and_edges(name: str) -> None:
    library = pytest.importorskip(name)  # polars is none of the test extra
    nodes = library.DataFrame(
        {"id": ["a", "b", "c"], "size": [0.5, 1.0, 0.25], "label": ["x", "y", "x"]}
    )
    edges = library.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [2.0, 1.0]})
    graph = to_graph(nodes, edges=edges)
    assert graph.node_ids.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(graph.adjacency.toarray(), ADJACENCY.toarray())
    assert graph.label_names == ("x", "y")
    alone = to_graph(None, edges=edges, structure="walk")
    assert alone.node_ids.tolist() == ["a", "b", "c"]
    assert alone.encoding == Encoding(structure="walk")


def test_the_encoding_of_a_frame_serves_new_nodes() -> None:
    edges = pandas.DataFrame({"source": [1, 2], "target": [2, 3]})
    nodes = pandas.DataFrame({"id": [1, 2, 3], "age": [20, 40, 90], "town": ["P", "Q", "P"]})
    graph = to_graph(nodes, edges=edges)
    again = to_graph(nodes[["town", "id", "age"]], edges=edges, encoding=graph.encoding)
    np.testing.assert_array_equal(dense(again), dense(graph))
    assert again.encoding == graph.encoding


@pytest.mark.parametrize(
    ("data", "more", "words"),
    [
        (X, {}, "a ndarray is not a graph; give a torch_geometric Data"),
        (None, {}, "is not a graph"),
        (HeteroData(), {}, "several types of nodes"),
        (X, {"adjacency": ADJACENCY, "edges": {}}, "not both"),
        (X, {"adjacency": ADJACENCY[:2]}, "square"),
        (X, {"adjacency": "text"}, "n × n matrix"),
        (X, {"adjacency": np.broadcast_to(np.float32(0), (6000, 6000))}, "scipy sparse"),
        (SimpleNamespace(), {"structure": "walks"}, "data.structure must be one of"),
        (SimpleNamespace(), {"lable": "x"}, "did you mean 'label'"),
    ],
)
def test_anything_else_is_told_what_is_possible(
    data: Any, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(DGBError, match=words):
        to_graph(data, **more)
