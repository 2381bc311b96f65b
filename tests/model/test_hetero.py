"""Encoders of heterogeneous graphs, against their formulas written out with dense matrices."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from dgb.cookbook import load_recipe
from dgb.data.typed.graph import HeteroGraph
from dgb.data.typed.resolve import with_features
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap
from dgb.model.loss import symmetric_loss
from dgb.model.typed import PathEncoder, RelationEncoder
from dgb.recipe import Recipe
from dgb.run.resolve import resolve_recipe
from dgb.run.setup import Setup, make_setup
from tests.hetero import make_library, shuffle_nodes

CPU = torch.device("cpu")
PATHS = "hetero.metapaths=paper-author-paper,paper-venue-paper"
RELATIONS = ("hetero.encoder=relations", "view2.augment=nd+adj", "encoder.layers=2")


@pytest.fixture
def library() -> HeteroGraph:
    return make_library(36)


def make_recipe(*sets: str) -> Recipe:
    return load_recipe("paper", ["encoder.width=8", "heads.hidden=16", "heads.width=8", *sets])


def set_up(graph: HeteroGraph, recipe: Recipe) -> Setup:
    return make_setup(graph, resolve_recipe(graph, recipe), CPU)


def rows_of(graph: HeteroGraph, name: str) -> torch.Tensor:
    x: Any = graph.nodes[name].x
    dense = x.toarray() if hasattr(x, "toarray") else x
    size = np.abs(dense).sum(1, keepdims=True)
    return torch.from_numpy((dense / np.where(size > 0, size, 1)).astype(np.float32))


def prelu(z: torch.Tensor) -> torch.Tensor:
    return torch.where(z > 0, z, 0.25 * z)


def test_the_sum_over_meta_paths_is_weighed_by_attention(library: HeteroGraph) -> None:
    recipe = make_recipe(PATHS)
    setup = set_up(library, recipe)
    encoder: Any = setup.draw_encoder(torch.Generator().manual_seed(0))
    assert isinstance(encoder, PathEncoder)
    gcns: Any = encoder.encoders
    x, representations = rows_of(library, "paper"), []
    written, prints = (relation.matrix.toarray() for relation in library.relations[:2])
    for gcn, half in zip(gcns, (written, prints.T), strict=True):
        loops = half @ half.T + np.eye(36)
        root = loops.sum(1) ** -0.5
        adj = torch.from_numpy((root[:, None] * loops * root).astype(np.float32))
        representations.append(prelu(adj @ x @ gcn.weights[0]))
    attention = encoder.attention
    scores = torch.stack(
        [(torch.tanh(attention.linear(h)) @ attention.query).mean() for h in representations]
    )
    beta = scores.exp() / scores.exp().sum()
    expected = beta[0] * representations[0] + beta[1] * representations[1]
    np.testing.assert_allclose(setup.embed(encoder, ""), expected.detach(), atol=1e-5)


def test_two_layers_over_relations_are_the_sums_they_should_be(library: HeteroGraph) -> None:
    recipe = make_recipe(*RELATIONS, "data.target=all")
    graph = with_features(library, library.nodes, "walk")
    setup = set_up(library, recipe)
    encoder: Any = setup.draw_encoder(torch.Generator().manual_seed(0))
    assert isinstance(encoder, RelationEncoder)
    layers: Any = encoder.layers
    h = {name: rows_of(graph, name) for name in graph.nodes}
    for layer in layers:
        weights = list(layer.weights)
        total = {name: h[name] @ w for name, w in zip(h, weights[:3], strict=True)}
        weights = weights[3:]
        for relation in graph.relations:
            matrix = torch.from_numpy(relation.matrix.toarray())
            left = matrix.sum(1).clamp_min(1)[:, None].rsqrt()
            normal = left * matrix * matrix.sum(0).clamp_min(1).rsqrt()
            source, target = relation.source, relation.target
            total[source] = total[source] + normal @ (h[target] @ weights.pop(0))
            if source != target:
                total[target] = total[target] + normal.T @ (h[source] @ weights.pop(0))
        assert not weights
        h = {
            name: prelu(nn.functional.batch_norm(rows, None, None, training=True))
            for name, rows in total.items()
        }
    expected = torch.cat([h[name] for name in graph.nodes])
    np.testing.assert_allclose(setup.embed(encoder, ""), expected.detach(), atol=1e-5)
    assert len(setup.node_ids) == len(expected)
    assert setup.node_ids[0] == "paper:1000"
    assert setup.node_ids[-1] == "venue:v5"


@pytest.mark.parametrize("sets", [(PATHS,), (*RELATIONS,)])
def test_gradients_reach_every_online_weight_and_no_target_weight(
    library: HeteroGraph, sets: tuple[str, ...]
) -> None:
    recipe = make_recipe(*sets)
    setup = set_up(library, recipe)
    generator = torch.Generator().manual_seed(0)
    model = Bootstrap(setup.draw_encoder, recipe, generator)
    [(view1, view2)] = list(setup.sampler(generator)())
    symmetric_loss(model(view1, view2)).backward()  # type: ignore[no-untyped-call]
    for name, parameter in model.named_parameters():
        if name.startswith("target"):
            assert parameter.grad is None, name
        elif name != "projector.3.bias":  # BatchNorm takes it out again
            # The last layer of an encoder over relations gives rows of the target type alone.
            is_unused = sets != (PATHS,) and name.startswith("encoder.layers.1")
            assert is_unused or parameter.grad.abs().sum() > 0, name  # type: ignore[union-attr]


@pytest.mark.parametrize("sets", [(PATHS,), (*RELATIONS,)])
@pytest.mark.parametrize("moved", ["paper", "author", "venue"])
def test_the_order_of_nodes_does_not_matter(
    library: HeteroGraph, moved: str, sets: tuple[str, ...]
) -> None:
    recipe = make_recipe(*sets)
    order = np.random.default_rng(2).permutation(library.nodes[moved].num_nodes)
    setup, permuted = (
        set_up(graph, recipe) for graph in (library, shuffle_nodes(library, moved, order))
    )
    encoder = setup.draw_encoder(torch.Generator().manual_seed(0))
    expected = setup.embed(encoder, "")
    expected = expected[order] if moved == "paper" else expected
    np.testing.assert_allclose(permuted.embed(encoder, ""), expected, atol=1e-5)


def test_an_encoder_over_relations_refuses_diff(library: HeteroGraph) -> None:
    with pytest.raises(DGBError, match="--recipe relations"):
        set_up(library, make_recipe("hetero.encoder=relations"))
