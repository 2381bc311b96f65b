"""HeCo's folders: letters for types, pairs in text files, and nothing unpickled."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dgb.data.typed.heco import is_heco, read_heco
from dgb.errors import DGBError

LABELS = np.array([2.0, 0, 1, 1, 0, 2])
PA = np.array([[0, 0, 1, 2, 3, 4, 5], [0, 3, 1, 1, 2, 3, 0]])
PS = np.array([[0, 1, 2, 3, 4, 5], [0, 1, 1, 0, 1, 0]])


class Harmful:
    """Writes a file as soon as it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def write_pairs(path: Path, pairs: Any) -> None:
    np.savetxt(path, np.asarray(pairs).T, fmt="%d", delimiter="\t")


def write_splits(folder: Path, names: tuple[str, ...]) -> None:
    for name in names:
        for part, nodes in (("train", [4, 0]), ("val", [1, 5]), ("test", [2, 3])):
            np.save(folder / f"{part}_{name}.npy", np.array(nodes))


@pytest.fixture
def acm(tmp_path: Path) -> Path:
    """Write 6 papers, 4 authors and 2 subjects, as HeCo's ACM is written."""
    folder = tmp_path / "acm"
    folder.mkdir()
    rng = np.random.default_rng(0)
    sparse.save_npz(folder / "p_feat.npz", sparse.csr_matrix(rng.integers(0, 3, (6, 5)) * 1.0))
    sparse.save_npz(folder / "a_feat.npz", sparse.coo_matrix(rng.integers(0, 2, (4, 3)) * 1.0))
    write_pairs(folder / "pa.txt", PA)
    write_pairs(folder / "ps.txt", PS)
    np.save(folder / "labels.npy", LABELS)
    write_splits(folder, ("100", "20", "40"))
    return folder


def test_types_relations_labels_and_splits(acm: Path) -> None:
    graph = read_heco(acm)
    assert (graph.name, graph.target) == ("acm", "p")
    assert {kind: nodes.num_nodes for kind, nodes in graph.nodes.items()} == {
        "p": 6,
        "a": 4,
        "s": 2,
    }
    assert graph.nodes["s"].x is None
    assert sparse.issparse(graph.nodes["p"].x)
    assert graph.labels is not None
    assert graph.labels.tolist() == [2, 0, 1, 1, 0, 2]
    assert graph.split_names == ("20", "40", "100")
    assert [part.tolist() for part in vars(graph.splits[0]).values()] == [[4, 0], [1, 5], [2, 3]]
    assert graph.notes == ()


def test_features_in_csr_and_in_coo_form_are_the_files_rows(acm: Path) -> None:
    graph = read_heco(acm)
    for kind in "pa":
        wanted, x = sparse.load_npz(acm / f"{kind}_feat.npz"), graph.nodes[kind].x
        assert x is not None
        np.testing.assert_array_equal(x.toarray(), wanted.toarray())


def test_the_first_letter_is_of_the_rows(acm: Path) -> None:
    # As many papers as authors: the transposed matrix would fit just as well.
    sparse.save_npz(acm / "a_feat.npz", sparse.csr_matrix(np.eye(6)))
    graph = read_heco(acm, "p")
    (relation,) = [relation for relation in graph.relations if relation.target == "a"]
    assert relation.source == "p"
    wanted = np.zeros((6, 6))
    wanted[PA[0], PA[1]] = 1
    np.testing.assert_array_equal(relation.matrix.toarray(), wanted)
    assert (wanted != wanted.T).any()


def test_pairs_both_ways_that_differ_can_both_be_named(acm: Path) -> None:
    write_pairs(acm / "ap.txt", PA[::-1, 1:])
    relations = {relation.label: relation.num_edges for relation in read_heco(acm).relations}
    assert relations == {"a-to-p": 6, "p-back-a": 7, "p-to-s": 6}


def test_files_with_pickles_are_never_opened(acm: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    for name in ("nei_a.npy", "nei_s.npy"):
        np.save(acm / name, np.array([Harmful(mark)], dtype=object), allow_pickle=True)
    (acm / "pos.npz").write_bytes(b"rubbish")
    (acm / "pap.npz").write_bytes(b"rubbish")
    graph = read_heco(acm)
    assert not mark.exists()
    assert graph.notes == ("files that are not read: nei_a.npy, nei_s.npy, pap.npz, pos.npz",)


@pytest.mark.parametrize("name", ["labels.npy", "train_20.npy"])
def test_pickled_labels_and_splits_are_refused_and_not_run(
    acm: Path, tmp_path: Path, name: str
) -> None:
    np.save(acm / name, np.array([Harmful(tmp_path / "mark")], dtype=object), allow_pickle=True)
    with pytest.raises(DGBError, match=name):
        read_heco(acm)
    assert not (tmp_path / "mark").exists()


def test_pickled_features_are_refused_and_not_run(acm: Path, tmp_path: Path) -> None:
    harmful = np.array([Harmful(tmp_path / "mark")], dtype=object)
    np.savez(acm / "a_feat.npz", allow_pickle=True, data=harmful)
    with pytest.raises(DGBError, match="a_feat"):
        read_heco(acm)
    assert not (tmp_path / "mark").exists()


def test_dblp_embeds_authors_though_papers_are_in_the_middle(tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "a_feat.npz", sparse.csr_matrix(np.eye(3)))
    write_pairs(tmp_path / "pa.txt", [[0, 1, 2, 3], [2, 1, 0, 1]])
    write_pairs(tmp_path / "pc.txt", [[0, 1, 2, 3], [0, 1, 0, 1]])
    write_pairs(tmp_path / "pt.txt", [[0, 1, 2, 3], [0, 4, 2, 3]])
    np.save(tmp_path / "labels.npy", np.array([0, 1, 2]))
    graph = read_heco(tmp_path)
    assert graph.target == "a"
    assert {k: n.num_nodes for k, n in graph.nodes.items()} == {"p": 4, "a": 3, "c": 2, "t": 5}
    assert graph.nodes["p"].x is None


@pytest.mark.parametrize(("labels", "nodes"), [(5, 5), (6, 6)])
def test_freebase_has_no_features_and_its_last_movies_may_have_no_edge(
    tmp_path: Path, labels: int, nodes: int
) -> None:
    write_pairs(tmp_path / "ma.txt", [[0, 1, 2, 4], [0, 8, 7, 3]])
    write_pairs(tmp_path / "md.txt", [[0, 1, 2, 3], [9, 6, 7, 3]])
    np.save(tmp_path / "labels.npy", np.arange(labels) % 3)
    graph = read_heco(tmp_path)
    assert graph.target == "m"
    assert graph.nodes["m"].num_nodes == nodes
    assert all(found.x is None for found in graph.nodes.values())
    assert graph.splits == ()


def test_two_types_that_fit_the_labels_must_be_told_apart(acm: Path) -> None:
    sparse.save_npz(acm / "a_feat.npz", sparse.csr_matrix(np.eye(6)))
    with pytest.raises(DGBError, match=r"6 labels, and p, a may be.*data\.target=p"):
        read_heco(acm)
    assert read_heco(acm, "a").target == "a"


def test_labels_of_another_type_than_the_one_asked_for_are_left_out(acm: Path) -> None:
    graph = read_heco(acm, "a")
    assert (graph.target, graph.labels, graph.splits) == ("a", None, ())
    assert "labels and splits are of p" in graph.notes[0]
    with pytest.raises(DGBError, match="unknown node type 'x'"):
        read_heco(acm, "x")


def test_labels_that_fit_no_type(acm: Path) -> None:
    np.save(acm / "labels.npy", np.zeros(1, int))
    with pytest.raises(DGBError, match=r"1 labels, and no type is so large.*data\.target"):
        read_heco(acm)


def test_without_labels_the_target_is_the_only_type_with_features(acm: Path) -> None:
    for path in acm.glob("*.npy"):
        path.unlink()
    with pytest.raises(DGBError, match=r"a, p have features.*data\.target=p"):
        read_heco(acm)
    assert read_heco(acm, "s").labels is None
    (acm / "p_feat.npz").unlink()
    assert read_heco(acm).target == "a"  # as in every other form of graph
    with pytest.raises(DGBError, match="unknown node type 'x'"):
        read_heco(acm, "x")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0\t1\n1\tx\n", r"pa\.txt:2: 2 is 'x'"),
        ("0 1\n\n1 -2\n", r"pa\.txt:3: 2 is '-2'"),
        ("0 1.5\n", r"pa\.txt:1: 2 is '1\.5'"),
        ("0 1\n1\n", r"pa\.txt:2: 1 cells"),
        ("0 1 2\n", r"pa\.txt:1: 3 columns"),
        ("", r"pa\.txt is empty"),
        ("0 1\n0 4\n6 0\n", r"pa\.txt: 2 pairs, such as 0 4, name nodes .*6 p, 4 a"),
        ("99999999999999999999 1\n", r"pa\.txt:1"),
    ],
)
def test_a_bad_line_is_named(acm: Path, text: str, words: str) -> None:
    (acm / "pa.txt").write_text(text)
    with pytest.raises(DGBError, match=words):
        read_heco(acm)


def test_numbers_that_are_no_positions_do_not_fill_the_memory(acm: Path) -> None:
    (acm / "ps.txt").write_text("0 123456789012345\n")
    with pytest.raises(DGBError, match=r"acm: node 123456789012345 .*positions must be"):
        read_heco(acm)


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("labels.npy", np.array([0.5] * 6), r"labels\.npy: labels must be whole"),
        ("labels.npy", np.full(6, np.nan), r"labels\.npy: labels must be whole"),
        ("labels.npy", np.array(["a"] * 6), r"labels\.npy: labels must be one number"),
        ("labels.npy", np.eye(6), r"labels\.npy: labels must be one number"),
        ("val_20.npy", np.array([4]), "split 20: a node is in two parts"),
        ("test_40.npy", np.array([6]), "split 40: the split names nodes beyond the 6"),
        ("val_20.npy", np.array([0.5]), "lists of positions"),
    ],
)
def test_broken_labels_and_splits(acm: Path, name: str, values: Any, words: str) -> None:
    np.save(acm / name, values)
    with pytest.raises(DGBError, match=words):
        read_heco(acm)


def test_a_split_without_one_of_its_parts(acm: Path) -> None:
    (acm / "test_40.npy").unlink()
    with pytest.raises(DGBError, match=r"test_40\.npy: no such file"):
        read_heco(acm)


def test_what_is_one_of_hecos_folders(acm: Path, tmp_path: Path) -> None:
    assert is_heco(acm)
    other = tmp_path / "other"
    other.mkdir()
    assert not is_heco(other)
    write_pairs(other / "edges.txt", PA)
    np.save(other / "labels.npy", LABELS)
    assert not is_heco(other)
    assert not is_heco(acm / "pa.txt")
    with pytest.raises(DGBError, match="not a folder of HeCo's"):
        read_heco(other)
