"""LP: the harmonic function against repeated averaging, and nodes that no train node reaches."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from dgb.baselines.lp import Settings, class_mass_weights, classify, harmonic
from dgb.data.graph import Graph, Split, make_graph
from tests.baselines.conftest import accuracy_of


def weighted(graph: Graph) -> np.ndarray:
    """Return the adjacency with weights 1 to 3, which a solution without weights would miss."""
    i, j = np.indices(graph.adjacency.shape)
    dense: np.ndarray = graph.adjacency.toarray() * (1 + (i + j) % 3)
    return dense


def test_learns(two_blocks: Graph) -> None:
    assert accuracy_of("lp", two_blocks) > 0.85
    assert accuracy_of("lp", two_blocks, class_mass=False) > 0.85


def test_every_other_node_has_the_mean_of_its_neighbors(two_blocks: Graph) -> None:
    assert two_blocks.labels is not None
    a, train = weighted(two_blocks), two_blocks.splits[0].train
    one_hot = np.eye(2)[two_blocks.labels[train]]
    f, is_reached = harmonic(sparse.csr_array(a), train, one_hot)
    expected = np.zeros((120, 2))
    for _ in range(3000):
        expected = a @ expected / np.maximum(a.sum(1), 1)[:, None]
        expected[train] = one_hot
    assert is_reached.sum() > 110
    np.testing.assert_allclose(f[is_reached], expected[is_reached], atol=1e-6)
    np.testing.assert_allclose(f[is_reached].sum(1), 1, atol=1e-6)


def test_class_mass_is_that_of_the_train_nodes() -> None:
    rng = np.random.default_rng(0)
    f, train = rng.random((10, 3)), np.array([0, 4, 5, 7])
    one_hot = np.eye(3)[[0, 0, 1, 2]]
    scaled = f * class_mass_weights(f, train, one_hot)
    others = np.setdiff1d(np.arange(10), train)
    np.testing.assert_allclose(scaled[others].sum(0), [0.5, 0.25, 0.25])


def test_nodes_that_no_train_node_reaches_get_the_prior() -> None:
    # A star around node 0 of class 1 with train nodes 0 and 5; 6 – 7 and 8 are apart.
    edges = sparse.lil_array((9, 9), dtype=np.float32)
    edges[0, [1, 2, 3, 4]] = 1
    edges[4, 5] = edges[6, 7] = 1
    labels = np.array([1, -1, -1, -1, -1, 0, -1, -1, -1])
    split = Split(np.array([0, 5]), np.array([1]), np.array([], dtype=int))
    graph = make_graph("parts", np.ones((9, 1)), edges, labels=labels, splits=(split,))
    for class_mass in (False, True):
        found = classify(graph, Settings(class_mass=class_mass), 0)
        np.testing.assert_array_equal(found[[0, 5]], [1, 0])
        np.testing.assert_array_equal(found[[6, 7, 8]], 1)


def test_features_are_not_read(two_blocks: Graph) -> None:
    other = replace(two_blocks, x=two_blocks.x[::-1])
    first, second = (classify(graph, Settings(), 0) for graph in (two_blocks, other))
    np.testing.assert_array_equal(first, second)
