"""Files of other programs that hold a graph."""

import gzip
import pickle
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet
from scipy import io, sparse
from torch_geometric.data import Data as PygData
from torch_geometric.data import HeteroData

from dgb.data.encoding import Encoding, named_columns
from dgb.data.files import read_file
from dgb.data.formats.arrays import node_matrix
from dgb.data.formats.npz import write_npz
from dgb.data.formats.pyg import to_pyg
from dgb.data.graph import Graph, make_graph
from dgb.data.load import load_graph
from dgb.data.structure import structural_features
from dgb.errors import DGBError
from dgb.recipe import Data

PAIRS = np.array([[0, 1, 2], [1, 2, 3]])
ADJACENCY = sparse.coo_array((np.array([1.0, 2.0, 0.5]), PAIRS), shape=(5, 5))
X = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [2, 0]], np.float32)


def read(path: Path, encoding: Encoding | None = None, **reading: Any) -> Graph:
    return read_file(path, Data(**{key: str(value) for key, value in reading.items()}), encoding)


def write(path: Path, content: Any) -> Path:
    """Write an array, a sparse matrix, a networkx graph or text, by the suffix."""
    if path.name.endswith((".mtx", ".mtx.gz")):
        with gzip.open(path, "wb") if path.suffix == ".gz" else path.open("wb") as file:
            io.mmwrite(file, content)
    elif path.suffix == ".npz":
        sparse.save_npz(path, content)
    elif path.suffix == ".npy":
        np.save(path, content)
    elif path.suffix == ".graphml":
        networkx.write_graphml(content, path)
    elif path.suffix == ".pt":
        torch.save(content, path)
    else:
        path.write_text(content, "utf-8")
    return path


def expected_weights() -> Any:
    return (ADJACENCY + ADJACENCY.T).toarray()


@pytest.mark.parametrize("name", ["g.npz", "g.mtx", "g.mtx.gz"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_an_adjacency_is_read_with_its_weights(tmp_path: Path, name: str, form: str) -> None:
    graph = read(write(tmp_path / name, ADJACENCY.asformat(form)))
    np.testing.assert_allclose(graph.adjacency.toarray(), expected_weights())
    assert graph.name == "g"
    assert graph.node_ids.tolist() == [0, 1, 2, 3, 4]
    assert "no features" in graph.notes[0]
    np.testing.assert_array_equal(
        graph.x, structural_features(graph.adjacency, graph.node_ids, "walk")
    )


def test_old_files_of_scipy_are_read_too(tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "g.npz", sparse.csr_matrix(ADJACENCY), compressed=False)
    assert read(tmp_path / "g.npz").num_edges == 3


def test_a_symmetric_pattern_of_matrix_market(tmp_path: Path) -> None:
    head = "%%MatrixMarket matrix coordinate pattern symmetric\n% a comment\n3 3 2\n2 1\n3 2\n"
    path = tmp_path / "g.mtx"
    path.write_text(head, "ascii")
    assert read(path).adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("pairs", [PAIRS, PAIRS.T.copy(), PAIRS.astype(np.uint16)])
def test_pairs_are_read_either_way_round(tmp_path: Path, pairs: Any) -> None:
    graph = read(write(tmp_path / "edges.npy", pairs), structure="degree")
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected_weights()[:4, :4] > 0)
    assert graph.encoding == Encoding(structure="degree")


def test_two_pairs_are_ambiguous_and_it_is_said(tmp_path: Path) -> None:
    graph = read(write(tmp_path / "edges.npy", np.array([[0, 1], [2, 3]])))
    assert graph.adjacency[0, 2] == graph.adjacency[1, 3] == 1
    assert "2 × 2" in graph.notes[0]


@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_features_in_a_matrix_of_their_own(tmp_path: Path, name: str) -> None:
    nodes = write(tmp_path / name, X if name == "x.npy" else sparse.csc_array(X))
    graph = read(write(tmp_path / "edges.npy", PAIRS), nodes=nodes)
    assert graph.num_nodes == 5  # the last has no edge, but a row
    assert sparse.issparse(graph.x) == (name == "x.npz")
    np.testing.assert_array_equal(graph.x.toarray() if sparse.issparse(graph.x) else graph.x, X)
    assert graph.notes == ()


def test_node_rows_in_a_table_without_ids_stand_for_positions(tmp_path: Path) -> None:
    table = "size,label\n0.1,b\n0.2,a\n0.3,a\n0.4,b\n0.5,\n"
    nodes = write(tmp_path / "nodes.csv", table)
    graph = read(write(tmp_path / "g.mtx", ADJACENCY), nodes=nodes)
    assert graph.node_ids.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(graph.x[:, 0], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert graph.encoding is not None
    assert graph.encoding.feature_names() == ["size"]
    assert graph.labels is not None
    assert graph.labels.tolist() == [1, 0, 0, 1, -1]
    np.testing.assert_allclose(graph.adjacency.toarray(), expected_weights())


def test_ids_in_a_table_are_names_of_positions(tmp_path: Path) -> None:
    nodes = write(tmp_path / "nodes.csv", "id\ne\nd\nc\nb\na\n")
    graph = read(write(tmp_path / "g.npz", ADJACENCY.tocsr()), nodes=nodes, structure="ppr")
    assert graph.node_ids.tolist() == ["e", "d", "c", "b", "a"]
    np.testing.assert_allclose(graph.adjacency.toarray(), expected_weights())
    made = structural_features(graph.adjacency, graph.node_ids, "ppr")
    np.testing.assert_array_equal(graph.x, made)


def test_edges_that_count_rows_refuse_rows_in_another_order(tmp_path: Path) -> None:
    nodes = write(tmp_path / "nodes.csv", "id,f\n1,1\n0,0\n3,1\n2,0\n")
    with pytest.raises(DGBError, match=r"nodes\.csv: its ids are 0 … 3 .*; sort the rows by id"):
        read(write(tmp_path / "g.npy", PAIRS), nodes=nodes)
    nodes = write(tmp_path / "nodes.csv", "id,f\n0,1\n1,0\n2,1\n3,0\n")
    assert read(tmp_path / "g.npy", nodes=nodes).num_edges == 3


def test_what_is_told_of_edges_in_an_array_with_a_table_of_nodes(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("id,a\nu,1\nv,2\nw,3\n", "utf-8")
    twice = write(tmp_path / "twice.npy", np.array([[0, 1, 0], [1, 2, 1]]))
    notes = read(twice, nodes=nodes).notes
    assert len(notes) == 1 and "listed again, also in the other direction: 1 of 3" in notes[0]
    stored = sparse.coo_array((np.array([1.0, 0.0]), ([0, 1], [1, 2])), shape=(3, 3))
    assert read(write(tmp_path / "e.npz", stored), nodes=nodes).notes == (
        "edges of weight 0, left out: 1",
    )
    none = sparse.coo_array((3, 3))
    told = "there is no edge: every node is embedded by its own features alone"
    assert read(write(tmp_path / "none.npz", none), nodes=nodes).notes == (told,)
    with pytest.raises(DGBError, match=r"data\.ends names columns of a table"):
        read(twice, nodes=nodes, ends="a,b")


def test_labels_of_arrays_are_an_array_or_a_table(tmp_path: Path) -> None:
    edges = write(tmp_path / "edges.npy", PAIRS)
    x = write(tmp_path / "x.npy", X)
    table = write(tmp_path / "y.csv", "id,label,split\n3,b,train\n0,a,test\n1,b,validation\n")
    graph = read(edges, nodes=x, labels=table)
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, -1, 1, -1]
    assert graph.label_names == ("a", "b")
    assert graph.splits[0].train.tolist() == [3]
    np.testing.assert_array_equal(graph.x, X)
    plain = read(edges, nodes=x, labels=write(tmp_path / "y.npy", np.array([0, 1, 2, 1, -1])))
    assert plain.labels is not None
    assert plain.labels.tolist() == [0, 1, 2, 1, -1]


def network() -> Any:
    graph = networkx.Graph()
    graph.add_node("p1", size=0.5, field="maths")
    graph.add_node("007", size=0.25, field="art")
    graph.add_node("ç", size=1.0, field="art")
    graph.add_edge("p1", "007", weight=2.5)
    graph.add_edge("ç", "007")
    return graph


def test_graphml_keeps_ids_and_attributes(tmp_path: Path) -> None:
    graph = read(write(tmp_path / "g.graphml", network()))
    assert graph.node_ids.tolist() == ["p1", "007", "ç"]
    assert graph.adjacency[0, 1] == 2.5
    assert graph.adjacency[1, 2] == 1
    assert graph.encoding is not None
    assert graph.encoding.feature_names() == ["size", "field=art", "field=maths"]
    rows = graph.x.toarray() if sparse.issparse(graph.x) else graph.x
    np.testing.assert_allclose(rows, np.array([[0.5, 0, 1], [0.25, 1, 0], [1, 1, 0]]))


def test_a_data_of_pyg_is_read_whole(tmp_path: Path) -> None:
    data = PygData(x=torch.from_numpy(X), edge_index=torch.from_numpy(PAIRS))
    data.y = torch.tensor([0, 1, 1, 0, 0])
    data.node_ids = ["a", "b", "c", "d", "e"]
    data.train_mask = torch.tensor([True, False, False, False, False])
    graph = read(write(tmp_path / "cites.pt", data))
    assert (graph.name, graph.num_edges, graph.num_classes) == ("cites", 3, 2)
    assert graph.node_ids.tolist() == ["a", "b", "c", "d", "e"]
    again = read(write(tmp_path / "again.pt", to_pyg(graph)))
    np.testing.assert_array_equal(again.x, X)
    del data.x
    assert "no features" in read(write(tmp_path / "bare.pt", data)).notes[0]


class Harmful:
    """Writes a file as soon as it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def test_a_pt_file_runs_nothing_and_other_contents_are_refused(tmp_path: Path) -> None:
    mark, path = tmp_path / "mark", tmp_path / "g.pt"
    data = PygData(x=torch.from_numpy(X), edge_index=torch.from_numpy(PAIRS), more=Harmful(mark))
    whole = torch.from_numpy(X)
    for content in (data, Harmful(mark), {"x": whole}, [data], whole, HeteroData()):
        with pytest.raises(DGBError, match="save one torch_geometric Data"):
            read(write(path, content))
    for broken in (b"", b"no zip", pickle.dumps(Harmful(mark)), path.read_bytes()[:300]):
        path.write_bytes(broken)
        with pytest.raises(DGBError, match="save one torch_geometric Data"):
            read(path)
    assert not mark.exists()
    with pytest.raises(DGBError, match="not a whole Data"):
        read(write(path, PygData(x="text", edge_index=torch.from_numpy(PAIRS))))


def test_every_form_is_reached_by_load_graph(tmp_path: Path) -> None:
    contents: dict[str, Any] = {
        "a.npy": PAIRS,
        "b.npz": ADJACENCY.tocsr(),
        "c.mtx.gz": ADJACENCY,
        "d.graphml": networkx.path_graph(4),
        "e.pt": PygData(edge_index=torch.from_numpy(PAIRS)),
    }
    for name, content in contents.items():
        graph = load_graph(write(tmp_path / name, content), structure="degree")
        assert (graph.name, graph.num_edges) == (name[0], 3)
        assert graph.encoding == Encoding(structure="degree")


def test_a_file_without_edge_index_or_matrix_says_what_it_needs(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", y=np.arange(3))
    with pytest.raises(DGBError, match=r"no array .*save_npz.*edge_index"):
        read(tmp_path / "g.npz")


BROKEN_PARTS = {
    "format": np.array(b"csr"),
    "shape": np.array([3, 3]),
    "data": np.ones(1),
    "indices": np.array([1]),
    "indptr": np.array([0, 1, 1, 1]),
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": np.array(b"bsr")}, "one of csr, csc, coo"),
        ({"indices": np.array([7])}, "save_npz"),
        ({"indices": np.array([0.5])}, "must be integers"),
        ({"indptr": np.array([0, 5, 5, 5])}, "save_npz"),
        ({"shape": np.array([3])}, "two integers"),
        ({"data": np.array([None])}, "plain arrays"),
        ({"data": np.array([1j])}, "real numbers"),
        ({"shape": np.array([3, 4])}, "square"),
    ],
)
def test_broken_sparse_files_are_one_clear_line(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    np.savez(tmp_path / "g.npz", **(BROKEN_PARTS | change))
    with pytest.raises(DGBError, match=words) as caught:
        read(tmp_path / "g.npz")
    assert "g.npz" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("e.npy", np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 2.0]]), "must be integers"),
        ("e.npy", np.arange(6), "shape"),
        ("e.npy", np.array([[0, -1, 2], [1, 1, 1]]), "outside 0 … 2"),
        ("e.npy", np.array([[0, 10**12, 2], [1, 1, 1]]), "which takes any ids"),
        ("e.mtx", sparse.coo_array(np.ones((2, 3))), "square"),
        ("e.mtx", sparse.coo_array(-np.eye(3)[::-1]), r"e\.mtx: .*not negative"),
    ],
)
def test_what_are_no_edges_is_refused(tmp_path: Path, name: str, content: Any, words: str) -> None:
    with pytest.raises(DGBError, match=words):
        read(write(tmp_path / name, content))


@pytest.mark.parametrize("name", ["g.npy", "g.npz", "g.mtx", "g.mtx.gz", "g.graphml", "g.pt"])
def test_rubbish_and_missing_files_are_one_clear_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(DGBError, match="no such file"):
        read(path)
    for rubbish in (b"", b"rubbish\n1 2", b"junk", pickle.dumps([1])):
        path.write_bytes(rubbish)
        with pytest.raises(DGBError) as caught:
            read(path)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["g.npy", "g.npz", "g.mtx", "g.mtx.gz", "g.graphml", "g.pt"])
def test_endings_in_capitals_are_read_too(tmp_path: Path, name: str) -> None:
    contents = {
        "g.npy": PAIRS,
        "g.graphml": network(),
        "g.pt": to_pyg(make_graph("two", X, ADJACENCY)),
    }
    path = write(tmp_path / name, contents.get(name, ADJACENCY))
    plain = read(path)
    shouted = read(path.rename(tmp_path / name.upper()))
    np.testing.assert_array_equal(shouted.adjacency.toarray(), plain.adjacency.toarray())
    x = write(tmp_path / "x.npy", np.ones((plain.num_nodes, 3))).rename(tmp_path / "X.NPY")
    assert node_matrix(x).shape == (plain.num_nodes, 3)


def test_rows_and_nodes_must_be_as_many(tmp_path: Path) -> None:
    nodes = write(tmp_path / "x.npy", X[:4])
    with pytest.raises(DGBError, match=r"5 nodes but .*x.npy 4 rows"):
        read(write(tmp_path / "g.mtx", ADJACENCY), nodes=nodes)
    with pytest.raises(DGBError, match="outside 0 … 1"):
        read(write(tmp_path / "e.npy", PAIRS), nodes=write(tmp_path / "x.npy", X[:2]))
    with pytest.raises(DGBError, match="one row per node"):
        node_matrix(write(tmp_path / "x.npy", X[0]))


def test_a_whole_graph_takes_no_other_files(tmp_path: Path) -> None:
    graph = read(write(tmp_path / "g.graphml", network()))
    write_npz(tmp_path / "own.npz", graph)
    assert read(tmp_path / "own.npz").node_ids.tolist() == ["p1", "007", "ç"]
    for name in ("own.npz", "g.graphml"):
        with pytest.raises(DGBError, match="holds its nodes itself"):
            read(tmp_path / name, nodes="nodes.csv")
    with pytest.raises(DGBError, match="not a file of a known form"):
        read_file(tmp_path / "g.csv", Data(), None)


def test_columns_come_as_a_model_had_them(tmp_path: Path) -> None:
    graph = read(write(tmp_path / "g.graphml", network()))
    fewer = network()
    for _, attributes in fewer.nodes(data=True):
        attributes["extra"] = 1
    again = read(write(tmp_path / "new.graphml", fewer), graph.encoding)
    assert abs(again.x - graph.x).max() == 0
    with pytest.raises(DGBError, match=r"5 feature columns|trained on"):
        x = write(tmp_path / "x.npy", X)
        read(write(tmp_path / "e.npy", PAIRS), named_columns("abc"), nodes=x)


def test_starts_of_rows_that_fall_back_to_none_are_refused(tmp_path: Path) -> None:
    """Refuse what scipy lets through, and what would read beyond the memory of the matrix."""
    np.savez(
        tmp_path / "nodes.npz",
        format=np.array(b"csr"),
        shape=np.array([3, 2]),
        data=np.ones(4),
        indices=np.zeros(4, np.int32),
        indptr=np.array([0, 4, 2, 0]),
    )
    np.save(tmp_path / "edges.npy", np.array([[0, 1], [1, 2]]))
    with pytest.raises(DGBError, match=r"nodes\.npz: `indptr` must not fall"):
        load_graph(tmp_path)


def test_parquet_with_text_of_other_bytes_is_refused(tmp_path: Path) -> None:
    cells = pa.array([b"a", b"\xff\xfe"], pa.binary())
    table = pa.table({"source": cells.view(pa.string()), "target": ["b", "c"]})
    parquet.write_table(table, tmp_path / "edges.parquet")
    with pytest.raises(DGBError, match=r"edges\.parquet: not a readable Parquet file"):
        load_graph(tmp_path)
