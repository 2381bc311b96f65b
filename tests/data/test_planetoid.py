"""Planetoid's files, made small here, and pickles that must not run."""

import pickle
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from dgb.data.public.planetoid import read_pickle, read_planetoid
from dgb.errors import DGBError

NUM_FIRST, NUM_NODES, NUM_WORDS, NUM_CLASSES = 520, 530, 8, 3
TEST = [529, 520, 523, 526, 521]  # unordered and with gaps, as in Citeseer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write the eight files; node i has the word i % 8, and the class i % 3."""
    words = np.eye(NUM_WORDS)[np.arange(NUM_NODES) % NUM_WORDS]
    classes = np.eye(NUM_CLASSES, dtype=np.int32)[np.arange(NUM_NODES) % NUM_CLASSES]
    neighbours = defaultdict(list, {0: [1, 1, 2], 1: [0], 2: [0, 2], 529: [520], 520: [529]})
    content = {
        "x": sparse.csr_matrix(words[:6]),
        "allx": sparse.csr_matrix(words[:NUM_FIRST]),
        "tx": sparse.csr_matrix(words[TEST]),
        "y": classes[:6],
        "ally": classes[:NUM_FIRST],
        "ty": classes[TEST],
        "graph": neighbours,
    }
    for part, value in content.items():
        (tmp_path / f"ind.toy.{part}").write_bytes(pickle.dumps(value, protocol=2))
    (tmp_path / "ind.toy.test.index").write_text("".join(f"{node}\n" for node in TEST))
    return tmp_path


def test_rows_labels_and_edges_come_out_in_node_order(folder: Path) -> None:
    graph = read_planetoid("toy", folder)
    known = np.array([*range(NUM_FIRST), *sorted(TEST)])
    gaps = np.setdiff1d(np.arange(NUM_NODES), known)
    assert graph.num_nodes == NUM_NODES
    np.testing.assert_array_equal(graph.x.toarray().argmax(axis=1)[known], known % NUM_WORDS)
    assert graph.x[gaps].nnz == 0
    assert graph.labels is not None
    np.testing.assert_array_equal(graph.labels[known], known % NUM_CLASSES)
    assert (graph.labels[gaps] == -1).all()
    edges = set(zip(*(part.tolist() for part in graph.adjacency.nonzero()), strict=True))
    assert edges == {(0, 1), (1, 0), (0, 2), (2, 0), (520, 529), (529, 520)}


def test_the_public_split(folder: Path) -> None:
    (split,) = read_planetoid("toy", folder).splits
    assert split.train.tolist() == list(range(6))
    assert split.validation.tolist() == list(range(6, 506))
    assert split.test.tolist() == sorted(TEST)


def test_python_2_pickles_with_old_names_are_read(tmp_path: Path) -> None:
    path = tmp_path / "ind.toy.graph"
    path.write_bytes(b"\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x00]K\x05au.")
    assert read_pickle(path) == {0: [5]}
    new = pickle.dumps(sparse.csr_matrix(np.eye(2)), protocol=2)
    path.write_bytes(
        new.replace(b"scipy.sparse._csr", b"scipy.sparse.csr").replace(
            b"numpy._core", b"numpy.core"
        )
    )
    np.testing.assert_array_equal(read_pickle(path).toarray(), np.eye(2))


@pytest.mark.parametrize(
    "exploit",
    [
        b"cos\nsystem\n(S'touch {}'\ntR.",
        b"cposix\nsystem\n(S'touch {}'\ntR.",
        b'c__builtin__\neval\n(S\'open("{}", "w")\'\ntR.',
        b"cbuiltins\ngetattr\n(cbuiltins\nlist\nS'append'\ntR.",
        b"\x80\x04\x8c\x08builtins\x8c\x04exec\x93\x8c\x01x\x85R.",
        b"cnumpy\nload\n(S'{}'\ntR.",
        b"cscipy.sparse._csr\ncsr_matrix.__init__.__globals__\n.",
    ],
)
def test_an_exploit_does_not_run(tmp_path: Path, exploit: bytes) -> None:
    harmed = tmp_path / "harmed"
    path = tmp_path / "ind.toy.x"
    path.write_bytes(exploit.replace(b"{}", harmed.as_posix().encode()))
    with pytest.raises(DGBError, match="which no Planetoid file needs"):
        read_pickle(path)
    assert not harmed.exists()


def test_the_exploit_of_this_test_would_run_unrestricted(tmp_path: Path) -> None:
    harmed = tmp_path / "harmed"
    pickle.loads(f'c__builtin__\neval\n(S\'open("{harmed.as_posix()}", "w")\'\ntR.'.encode())  # noqa: S301
    assert harmed.exists()


def test_an_array_of_objects_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ind.toy.y"
    path.write_bytes(pickle.dumps(np.array([[], {}], dtype=object), protocol=2))
    with pytest.raises(DGBError, match="not of numbers"):
        read_pickle(path)


def test_broken_files_are_clear_errors(folder: Path) -> None:
    whole = (folder / "ind.toy.allx").read_bytes()
    (folder / "ind.toy.allx").write_bytes(whole[:100])
    with pytest.raises(DGBError, match=r"ind\.toy\.allx: not a Planetoid file"):
        read_planetoid("toy", folder)
    (folder / "ind.toy.allx").unlink()
    with pytest.raises(DGBError, match="cannot be read"):
        read_planetoid("toy", folder)


def test_a_test_list_that_does_not_fit_is_refused(folder: Path) -> None:
    (folder / "ind.toy.test.index").write_text("520\n521\n")
    with pytest.raises(DGBError, match="do not match the rows"):
        read_planetoid("toy", folder)
    (folder / "ind.toy.test.index").write_text("520\n520\n")
    with pytest.raises(DGBError, match="named twice"):
        read_planetoid("toy", folder)
    (folder / "ind.toy.test.index").write_text("many\n")
    with pytest.raises(DGBError, match="not a list of test nodes"):
        read_planetoid("toy", folder)


def test_csr_indices_beyond_the_shape_are_refused(tmp_path: Path) -> None:
    matrix = sparse.csr_matrix(np.eye(3))
    matrix.indices[0] = 7
    path = tmp_path / "ind.toy.x"
    path.write_bytes(pickle.dumps(matrix, protocol=2))
    with pytest.raises(DGBError, match="not a Planetoid file"):
        read_pickle(path)
