"""Row batches: exact, the same wherever their blocks lie, and of one layer alone."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap
from dgb.model.embed import embed
from dgb.model.encoder import GCNEncoder
from dgb.model.loss import symmetric_loss
from dgb.recipe import Recipe
from dgb.run.machine import generators
from dgb.views import features
from dgb.views.features import ColumnBlocks, Store
from dgb.views.inputs import make_inputs
from dgb.views.rows import RowBatches, batch_sizes
from dgb.views.sampler import epoch_sampler
from dgb.views.view import Rows
from tests.conftest import draw_views, with_dense_features

CPU = torch.device("cpu")
SMALL = ["encoder.width=8", "heads.hidden=10", "heads.width=6"]


def recipe_with(*sets: str) -> Recipe:
    return load_recipe("paper", [*SMALL, *sets])


def draw(graph: Graph, recipe: Recipe, scratch: Path | None = None) -> RowBatches:
    inputs = make_inputs(graph, recipe, CPU, scratch=scratch)
    batches = epoch_sampler(inputs, recipe, torch.Generator().manual_seed(3))()
    assert isinstance(batches, RowBatches)
    return batches


def whole(batches: RowBatches) -> tuple[Tensor, Tensor]:
    first, second = (view.rows(0, sum(batches.sizes)) for view in batches.views)
    return first, second


@pytest.mark.parametrize("augment", ["in", "nfd", "nd", "nfd+nd", "nd+nfd"])
def test_batches_are_the_rows_of_both_views_in_a_new_order(graph: Graph, augment: str) -> None:
    sets = [f"view1.augment={augment}+adj", f"view2.augment={augment}+diff"]
    batched = recipe_with(*sets, "train.batch_size=20")
    at_once = recipe_with(*sets, "train.order=propagate")
    generator = torch.Generator().manual_seed(3)
    views = draw_views(make_inputs(graph, at_once, CPU), at_once, generator)
    order = torch.randperm(graph.num_nodes, generator=generator)
    batches = draw(graph, batched)
    assert len(batches) == 5 and sum(batches.sizes) == graph.num_nodes
    for number, view in enumerate(views):
        assert view.propagated is not None
        ours = torch.cat(
            [pair[number].transform(torch.eye(graph.num_features)) for pair in batches]
        )
        torch.testing.assert_close(ours, view.propagated[order], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("columns", [1, 4, 1000])
@pytest.mark.parametrize("is_on_disk", [False, True])
def test_neither_the_blocks_nor_their_place_change_a_mask(
    graph: Graph, columns: int, is_on_disk: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = ["view1.augment=nfd+nd+adj", "train.batch_size=20"]
    expected = whole(draw(graph, recipe_with(*sets)))
    monkeypatch.setattr(features, "AT_ONCE", 37)
    recipe = recipe_with(*sets, f"train.columns={columns}")
    batches = draw(graph, recipe, tmp_path if is_on_disk else None)
    torch.testing.assert_close(whole(batches), expected, atol=1e-7, rtol=1e-5)
    assert any(tmp_path.iterdir()) == is_on_disk


@pytest.mark.parametrize("parts", [[90], [1, 89], [30, 30, 30], [7] * 12 + [6], [1] * 90])
def test_row_weighted_gradients_of_any_partition_sum_to_the_full_one(
    graph: Graph, parts: list[int]
) -> None:
    recipe = recipe_with("heads.batch_norm=false", "train.batch_size=32")
    weights, _ = generators(0, CPU)
    model = Bootstrap(graph.num_features, recipe, weights)
    for bias in (p for p in model.parameters() if p.dim() == 1):
        bias.data.uniform_(0.1, 0.3, generator=weights)  # as after some steps: no row is zero
    batches = draw(graph, recipe)

    def gradient(view1: Rows, view2: Rows) -> list[Tensor]:
        learnt = [p for p in model.parameters() if p.requires_grad]
        return list(torch.autograd.grad(symmetric_loss(model(view1, view2)), learnt))

    full = gradient(*map(Rows, whole(batches)))
    summed = [torch.zeros_like(g) for g in full]
    for views in replace(batches, sizes=parts):
        share = len(views[0].propagated) / graph.num_nodes
        for total, part in zip(summed, gradient(*views), strict=True):
            total += share * part
    for ours, exact in zip(summed, full, strict=True):
        torch.testing.assert_close(ours, exact, atol=1e-5, rtol=1e-5)


def test_no_batch_has_a_single_row() -> None:
    sizes = batch_sizes(61, 2)
    assert sum(sizes) == 61 and min(sizes) == 2
    assert batch_sizes(61, 0) == batch_sizes(61, 61) == [61]


def test_a_second_layer_is_refused_with_the_reason(blocks: Graph) -> None:
    recipe = recipe_with("encoder.layers=2", "train.batch_size=32")
    encoder = GCNEncoder(blocks.num_features, recipe.encoder, torch.Generator())
    with pytest.raises(DGBError, match=r"encoder\.layers=1: rows of P X̃ are independent"):
        encoder(Rows(torch.zeros(3, blocks.num_features)))


@pytest.mark.parametrize("is_on_disk", [False, True])
@pytest.mark.parametrize("sets", [[], ["embed.operator=adj+diff", "embed.smooth=0.2"]])
@pytest.mark.parametrize("features", ["false", "true"])
def test_embeddings_are_those_of_the_whole_graph(
    graph: Graph, sets: list[str], features: str, is_on_disk: bool, tmp_path: Path
) -> None:
    sets = [*sets, f"embed.features={features}"]
    at_once, batched = recipe_with(*sets), recipe_with(*sets, "train.batch_size=20")
    encoder = GCNEncoder(graph.num_features, at_once.encoder, torch.Generator().manual_seed(1))
    expected = embed(encoder, make_inputs(graph, at_once, CPU), at_once.embed)
    inputs = make_inputs(graph, batched, CPU, scratch=tmp_path if is_on_disk else None)
    z = embed(encoder, inputs, batched.embed)
    torch.testing.assert_close(z, expected, atol=1e-6, rtol=1e-5)
    assert (tmp_path / "embeddings.npy").exists() == is_on_disk


def test_features_are_not_copied_where_batches_are_kept_on_disk(
    blocks: Graph, tmp_path: Path
) -> None:
    graph = with_dense_features(blocks)
    inputs = make_inputs(graph, recipe_with("train.batch_size=20"), CPU, scratch=tmp_path)
    assert isinstance(inputs.x, Tensor)
    assert inputs.x.data_ptr() == graph.x.ctypes.data


def test_blocks_are_as_wide_as_memory_suggests() -> None:
    assert Store().width(1_000) >= 65_000
    assert Store().width(1_000_000) == 64
    assert Store().width(10**9) == 32
    assert Store(columns=5).width(10**9) == 5
    blocks = Store(columns=4).make_blocks("x", (6, 10), CPU)
    assert [block.shape[1] for block in blocks.blocks] == [4, 4, 2]
    rows = torch.arange(20.0).view(2, 10)
    blocks.write(3, rows)
    assert torch.equal(blocks.rows(3, 5), rows)
    assert torch.equal(ColumnBlocks((rows,)).rows(1, 2), rows[1:])
