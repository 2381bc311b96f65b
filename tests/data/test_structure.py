"""Features made of the edges alone."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from dgb.arrays import Array
from dgb.data.graph import Graph, make_graph, undirected
from dgb.data.structure import hash_ids, random_signs, structural_features, with_structure
from dgb.errors import DGBError
from dgb.recipe import STRUCTURES


def two_blocks(size: int = 60, seed: int = 0) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    is_same = np.kron(np.eye(2), np.ones((size, size)))
    return undirected(np.triu(rng.random((2 * size, 2 * size)) < np.where(is_same, 0.3, 0.02), 1))


def path_of(num_nodes: int) -> sparse.csr_array:
    return undirected(sparse.diags_array(np.ones(num_nodes - 1), offsets=1))


@pytest.mark.parametrize("kind", ["walk", "ppr"])
def test_nodes_of_a_block_are_alike(kind: str) -> None:
    x = structural_features(two_blocks(), np.arange(120), kind)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1, atol=1e-5)
    alike = x @ x.T
    within = (alike[:60, :60].sum() - 60 + alike[60:, 60:].sum() - 60) / (2 * 60 * 59)
    assert within > alike[:60, 60:].mean() + 0.1


@pytest.mark.parametrize("kind", STRUCTURES)
def test_rows_go_with_their_nodes(kind: str) -> None:
    adjacency, ids = two_blocks(), np.array([f"node-{i}" for i in range(120)])
    order = np.random.default_rng(3).permutation(120)
    x = structural_features(adjacency, ids, kind)
    moved = structural_features(adjacency[order][:, order], ids[order], kind)
    assert x.dtype == np.float32
    np.testing.assert_allclose(moved, x[order], atol=1e-5)


def test_degree_gives_equal_rows_to_equal_structure() -> None:
    x = structural_features(path_of(9), np.arange(9), "degree")
    np.testing.assert_allclose(x, x[::-1], atol=1e-6)  # a path looks the same from both ends
    assert not np.allclose(x[0], x[1])  # an end, and its neighbour
    assert not np.allclose(x[1], x[2])  # the same degree, other neighbours


def test_degree_is_the_same_width_in_every_graph() -> None:
    star = sparse.coo_array((np.ones(99), (np.zeros(99, int), np.arange(1, 100))), (100, 100))
    wide = structural_features(undirected(star), np.arange(100), "degree")
    assert wide.shape[1] == structural_features(path_of(3), np.arange(3), "degree").shape[1]


def test_degree_knows_the_smallest_and_largest_neighbour() -> None:
    # Node 2 is alone: its empty row must not take over the values of the next one.
    edges = sparse.coo_array((np.ones(4), ([0, 0, 3, 4], [1, 3, 4, 5])), shape=(6, 6))
    adjacency = undirected(edges)
    least, most = structural_features(adjacency, np.arange(6), "degree")[:, -2:].T * 24
    np.testing.assert_allclose(least, np.log2([2, 3, 1, 3, 2, 3]), rtol=1e-5)
    np.testing.assert_allclose(most, np.log2([3, 3, 1, 3, 3, 3]), rtol=1e-5)


@pytest.mark.parametrize("kind", ["walk", "ppr"])
def test_isolated_nodes_keep_their_own_vector(kind: str) -> None:
    adjacency = sparse.block_diag([path_of(4), np.zeros((2, 2))], format="csr")
    x = structural_features(sparse.csr_array(adjacency), np.arange(6), kind)
    own = random_signs(np.arange(6), x.shape[1])
    np.testing.assert_allclose(x[4:], own[4:] / np.sqrt(x.shape[1]), atol=1e-5)
    assert abs(x[4] @ x[5]) < 0.5


@pytest.mark.parametrize("kind", ["walk", "ppr"])
def test_nodes_keep_their_rows_in_a_graph_that_grew(kind: str) -> None:
    small, ids = two_blocks(), np.array([f"n{i}" for i in range(120)])
    more = sparse.lil_array(sparse.block_diag([path_of(3), small]))
    more[2, 10] = more[10, 2] = 1
    x = structural_features(small, ids, kind)
    longer = np.array([*(f"a-much-longer-name-{i}" for i in range(3)), *ids])
    grown = structural_features(sparse.csr_array(more, dtype=np.float32), longer, kind)[3:]
    assert (x * grown).sum(axis=1).mean() > 0.8  # by an id drawn again it would be about 0


def test_long_walks_in_a_dense_graph_do_not_make_all_rows_alike() -> None:
    is_edge = np.triu(np.random.default_rng(0).random((150, 150)) < 0.5, 1)
    x = structural_features(undirected(is_edge), np.arange(150), "walk")
    assert (x @ x.T)[~np.eye(150, dtype=bool)].mean() < 0.2


@pytest.mark.parametrize("kind", ["walk", "ppr"])
def test_equal_components_are_told_apart_in_any_order(kind: str) -> None:
    adjacency = sparse.csr_array(sparse.block_diag([two_blocks(seed=1), two_blocks(seed=2)]))
    order = np.random.default_rng(3).permutation(240)
    x = structural_features(adjacency, np.arange(240), kind)
    moved = structural_features(adjacency[order][:, order], order, kind)
    np.testing.assert_allclose(moved, x[order], atol=1e-4)
    one, other = x[:120].mean(axis=0), x[120:].mean(axis=0)
    assert one @ one > 3 * (one @ other)  # opposite is apart as well


def test_edges_of_no_weight_at_all_make_no_nan() -> None:
    empty = sparse.csr_array((3, 3), dtype=np.float32)
    for kind in STRUCTURES:
        assert np.isfinite(structural_features(empty, np.arange(3), kind)).all()


def test_ids_hash_as_text_and_to_the_same_numbers_everywhere() -> None:
    ids = np.arange(20_000)  # more than one chunk
    hashes: Array = hash_ids(ids)
    assert len(np.unique(hashes)) == len(ids)
    np.testing.assert_array_equal(hashes, hash_ids(ids.astype(str)))
    np.testing.assert_array_equal(hashes, hash_ids(ids.astype(object)))
    np.testing.assert_array_equal(
        hash_ids(np.array(["a", "ä"])), hash_ids(np.array(["a", "ä", "long"]))[:2]
    )
    code = (
        "import numpy as np; from dgb.data.structure import hash_ids;"
        "print(hash_ids(np.array(['dgb', 'ç'])).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[3574164373422501200, 7255830705509247015]"


def test_signs_are_even_and_independent() -> None:
    signs = random_signs(np.arange(4000), 100)
    assert signs.shape == (4000, 100)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean(axis=0)).max() < 0.08
    between = signs.T @ signs / 4000 - np.eye(100)
    assert abs(between).max() < 0.1


def test_a_graph_says_that_its_features_were_made() -> None:
    graph: Graph = make_graph("toy", np.ones((3, 1)), path_of(3))
    made = with_structure(graph, "degree")
    assert made.encoding is not None
    assert made.encoding.structure == "degree"
    assert "data.structure=degree" in made.notes[0]
    with pytest.raises(DGBError, match="did you mean 'walk'"):
        with_structure(graph, "walks")
