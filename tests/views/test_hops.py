"""P^k X̃ in memory: exact, without dropout made once while it is in use, and X itself not copied."""

import gc
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.model.embed import embed, settle
from dgb.model.encoder import make_encoder
from dgb.recipe import DIFF, DiffusionRecipe, Recipe
from dgb.views import hops
from dgb.views.diffusion import Diffusion
from dgb.views.features import ColumnBlocks
from dgb.views.hops import clean_hops, hold_hops, walk_hops
from dgb.views.inputs import Inputs, make_inputs
from dgb.views.operators import make_adj, make_diff, make_ppr
from dgb.views.rows import OrderedRows
from dgb.views.sampler import epoch_sampler

CPU = torch.device("cpu")


def recipe_with(*sets: str) -> Recipe:
    small = ["encoder.width=4", "heads.hidden=4", "heads.width=4", "train.batch_size=20"]
    return load_recipe("default", [*small, "embed.learnt_columns=6", *sets])


def inputs_of(graph: Graph, *sets: str, scratch: Path | None = None) -> Inputs:
    return make_inputs(graph, recipe_with(*sets), CPU, scratch=scratch)


def whole(blocks: ColumnBlocks, graph: Graph) -> Tensor:
    return blocks.rows(0, graph.num_nodes)


@pytest.mark.parametrize("normalise", ["none", "row"])
@pytest.mark.parametrize("columns", [0, 7])
@pytest.mark.parametrize("is_on_disk", [False, True])
def test_hops_are_powers_times_features(
    graph: Graph, normalise: str, columns: int, is_on_disk: bool, tmp_path: Path
) -> None:
    sets = [f"data.normalise={normalise}", f"train.columns={columns}", "encoder.diff=true"]
    inputs = inputs_of(graph, *sets, scratch=tmp_path if is_on_disk else None)
    x = torch.from_numpy(np.asarray(graph.x if graph.num_features == 11 else graph.x.todense()))
    x = x / x.abs().sum(dim=1, keepdim=True) if normalise == "row" else x
    adj = inputs.operators["adj"]
    diffused = make_diff(graph.adjacency, DiffusionRecipe()).multiply(x)
    expected = [x, adj.multiply(adj.multiply(x)), diffused]
    found = whole(clean_hops(inputs, "adj", (0, 2, DIFF)), graph)
    torch.testing.assert_close(found, torch.cat(expected, dim=1), rtol=1e-5, atol=1e-6)


def test_hops_are_made_once_while_in_use(blocks: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    made, real = [], hops.walk_hops

    def count(*arguments: Any) -> ColumnBlocks:
        made.append(1)
        return real(*arguments)

    monkeypatch.setattr(hops, "walk_hops", count)
    recipe, inputs = recipe_with(), inputs_of(blocks)
    draw = epoch_sampler(inputs, recipe, torch.Generator().manual_seed(0))
    draw(), draw()  # which hold what view 2 is made of
    encoder = make_encoder(blocks.num_features, recipe.encoder, torch.Generator().manual_seed(0))
    settle(encoder, inputs, recipe.embed)
    embed(encoder, inputs, recipe.embed)
    assert len(made) == 1
    del draw
    gc.collect()
    assert not inputs.clean
    with hold_hops(inputs, "adj", (0, 1, 2)):
        embed(encoder, inputs, recipe.embed)
        settle(encoder, inputs, recipe.embed)
    assert len(made) == 2 and not inputs.clean


def test_dense_features_are_not_copied(blocks: Graph) -> None:
    x = np.random.default_rng(0).random((90, 11), dtype=np.float32)
    inputs = inputs_of(replace(blocks, x=x), "train.columns=4")
    first = clean_hops(inputs, "adj", (0, 1)).blocks[0]
    assert first.data_ptr() == x.ctypes.data


def test_features_that_are_no_hop_make_room(blocks: Graph) -> None:
    adj, x = make_adj(blocks.adjacency), torch.ones(90, 3)
    for wanted, count in (((0, 1), 2), ((2,), 1)):
        gone: list[int] = []
        features = [x.clone()]
        weakref.finalize(features[0], gone.append, 1)
        found = walk_hops(features, adj, wanted, 8)
        assert features == [] and len(found.blocks) == count and bool(gone) == (0 not in wanted)


def test_rows_come_in_another_order() -> None:
    x = torch.arange(12.0).view(4, 3)
    rows = OrderedRows(ColumnBlocks((x, -x)), torch.tensor([2, 0, 3, 1]))
    assert torch.equal(rows.rows(1, 3), torch.cat([x, -x], dim=1)[[0, 3]])


def test_epochs_in_memory_and_on_disk_are_the_same(graph: Graph, tmp_path: Path) -> None:
    recipe = recipe_with("train.columns=7")
    epochs = []
    for scratch in (None, tmp_path):
        inputs = inputs_of(graph, "train.columns=7", scratch=scratch)
        draw = epoch_sampler(inputs, recipe, torch.Generator().manual_seed(3))
        epochs.append([[rows.propagated.clone() for rows in pair] for _ in "12" for pair in draw()])
    for one, other in zip(*epochs, strict=True):
        assert all(map(torch.equal, one, other))


def test_ppr_of_blocks_is_over_adj_itself(blocks: Graph) -> None:
    x = torch.randn(90, 3, generator=torch.Generator().manual_seed(0))
    apart = make_diff(blocks.adjacency, DiffusionRecipe(alpha=0.1, self_loops=True))
    shared = make_ppr(make_adj(blocks.adjacency), 0.1)
    assert torch.equal(shared.multiply(x), apart.multiply(x))
    operators = inputs_of(blocks).operators
    assert isinstance(operators["diffused"], Diffusion)
    assert operators["diffused"].transition is operators["adj"]
