"""Diffused features: the dense sum, few columns where there are many, and no training."""

import numpy as np

from dgb.baselines.own import PageRank, diffuse
from dgb.data.graph import Graph
from dgb.views.features import row_normalise
from tests.baselines.conftest import accuracy_of


def test_rows_are_the_sum_over_all_hops(blocks: Graph) -> None:
    z = diffuse(blocks, PageRank(alpha=0.3, columns=10_000), 0)
    a = blocks.adjacency.toarray() + np.eye(blocks.num_nodes)
    root = np.sqrt(a.sum(1))
    p = a / root[:, None] / root[None, :]
    x = row_normalise(blocks.x)
    dense = x.toarray() if hasattr(x, "toarray") else x
    exact = 0.3 * np.linalg.solve(np.eye(blocks.num_nodes) - 0.7 * p, dense)
    np.testing.assert_allclose(z, exact, atol=2e-3)


def test_few_columns_lose_as_little_as_any_do(blocks: Graph) -> None:
    few, all_columns = (diffuse(blocks, PageRank(columns=c), 0) for c in (20, 10_000))
    assert few.shape[1] == 20 < all_columns.shape[1]
    lost = np.linalg.norm(few @ few.T - all_columns @ all_columns.T, 2)
    left = np.linalg.svd(all_columns, compute_uv=False)[
        20
    ]  # no 20 columns lose less than its square
    assert lost < 1.05 * left**2


def test_learns_from_the_graph(two_blocks: Graph) -> None:
    assert accuracy_of("diffused", two_blocks) > 0.85
    assert accuracy_of("diffused", two_blocks, alpha=1.0) < 0.8
