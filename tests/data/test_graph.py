"""The rules of the Graph record."""

import numpy as np
import pytest
from scipy import sparse

from dgb.data.graph import Graph, make_graph
from dgb.errors import DGBError

EDGES = [(0, 1, 1.0), (1, 2, 1.0)]


def graph_of(edges: list[tuple[int, int, float]], num_nodes: int = 4) -> Graph:
    row, col, weight = zip(*edges, strict=True) if edges else ((), (), ())
    matrix = sparse.coo_array(
        (np.array(weight, dtype=float), (np.array(row, dtype=int), np.array(col, dtype=int))),
        shape=(num_nodes, num_nodes),
    )
    return make_graph("toy", np.eye(num_nodes), matrix)


def test_numbers_beyond_float32_are_not_called_infinite() -> None:
    edges = sparse.coo_array(([1e300], ([0], [1])), shape=(3, 3))
    with pytest.raises(DGBError, match=r"weights must be .* at most 3\.4e38"):
        make_graph("toy", np.eye(3), edges)
    with pytest.raises(DGBError, match=r"features hold .* beyond 3\.4e38"):
        make_graph("toy", 1e300 * np.eye(3), sparse.coo_array((3, 3)))


def test_an_edge_is_listed_once_and_found_both_ways() -> None:
    graph = graph_of(EDGES)
    expected = np.zeros((4, 4))
    expected[[0, 1, 1, 2], [1, 0, 2, 1]] = 1
    assert graph.num_edges == 2
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)


@pytest.mark.parametrize(
    "more",
    [[(0, 1, 1.0)], [(1, 0, 1.0)], [(1, 0, 1.0), (0, 1, 1.0), (2, 1, 1.0)]],
    ids=["twice", "both ways", "all of it"],
)
def test_listing_an_edge_again_changes_nothing(more: list[tuple[int, int, float]]) -> None:
    assert abs(graph_of(EDGES + more).adjacency - graph_of(EDGES).adjacency).nnz == 0


def test_of_two_weights_of_one_edge_the_largest_stays() -> None:
    adjacency = graph_of([(0, 1, 0.5), (1, 0, 2.0), (0, 1, 1.0)]).adjacency
    assert adjacency[0, 1] == adjacency[1, 0] == 2.0


def test_self_loops_and_edges_of_weight_zero_go() -> None:
    graph = graph_of([*EDGES, (3, 3, 1.0), (0, 3, 0.0)])
    assert graph.num_edges == 2
    assert graph.adjacency.diagonal().sum() == 0
    assert graph.adjacency[[3], :].nnz == 0


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_impossible_weights_are_refused(weight: float) -> None:
    with pytest.raises(DGBError, match="finite and not negative"):
        graph_of([(0, 1, weight)])


def test_a_graph_without_edges_keeps_its_isolated_nodes() -> None:
    graph = graph_of([])
    assert (graph.num_nodes, graph.num_edges) == (4, 0)


def test_features_stay_sparse_or_dense_as_given() -> None:
    edges = sparse.coo_array((3, 3))
    dense = np.array([[1.0, 0], [0, 2], [0, 0]])
    kept_sparse = make_graph("toy", sparse.csr_matrix(dense), edges).x
    kept_dense = make_graph("toy", dense, edges).x
    assert sparse.issparse(kept_sparse)
    assert isinstance(kept_dense, np.ndarray)
    assert kept_sparse.dtype == kept_dense.dtype == np.float32
    np.testing.assert_array_equal(kept_sparse.toarray(), kept_dense)


def test_features_of_nan_are_refused() -> None:
    with pytest.raises(DGBError, match="NaN"):
        make_graph("toy", np.array([[np.nan], [1]]), sparse.coo_array((2, 2)))


def test_parts_of_different_lengths_are_refused() -> None:
    three, two = sparse.coo_array((3, 3)), np.ones((2, 1))
    with pytest.raises(DGBError, match="2 rows of features but an adjacency of 3"):
        make_graph("toy", two, three)
    with pytest.raises(DGBError, match="square"):
        make_graph("toy", two, sparse.coo_array((2, 3)))
    with pytest.raises(DGBError, match="labels of shape"):
        make_graph("toy", np.ones((3, 1)), three, labels=np.zeros(2))
    with pytest.raises(DGBError, match="node ids of shape"):
        make_graph("toy", np.ones((3, 1)), three, node_ids=np.arange(4))
