"""GCN: two convolutions, dropout only in training, and labels of train nodes alone."""

import numpy as np
import torch

from dgb.baselines.gcn import GCN, Settings
from dgb.baselines.inputs import adj, dense_features, seeded
from dgb.data.graph import Graph
from tests.baselines.conftest import accuracy_of


def test_learns(two_blocks: Graph) -> None:
    assert accuracy_of("gcn", two_blocks, epochs=60) > 0.85


def test_is_softmax_of_two_convolutions(two_blocks: Graph) -> None:
    x, p = dense_features(two_blocks), adj(two_blocks)
    with seeded(0):
        model = GCN(x.shape[1], 2, Settings()).eval()
    a = torch.from_numpy(two_blocks.adjacency.toarray()) + torch.eye(120)
    root = a.sum(1).rsqrt()
    dense = root[:, None] * a * root
    w0, w1 = model.first.lin.weight, model.second.lin.weight.T
    expected = dense @ (dense @ x @ w0 + model.first.bias).relu() @ w1 + model.second.bias
    np.testing.assert_allclose(model(x, p.csr).detach(), expected.detach(), atol=1e-5)
