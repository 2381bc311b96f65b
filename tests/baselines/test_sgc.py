"""SGC: hops over the normalised adjacency with self-loops, sparse or dense alike."""

import numpy as np
import pytest

from dgb.baselines.own import Hops, propagate, propagate_features
from dgb.data.graph import Graph
from dgb.views.features import row_normalise
from tests.baselines.conftest import accuracy_of


def test_tells_the_blocks_which_features_alone_do_not(two_blocks: Graph) -> None:
    assert accuracy_of("sgc", two_blocks) > 0.85
    assert accuracy_of("sgc", two_blocks, hops=0) < 0.8


@pytest.mark.parametrize("hops", [0, 1, 2, 3])
def test_is_a_power_of_the_operator_times_features(hops: int, two_blocks: Graph) -> None:
    a = two_blocks.adjacency.toarray().astype(np.float64) + np.eye(120)
    p = np.array(
        [[a[i, j] / np.sqrt(a[i].sum() * a[j].sum()) for j in range(120)] for i in range(120)]
    )
    x = two_blocks.x.toarray().astype(np.float64)
    x = x / np.maximum(x.sum(1, keepdims=True), 1)
    found = propagate(two_blocks, Hops(hops=hops), 0)
    found = found.toarray() if hasattr(found, "toarray") else found
    np.testing.assert_allclose(found, np.linalg.matrix_power(p, hops) @ x, atol=1e-6)
    assert found.dtype == np.float32


def test_dense_and_sparse_features_give_the_same(two_blocks: Graph) -> None:
    x = row_normalise(two_blocks.x)
    sparse_form = propagate_features(x, two_blocks.adjacency, 2)
    sparse_form = sparse_form.toarray() if hasattr(sparse_form, "toarray") else sparse_form
    dense_form = propagate_features(x.toarray(), two_blocks.adjacency, 2)
    np.testing.assert_allclose(sparse_form, dense_form, atol=1e-6)
