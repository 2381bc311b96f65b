"""To torch_geometric's HeteroData and back, as an object and as a file."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data, HeteroData
from torch_geometric.transforms import ToUndirected

from dgb.data.encoding import named_columns
from dgb.data.formats.pyg import from_hetero_data, to_hetero_data
from dgb.data.graph import Split
from dgb.data.load import is_hetero, load_graph, load_hetero
from dgb.data.objects import to_graph
from dgb.data.typed.graph import HeteroGraph, make_hetero_graph, make_node_type, make_relation
from dgb.errors import DGBError

from .test_heco import Harmful

WRITES = torch.tensor([[0, 1, 2, 2], [1, 0, 0, 2]])  # authors to papers, three of each


def toy() -> HeteroData:
    """Return three papers with features and labels, three authors with nothing but a count."""
    data = HeteroData()
    data["paper"].x = torch.tensor([[1.0, 0], [0, 0], [2, 3]])
    data["paper"].y = torch.tensor([0, 1, 1])
    data["author"].num_nodes = 3
    data["author", "writes", "paper"].edge_index = WRITES
    return data


def graph_of(num_splits: int, is_sparse: bool) -> HeteroGraph:
    x = np.array([[1.0, 0], [0, 0], [2, 3]])
    split = Split(np.array([0]), np.array([2]), np.array([1]))
    splits = (split, Split(split.test, split.train, split.validation))[:num_splits]
    writes = sparse.coo_array(([0.5, 2.0], ([0, 1], [2, 0])), shape=(4, 3))
    cites = sparse.coo_array(([1.0], ([0], [2])), shape=(3, 3))
    papers = make_node_type(
        np.array(["a", "b", "c"]),
        sparse.csr_array(x) if is_sparse else x,
        named_columns(["one", "two"], np.array([[0.0, 1], [2, 4]])),
    )
    return make_hetero_graph(
        "toy",
        {"paper": papers, "author": make_node_type(np.array([7, 5, 6, 9]))},
        [
            make_relation("author", "writes", "paper", writes),
            make_relation("paper", "cites", "paper", cites),
        ],
        "paper",
        labels=np.array([1, -1, 0]),
        splits=splits,
        split_names=("20", "40")[:num_splits],
    )


@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize("num_splits", [0, 1, 2])
def test_there_and_back(num_splits: int, is_sparse: bool) -> None:
    graph = graph_of(num_splits, is_sparse)
    data = to_hetero_data(graph)
    assert data.validate()
    assert (data["author"].num_nodes, "x" in data["author"]) == (4, False)
    again = from_hetero_data(data, name="toy")
    assert (again.name, again.target, again.notes) == ("toy", "paper", ())
    assert again.nodes["author"].x is None
    x, given = again.nodes["paper"].x, graph.nodes["paper"].x
    assert x is not None
    assert given is not None
    assert abs(x - given).max() == 0
    assert sparse.issparse(x) == is_sparse
    assert again.nodes["paper"].encoding == graph.nodes["paper"].encoding
    for kind, nodes in graph.nodes.items():
        assert again.nodes[kind].node_ids.tolist() == nodes.node_ids.tolist()
    assert [relation.label for relation in again.relations] == [
        "author-writes-paper",
        "paper-cites-paper",
    ]
    for one, two in zip(again.relations, graph.relations, strict=True):
        assert one.matrix.shape == two.matrix.shape
        assert abs(one.matrix - two.matrix).nnz == 0
    assert again.labels is not None
    assert again.labels.tolist() == [1, -1, 0]
    parts = [[part.tolist() for part in vars(split).values()] for split in again.splits]
    assert parts == [[[0], [2], [1]], [[1], [0], [2]]][:num_splits]
    assert again.split_names == ("20", "40")[:num_splits]


def test_a_relation_keeps_its_direction() -> None:
    graph = from_hetero_data(toy())
    (relation,) = graph.relations
    assert (relation.source, relation.target) == ("author", "paper")
    wanted = np.zeros((3, 3))
    wanted[WRITES[0], WRITES[1]] = 1
    np.testing.assert_array_equal(relation.matrix.toarray(), wanted)
    assert (wanted != wanted.T).any()


def test_a_reverse_relation_is_taken_once_and_said() -> None:
    graph = from_hetero_data(ToUndirected()(toy()))
    assert [relation.label for relation in graph.relations] == ["author-writes-paper"]
    assert graph.notes == (
        "relation paper-rev_writes-author is author-writes-paper from the other end and is taken "
        "once",
    )


@pytest.mark.parametrize("change", ["edges", "weights", "direction"])
def test_a_relation_that_is_no_exact_reverse_stays(change: str) -> None:
    data = toy()
    back = data["paper", "rev_writes", "author"]
    back.edge_index = WRITES.flip(0).clone()
    if change == "edges":
        back.edge_index[0, 0] = 2
    elif change == "weights":
        back.edge_weight = torch.tensor([1.0, 1, 1, 2])
    else:
        data = toy()
        data["author", "reads", "paper"].edge_index = WRITES.flip(0)
    assert len(from_hetero_data(data).relations) == 2


@pytest.mark.parametrize("is_turned", [True, False])
def test_relations_both_ways_under_one_name_are_named_apart(is_turned: bool) -> None:
    data = toy()
    edges = {("author", "writes", "paper"): WRITES, ("paper", "writes", "author"): WRITES[:, :2]}
    del data["author", "writes", "paper"]
    for key in sorted(edges, reverse=is_turned):
        data[key].edge_index = edges[key]
    graph = from_hetero_data(data)
    # By whichever is listed first, the same one has the same name: runs know relations by it.
    sizes = {relation.label: relation.num_edges for relation in graph.relations}
    assert sizes == {"author-writes-paper": 4, "paper-writes_back-author": 2}
    assert "is called paper-writes_back-author" in graph.notes[0]
    again = from_hetero_data(to_hetero_data(graph))
    assert {relation.label for relation in again.relations} == set(sizes)
    assert again.notes == ()


def test_a_name_apart_is_not_that_of_a_type() -> None:
    data = toy()
    data["author", "to", "paper"].edge_index = WRITES
    data["paper", "to", "author"].edge_index = WRITES[:, :2]
    data["back"].num_nodes = 2
    data["back", "of", "paper"].edge_index = WRITES[:, :1]
    graph = from_hetero_data(data)
    names = [relation.name for relation in graph.relations]
    assert len(set(names)) == len(names) == 4
    assert not set(names) & set(graph.nodes)


def test_the_target_is_the_only_one_with_labels_else_with_features() -> None:
    data = toy()
    data["author"].x = torch.ones(3, 1)
    assert from_hetero_data(data).target == "paper"
    assert from_hetero_data(data, "author").labels is None
    del data["paper"].y
    with pytest.raises(DGBError, match=r"paper, author have features.*data\.target"):
        from_hetero_data(data)
    del data["author"].x
    data["author"].num_nodes = 3
    assert from_hetero_data(data).target == "paper"


def test_labels_of_listed_nodes_only() -> None:
    data = toy()
    data["paper"].y, data["paper"].y_index = torch.tensor([4, 2]), torch.tensor([2, 0])
    labels = from_hetero_data(data).labels
    assert labels is not None
    assert labels.tolist() == [2, -1, 4]
    data["paper"].y_index = torch.tensor([2, 3])
    with pytest.raises(DGBError, match="y_index must name a node"):
        from_hetero_data(data)


def test_nodes_without_a_count_are_counted_by_their_edges_and_said() -> None:
    data = toy()
    data["paper", "in", "venue"].edge_index = torch.tensor([[0, 1], [4, 2]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # PyG's own, on a number of nodes that it has to infer
        graph = from_hetero_data(data)
    assert graph.nodes["venue"].num_nodes == 5
    assert "type venue have no num_nodes" in graph.notes[0]
    assert "venue" not in data.node_types  # what was given is left as it was


@pytest.mark.parametrize(
    ("kind", "key", "value", "words"),
    [
        (
            ("author", "writes", "paper"),
            "edge_index",
            None,
            "^relation author-writes-paper has no edge_index",
        ),
        (("author", "writes", "paper"), "edge_index", WRITES + 1, r"author-writes-paper: .*0 … 2"),
        (("author", "writes", "paper"), "edge_weight", -torch.ones(4), "not negative"),
        ("paper", "y", torch.ones(3, 4), "one integer per node"),
        ("paper", "y", torch.ones(4, dtype=torch.long), "3 nodes of type paper"),
        ("paper", "train_mask", torch.ones(4, dtype=torch.bool), "train_mask"),
        ("author", "node_ids", ["a"], "type author: 3 nodes but 1 node_ids"),
        ("author", "node_ids", torch.ones(3, 2), "type author: 3 nodes but 6 node_ids"),
        ("author", "node_ids", ["a", "b", "a"], r"type author: .*several nodes: 'a'; give"),
        ("paper", "node_ids", torch.tensor([4, 4, 7]), r"type paper: .*several nodes: 4; give"),
        ("paper", "x", torch.full((3, 2), torch.nan), "NaN"),
    ],
)
def test_what_cannot_be_a_graph_is_said(kind: Any, key: str, value: Any, words: str) -> None:
    data = toy()
    data[kind][key] = value
    with pytest.raises(DGBError, match=words):
        from_hetero_data(data)


@pytest.mark.parametrize("target", ["", "all", "paper"])
def test_nothing_at_all_is_said(target: str) -> None:
    with pytest.raises(DGBError, match="the HeteroData has no node types; give it some"):
        from_hetero_data(HeteroData(), target)


def test_a_file_is_read_by_load_hetero_and_refused_by_load_graph(tmp_path: Path) -> None:
    path = tmp_path / "mine.pt"
    torch.save(to_hetero_data(graph_of(2, is_sparse=False)), path)
    assert is_hetero(path)
    graph = load_hetero(path)
    assert (graph.name, graph.target, graph.num_edges) == ("mine", "paper", 3)
    with pytest.raises(DGBError, match=r"several types of nodes.*load_hetero"):
        load_graph(path)
    torch.save(Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]])), path)
    assert not is_hetero(path)
    with pytest.raises(DGBError, match="not a heterogeneous graph"):
        load_hetero(path)


def test_a_file_runs_nothing(tmp_path: Path) -> None:
    mark, path = tmp_path / "mark", tmp_path / "mine.pt"
    data = toy()
    data["paper"].more = Harmful(mark)
    torch.save(data, path)
    assert is_hetero(path)
    with pytest.raises(DGBError, match="not plain"):
        load_hetero(path)
    for broken in (b"", b"no zip", path.read_bytes()[:300]):
        path.write_bytes(broken)
        assert not is_hetero(path)
    data = toy()
    data["paper"].x = "text"
    torch.save(data, path)
    with pytest.raises(DGBError, match="not a whole HeteroData"):
        load_hetero(path)
    assert not mark.exists()


def test_one_graph_of_one_type_cannot_be_made_of_it() -> None:
    with pytest.raises(DGBError, match=r"several types of nodes.*fit_transform"):
        to_graph(toy())
