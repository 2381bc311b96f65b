"""The encoder over hops: against brute force, in every order, by rows, and with its statistics."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse
from torch import Tensor, nn

from dgb.cookbook import load_recipe, recipe_hash
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap
from dgb.model.embed import embed
from dgb.model.encoder import BlockNorm, HopEncoder
from dgb.model.loss import symmetric_loss
from dgb.recipe import Recipe
from dgb.run.machine import generators
from dgb.run.model import embed_graph
from dgb.run.resolve import check_recipe
from dgb.run.train import train
from dgb.views.augment import parse_view
from dgb.views.diffusion import diff_of
from dgb.views.inputs import make_inputs
from dgb.views.operators import make_diff
from dgb.views.rows import RowBatches
from dgb.views.sampler import epoch_sampler
from dgb.views.view import Rows, View

CPU = torch.device("cpu")
SETS = ["encoder.width=6", "heads.hidden=10", "heads.width=6", "view2.augment=nd+adj"]


def recipe_with(*sets: str, hops: str = "[0, 1, 3]") -> Recipe:
    return load_recipe("paper", [*SETS, f"encoder.hops={hops}", *sets])


def draw_encoder(graph: Graph, recipe: Recipe) -> HopEncoder:
    return HopEncoder(graph.num_features, recipe.encoder, torch.Generator().manual_seed(1))


def dense_blocks(graph: Graph, recipe: Recipe, encoder: HopEncoder) -> list[Tensor]:
    """Return P^k X W_k by dense products."""
    inputs = make_inputs(graph, recipe, CPU)
    p = inputs.operators["adj"].multiply(torch.eye(graph.num_nodes)).double()
    x = torch.as_tensor(inputs.x if isinstance(inputs.x, Tensor) else inputs.x.dense()).double()
    powers = [torch.linalg.matrix_power(p, hop) for hop in recipe.encoder.hops]
    if recipe.encoder.diff:
        s = make_diff(graph.adjacency, recipe.diffusion).multiply(torch.eye(graph.num_nodes))
        powers.append(s.double())
    return [
        power @ x @ weight.double() for power, weight in zip(powers, encoder.weights, strict=True)
    ]


@pytest.mark.parametrize("hops", ["[0]", "[2]", "[0, 1, 3]", "[1, 2]"])
@pytest.mark.parametrize("order", ["transform", "propagate"])
@pytest.mark.parametrize("diff", ["false", "true"])
def test_blocks_are_powers_of_adj_and_diff(graph: Graph, hops: str, order: str, diff: str) -> None:
    recipe = recipe_with("encoder.activation=none", f"encoder.diff={diff}", hops=hops)
    encoder = draw_encoder(graph, recipe)
    inputs = make_inputs(graph, recipe, CPU)
    view = View(inputs.x, inputs.operators["adj"]).in_order(order, encoder.width, encoder.hops)
    found = encoder(view)
    assert found.shape == (graph.num_nodes, encoder.width)
    expected = torch.cat(dense_blocks(graph, recipe, encoder), dim=1).float()
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("diff", ["false", "true"])
def test_gradients_are_those_of_dense_products(graph: Graph, diff: str) -> None:
    recipe = recipe_with("encoder.activation=tanh", f"encoder.diff={diff}")
    encoder = draw_encoder(graph, recipe)
    inputs = make_inputs(graph, recipe, CPU)
    weights = list(encoder.weights)
    ours = encoder(View(inputs.x, inputs.operators["adj"])).square().sum()
    exact = torch.cat([h.tanh() for h in dense_blocks(graph, recipe, encoder)], 1).square().sum()
    pairs = zip(
        torch.autograd.grad(ours, weights), torch.autograd.grad(exact, weights), strict=True
    )
    for mine, expected in pairs:
        torch.testing.assert_close(mine, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("is_on_disk", [False, True])
@pytest.mark.parametrize("columns", [0, 7])
@pytest.mark.parametrize("diff", [[], ["encoder.diff=true", "view1.augment=ed+nfd+adj"]])
def test_row_batches_hold_the_rows_of_every_block(
    graph: Graph, is_on_disk: bool, columns: int, diff: list[str], tmp_path: Path
) -> None:
    scratch = tmp_path if is_on_disk else None
    recipe = recipe_with("train.batch_size=20", f"train.columns={columns}", *diff)
    inputs = make_inputs(graph, recipe, CPU, scratch=scratch)
    batches = epoch_sampler(inputs, recipe, torch.Generator().manual_seed(3))()
    assert isinstance(batches, RowBatches)
    generator = torch.Generator().manual_seed(3)
    at_once = recipe_with("train.order=propagate", *diff)
    ((view1, view2),) = epoch_sampler(make_inputs(graph, at_once, CPU), at_once, generator)()
    order = torch.randperm(graph.num_nodes, generator=generator)
    for number, view in enumerate((view1, view2)):
        ours = torch.cat([pair[number].propagated for pair in batches])
        torch.testing.assert_close(ours, view.propagated[order], atol=1e-6, rtol=1e-5)


def test_a_view_that_hides_edges_diffuses_over_those_it_has(blocks: Graph) -> None:
    recipe = recipe_with("encoder.diff=true", "view1.augment=ed+nfd+adj")
    inputs = make_inputs(blocks, recipe, CPU)
    drawn = inputs.draw_operator(parse_view(recipe.view1), torch.Generator().manual_seed(3))
    assert drawn.hidden is not None and drawn.hidden.shape[1] > 10
    left = blocks.adjacency.toarray()
    left[tuple(drawn.hidden)] = left[tuple(drawn.hidden.flip(0))] = 0
    everyone = torch.eye(blocks.num_nodes)
    expected = make_diff(sparse.csr_array(left), recipe.diffusion).multiply(everyone)
    torch.testing.assert_close(diff_of(drawn.operator).multiply(everyone), expected)
    assert encoder_hash("encoder.diff=false") == encoder_hash() != encoder_hash("encoder.diff=true")


def encoder_hash(*sets: str) -> str:
    return recipe_hash(recipe_with(*sets))


def test_row_weighted_gradients_sum_to_the_full_one(graph: Graph) -> None:
    recipe = recipe_with("heads.batch_norm=false", "train.batch_size=32")
    weights, _ = generators(0, CPU)
    model = Bootstrap(lambda g: HopEncoder(graph.num_features, recipe.encoder, g), recipe, weights)
    for bias in (p for p in model.parameters() if p.dim() == 1):
        bias.data.uniform_(0.1, 0.3, generator=weights)
    inputs = make_inputs(graph, recipe, CPU)
    batches = list(epoch_sampler(inputs, recipe, torch.Generator().manual_seed(3))())
    learnt = [p for p in model.parameters() if p.requires_grad]

    def gradient(view1: Rows, view2: Rows) -> list[Tensor]:
        return list(torch.autograd.grad(symmetric_loss(model(view1, view2)), learnt))

    joined = [Rows(torch.cat([pair[i].propagated for pair in batches])) for i in (0, 1)]
    full = gradient(*joined)
    summed = [torch.zeros_like(part) for part in full]
    for views in batches:
        share = len(views[0].propagated) / graph.num_nodes
        for total, part in zip(summed, gradient(*views), strict=True):
            total += share * part
    for ours, exact in zip(summed, full, strict=True):
        torch.testing.assert_close(ours, exact, atol=1e-5, rtol=1e-5)


def test_statistics_are_those_of_the_clean_graph(graph: Graph) -> None:
    recipe = recipe_with("encoder.norm=batch", "encoder.activation=none")
    encoder = draw_encoder(graph, recipe)
    z = embed(encoder, make_inputs(graph, recipe, CPU))
    assert encoder.training  # as it was: a training may go on
    dense = dense_blocks(graph, recipe, encoder)
    expected = [(h - h.mean(0)) / (h.var(0, correction=0) + 1e-5).sqrt() for h in dense]
    torch.testing.assert_close(z, torch.cat(expected, 1).float(), atol=1e-4, rtol=1e-3)
    for norm, h in zip(encoder.norms, dense, strict=True):
        assert isinstance(norm, BlockNorm)
        torch.testing.assert_close(norm.mean.double(), h.mean(0), atol=1e-6, rtol=1e-5)
        variance = h.var(0, correction=0)
        torch.testing.assert_close(norm.variance.double(), variance, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("size", [0, 20])
def test_a_trained_encoder_embeds_other_nodes_by_the_statistics_it_has(
    graph: Graph, size: int
) -> None:
    sets = ("encoder.norm=batch", "train.epochs=2", "encoder.diff=true")
    recipe = recipe_with(*sets, f"train.batch_size={size}")
    trained = train(graph, recipe)
    z = trained.embeddings()
    mean = trained.encoder.state_dict()["norms.0.mean"].clone()
    np.testing.assert_allclose(embed_graph(trained.encoder, graph, recipe), z, atol=1e-5)
    torch.testing.assert_close(trained.encoder.state_dict()["norms.0.mean"], mean)
    assert not torch.equal(mean, torch.zeros_like(mean))
    assert isinstance(trained.encoder, nn.Module) and not trained.encoder.training


def test_row_batches_train_and_embed_as_the_whole_graph_does(graph: Graph) -> None:
    sets = ["encoder.norm=batch", "train.epochs=0", "encoder.diff=true"]
    whole = train(graph, recipe_with(*sets)).embeddings()
    rows = train(graph, recipe_with(*sets, "train.batch_size=20")).embeddings()
    np.testing.assert_allclose(rows, whole, atol=1e-5)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (["encoder.hops=[1, 0]"], "must rise"),
        (["encoder.hops=[1, 1]"], "must rise"),
        (["encoder.layers=2"], "take the place of stacked layers"),
        (["view2.augment=nd+diff"], "go over adj"),
        (["embed.operator=diff"], "go over adj"),
        (["encoder.hops=[]", "encoder.diff=true"], "set encoder.hops"),
    ],
)
def test_what_does_not_go_with_hops_is_refused(sets: list[str], message: str) -> None:
    with pytest.raises(DGBError, match=message):
        check_recipe(recipe_with(*sets))


def test_hops_are_whole_numbers() -> None:
    assert recipe_with().encoder.hops == (0, 1, 3)
    with pytest.raises(DGBError, match="whole number"):
        recipe_with(hops="[0.5]")
