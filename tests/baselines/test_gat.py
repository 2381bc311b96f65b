"""GAT: attention over a node and its neighbours, heads joined first and averaged last."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import elu, leaky_relu

from dgb.baselines.convolutions import GAT, GATSettings, looped_edges
from dgb.baselines.inputs import features, seeded
from dgb.data.graph import Graph
from tests.baselines.conftest import accuracy_of

SMALL = GATSettings(hidden=3, heads=2, output_heads=2)


def test_learns(two_blocks: Graph) -> None:
    assert accuracy_of("gat", two_blocks, epochs=60) > 0.85


def attend(wh: Tensor, conv: Any, graph: Graph) -> list[Tensor]:
    """Return Σ_j α_ij W h_j of each head, one node after the other."""
    a = graph.adjacency.toarray() != 0
    heads = wh.view(len(wh), conv.heads, conv.out_channels)
    found = []
    for k in range(conv.heads):
        h, rows = heads[:, k], []
        for i in range(len(h)):
            near = [j for j in range(len(h)) if a[i, j] or i == j]
            own = h[i] @ conv.att_dst[0, k]
            score = torch.stack([leaky_relu(own + h[j] @ conv.att_src[0, k], 0.2) for j in near])
            rows.append(score.softmax(0) @ h[near])
        found.append(torch.stack(rows))
    return found


def test_is_two_layers_of_attention(two_blocks: Graph) -> None:
    x, edges = features(two_blocks), looped_edges(two_blocks)
    with seeded(0):
        model = GAT(40, 3, SMALL).eval()
        for parameter in model.parameters():  # biases of 0 would hide that they are there
            torch.nn.init.normal_(parameter)
    with torch.no_grad():
        h = torch.cat(attend(model.lin(x), model.first, two_blocks), 1) + model.first.bias
        last = attend(elu(h) @ model.second.lin.weight.T, model.second, two_blocks)
        expected = sum(last) / 2 + model.second.bias
        np.testing.assert_allclose(model(x, edges), expected, rtol=1e-3, atol=1e-3)


def test_all_weights_are_learnt_and_drop_out_in_training_alone(two_blocks: Graph) -> None:
    x, edges = features(two_blocks), looped_edges(two_blocks)
    with seeded(0):
        model = GAT(40, 2, SMALL)
        model(x, edges).square().sum().backward()
        assert not torch.equal(model(x, edges), model(x, edges))
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())
    model.eval()
    assert torch.equal(model(x, edges), model(x, edges))


def test_attention_drops_out_besides_the_inputs() -> None:
    model = GAT(40, 2, GATSettings(dropout=0.3))
    assert model.lin.drop_rate == model.first.dropout == model.second.dropout == 0.3
