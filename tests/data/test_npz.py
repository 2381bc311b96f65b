"""The project's own graph file."""

import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dgb.data.encoding import Column, Encoding
from dgb.data.formats.npz import read_npz, write_npz
from dgb.data.graph import Graph, Split, make_graph
from dgb.data.structure import with_structure
from dgb.errors import DGBError

PATH_OF_THREE = np.array([[0, 1], [1, 2]])


def toy(is_sparse: bool = True, **parts: Any) -> Graph:
    x = np.array([[1.0, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 1]])
    edges = sparse.coo_array(([1.0, 1.0], PATH_OF_THREE), shape=(4, 4))
    return make_graph(
        "toy", sparse.csr_array(x) if is_sparse else x, parts.pop("edges", edges), **parts
    )


def assert_same(one: Graph, other: Graph) -> None:
    assert abs(one.adjacency - other.adjacency).nnz == 0
    assert sparse.issparse(one.x) == sparse.issparse(other.x)
    assert abs(one.x - other.x).max() == 0
    assert one.node_ids.tolist() == other.node_ids.tolist()
    assert one.label_names == other.label_names
    assert (one.labels is None) == (other.labels is None)
    if one.labels is not None and other.labels is not None:
        assert one.labels.tolist() == other.labels.tolist()


@pytest.mark.parametrize("is_sparse", [True, False])
def test_what_is_written_is_read(tmp_path: Path, is_sparse: bool) -> None:
    weighted = sparse.coo_array(([0.5, 3.0], PATH_OF_THREE), shape=(4, 4))
    split = Split(np.array([0]), np.array([2]), np.array([1]))
    graph = toy(
        is_sparse,
        edges=weighted,
        node_ids=np.array(["a", "b", "ç", "d"], dtype=object),
        labels=np.array([0, 1, -1, 1]),
        label_names=("no", "yes"),
        splits=(split,),
    )
    write_npz(tmp_path / "toy.npz", graph)
    again = read_npz(tmp_path / "toy.npz")
    assert_same(graph, again)
    assert again.name == "toy"
    assert [part.tolist() for part in vars(again.splits[0]).values()] == [[0], [2], [1]]


def test_several_splits_are_kept(tmp_path: Path) -> None:
    one, two, three = np.array([0]), np.array([1]), np.array([2, 3])
    write_npz(tmp_path / "g.npz", toy(splits=(Split(one, two, three), Split(two, one, three))))
    splits = read_npz(tmp_path / "g.npz").splits
    assert [split.train.tolist() for split in splits] == [[0], [1]]
    assert [split.test.tolist() for split in splits] == [[2, 3], [2, 3]]


def test_only_what_says_something_is_written(tmp_path: Path) -> None:
    write_npz(tmp_path / "g.npz", toy())
    with np.load(tmp_path / "g.npz", allow_pickle=False) as file:
        assert set(file.files) == {"x_indices", "x_indptr", "x_shape", "edge_index"}
        assert file["edge_index"].dtype == np.uint8
        assert file["edge_index"].shape == (2, 2)


def test_the_same_graph_gives_the_same_bytes_and_no_other_file(tmp_path: Path) -> None:
    write_npz(tmp_path / "one.npz", toy())
    write_npz(tmp_path / "two.npz", toy())
    with zipfile.ZipFile(tmp_path / "one.npz") as file:
        assert {member.date_time for member in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.npz", "two.npz"]


def test_writing_into_no_folder_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match="choose another place"):
        write_npz(tmp_path / "nowhere" / "g.npz", toy())


def test_what_would_change_silently_is_not_written(tmp_path: Path) -> None:
    mixed = toy(node_ids=np.array([1, "a", 2, 3], dtype=object))
    with pytest.raises(DGBError, match="mixed types"):
        write_npz(tmp_path / "g.npz", mixed)
    both = Split(np.array([0]), np.array([0]), np.array([1]))
    with pytest.raises(DGBError, match="two parts"):
        write_npz(tmp_path / "g.npz", toy(splits=(both,)))
    assert list(tmp_path.iterdir()) == []


GOOD: dict[str, Any] = {
    "x_indices": [0, 2, 1],
    "x_indptr": [0, 2, 3],
    "x_shape": [2, 3],
    "edge_index": [[0], [1]],
    "y": [0, 1],
}


def write_arrays(path: Path, **changes: Any) -> Path:
    arrays = {key: np.array(value) for key, value in (GOOD | changes).items() if value is not None}
    np.savez(path, allow_pickle=True, **arrays)
    return path


def test_the_good_arrays_are_read(tmp_path: Path) -> None:
    graph = read_npz(write_arrays(tmp_path / "g.npz"))
    np.testing.assert_array_equal(graph.x.toarray(), [[1, 0, 1], [0, 1, 0]])
    assert graph.num_edges == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"edge_index": None}, "no array 'edge_index'"),
        ({"x_indptr": None}, "no array 'x_indptr'"),
        ({"x_indices": [0, 9, 1]}, "fix the file"),
        ({"x_indices": [0, -1, 1]}, "fix the file"),
        ({"x_indptr": [0, 2]}, "fix the file"),
        ({"x_indptr": [0, 5, 3]}, "fix the file"),
        ({"x_shape": [10**12, 3]}, "fix the file"),
        ({"x_shape": [2]}, "g.npz"),
        ({"x_indices": [0.0, 1.5, 1.0]}, "must be integers"),
        ({"x_data": [1.0, np.nan, 1.0]}, "NaN"),
        ({"edge_index": [[0], [2]]}, "outside 0 … 1"),
        ({"edge_index": [[0], [-1]]}, "outside 0 … 1"),
        ({"edge_index": [0, 1]}, "shape"),
        ({"edge_weight": [1.0, 2.0]}, "one value per edge"),
        ({"edge_weight": [-1.0]}, "not negative"),
        ({"y": [0]}, "labels of shape"),
        ({"y": [0.5, 1.0]}, "one integer per node"),
        ({"y": [0, -7]}, "one integer per node"),
        ({"label_names": ["only one"]}, "label_names"),
        ({"feature_names": ["a", "b"]}, "2 feature names for 3 feature columns"),
        ({"feature_names": ["a", "b", "a"]}, "two feature columns are called 'a'"),
        ({"feature_names": ["a", "b", "c"], "feature_scales": [[0, 0, 0], [1, 1, 0]]}, "scales"),
        ({"x_indices": None, "x_indptr": None, "x_shape": None, "structure": "x"}, "unknown kind"),
        ({"split": [1, 2, 3]}, "2 integers"),
        ({"x": [1.0, 2.0]}, "g.npz"),
        ({"node_ids": np.array([{}, {}])}, "plain arrays"),
    ],
)
def test_broken_content_is_one_clear_line(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(DGBError) as caught:
        read_npz(write_arrays(tmp_path / "g.npz", **changes))
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert "g.npz" in message


def test_files_that_are_no_npz_are_refused_and_never_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    for content in (b"", b"not a zip", pickle.dumps([1]), write_arrays(path).read_bytes()[:200]):
        path.write_bytes(content)
        with pytest.raises(DGBError, match="not a readable npz"):
            read_npz(path)
    with pytest.raises(DGBError, match="no such file"):
        read_npz(tmp_path / "absent.npz")


def named(**changes: Any) -> Encoding:
    return Encoding((Column("age", **changes), Column("size"), Column("place=Köln")))


def test_names_and_scales_of_columns_are_kept(tmp_path: Path) -> None:
    for encoding in (named(), named(shift=40.0, scale=12.5)):
        write_npz(tmp_path / "g.npz", replace(toy(), encoding=encoding))
        assert read_npz(tmp_path / "g.npz").encoding == encoding


def test_levels_of_a_category_come_back_as_columns_of_their_own(tmp_path: Path) -> None:
    category = Encoding((Column("size"), Column("place", "category", levels=("Bonn", "Köln"))))
    write_npz(tmp_path / "g.npz", replace(toy(), encoding=category))
    again = read_npz(tmp_path / "g.npz").encoding
    assert again is not None
    assert again.feature_names() == ["size", "place=Bonn", "place=Köln"]


def test_features_made_of_the_edges_are_not_written_but_made_again(tmp_path: Path) -> None:
    made = with_structure(toy(node_ids=np.array(["a", "b", "c", "d"])), "ppr")
    write_npz(tmp_path / "g.npz", made)
    with np.load(tmp_path / "g.npz", allow_pickle=False) as file:
        assert set(file.files) == {"structure", "edge_index", "node_ids"}
    again = read_npz(tmp_path / "g.npz", structure="degree")
    assert again.encoding == Encoding(structure="ppr")
    np.testing.assert_array_equal(again.x, made.x)


def test_a_file_of_edges_alone_gets_features_and_a_note(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", edge_index=np.array([[0, 1], [1, 4]], np.uint8))
    graph = read_npz(tmp_path / "g.npz", structure="degree")
    assert graph.num_nodes == 5
    assert "no features" in graph.notes[0]
    np.savez(tmp_path / "g.npz", edge_index=np.array([[0, 1], [1, 4]]), y=np.array([0] * 7))
    assert read_npz(tmp_path / "g.npz").num_nodes == 7
