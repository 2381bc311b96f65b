"""GCN: two convolutions, dropout only in training, and labels of train nodes alone."""

from typing import Any, cast

import numpy as np
import torch

from dgb.baselines.convolutions import GCNSettings, draw_gcn
from dgb.baselines.inputs import adj, seeded
from dgb.data.graph import Graph
from tests.baselines.conftest import accuracy_of, dense_features


def test_learns(two_blocks: Graph) -> None:
    assert accuracy_of("gcn", two_blocks, epochs=60) > 0.85


def test_is_softmax_of_two_convolutions(two_blocks: Graph) -> None:
    x, p = dense_features(two_blocks), adj(two_blocks)
    with seeded(0):
        model = draw_gcn(x.shape[1], 2, GCNSettings()).eval()
    a = torch.from_numpy(two_blocks.adjacency.toarray()) + torch.eye(120)
    root = a.sum(1).rsqrt()
    dense = root[:, None] * a * root
    first, second = cast(Any, model.first), cast(Any, model.second)
    hidden = (dense @ x @ first.lin.weight + first.bias).relu()
    expected = dense @ hidden @ second.lin.weight.T + second.bias
    np.testing.assert_allclose(model(x, p.csr).detach(), expected.detach(), atol=1e-5)
