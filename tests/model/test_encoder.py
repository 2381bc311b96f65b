"""Eq. 1 against PyG's GCNConv, depth, and embedding without augmentation."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import from_scipy_sparse_matrix

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.model.embed import embed
from dgb.model.encoder import GCNEncoder
from dgb.recipe import PLAIN
from dgb.views.inputs import make_inputs

CPU = torch.device("cpu")


@pytest.mark.parametrize("layers", [1, 3])
def test_encoder_is_a_stack_of_gcn_layers(
    blocks: Graph, generator: torch.Generator, layers: int
) -> None:
    recipe = load_recipe("paper", ["encoder.width=9", f"encoder.layers={layers}"])
    encoder = GCNEncoder(blocks.num_features, recipe.encoder, generator)
    edge_index, edge_weight = from_scipy_sparse_matrix(blocks.adjacency)
    h = torch.from_numpy(blocks.x.toarray())
    h = h / h.sum(dim=1, keepdim=True)
    for weight, sigma in zip(encoder.weights, encoder.activations, strict=True):
        conv = GCNConv(*weight.shape, bias=False)
        conv.lin.weight = nn.Parameter(weight.T)
        h = sigma(conv(h, edge_index, edge_weight))
    ours = embed(encoder, make_inputs(blocks, recipe, CPU))
    torch.testing.assert_close(ours, h.detach(), atol=1e-5, rtol=1e-4)


def test_weights_are_glorot(generator: torch.Generator) -> None:
    recipe = load_recipe("paper", ["encoder.width=300"])
    weight = GCNEncoder(500, recipe.encoder, generator).weights[0]
    bound = np.sqrt(6 / 800)
    assert weight.abs().max() <= bound
    assert weight.std().item() == pytest.approx(bound / np.sqrt(3), rel=0.02)


@pytest.mark.parametrize(
    ("name", "expected"), [("prelu", -0.25), ("relu", 0), ("tanh", np.tanh(-1)), ("none", -1)]
)
def test_activation_by_setting(name: str, expected: float, generator: torch.Generator) -> None:
    recipe = load_recipe("paper", [f"encoder.activation={name}"])
    sigma = GCNEncoder(5, recipe.encoder, generator).activations[0]
    assert sigma(torch.tensor([-1.0])).item() == pytest.approx(expected)


def test_embedding_is_deterministic_and_uses_no_augmentation(
    blocks: Graph, generator: torch.Generator
) -> None:
    strong = ["view1.nfd_drop_rate=0.9", "view2.nd_drop_rate=0.9"]
    encoder = GCNEncoder(blocks.num_features, load_recipe("paper").encoder, generator)
    first = embed(encoder, make_inputs(blocks, load_recipe("paper", strong), CPU))
    again = embed(encoder, make_inputs(blocks, load_recipe("paper"), CPU))
    assert torch.equal(first, again)


def test_embedding_with_both_operators_is_their_sum(
    blocks: Graph, generator: torch.Generator
) -> None:
    recipe = load_recipe("paper", ["embed.operator=adj+diff", "encoder.width=7"])
    encoder = GCNEncoder(blocks.num_features, recipe.encoder, generator)
    inputs = make_inputs(blocks, recipe, CPU)
    parts = [embed(encoder, inputs, replace(PLAIN, operator=name)) for name in ("adj", "diff")]
    torch.testing.assert_close(embed(encoder, inputs, recipe.embed), parts[0] + parts[1])
    assert not torch.allclose(parts[0], parts[1])


def test_smoothing_is_pagerank_over_the_representations(
    blocks: Graph, generator: torch.Generator
) -> None:
    recipe = load_recipe("paper", ["embed.smooth=0.2", "encoder.width=7"])
    encoder = GCNEncoder(blocks.num_features, recipe.encoder, generator)
    inputs = make_inputs(blocks, recipe, CPU)
    a = torch.from_numpy(blocks.adjacency.toarray()) + torch.eye(blocks.num_nodes)
    t = a / a.sum(dim=0).sqrt() / a.sum(dim=1, keepdim=True).sqrt()
    s = 0.2 * torch.linalg.inv(torch.eye(blocks.num_nodes) - 0.8 * t)
    expected = s @ embed(encoder, inputs)
    torch.testing.assert_close(embed(encoder, inputs, recipe.embed), expected, atol=1e-3, rtol=0)
    with_features = embed(encoder, inputs, replace(recipe.embed, features=True))
    x = s @ torch.nn.functional.normalize(torch.from_numpy(blocks.x.toarray()), 1.0, dim=1)
    parts = [torch.nn.functional.normalize(part, dim=1) for part in (expected, x)]
    torch.testing.assert_close(with_features, torch.cat(parts, 1), atol=5e-3, rtol=0)
    again = make_inputs(blocks, recipe, CPU, is_trained=True)
    assert set(again.operators) == {"adj", "smooth"}
    assert torch.equal(embed(encoder, again, recipe.embed), embed(encoder, inputs, recipe.embed))
