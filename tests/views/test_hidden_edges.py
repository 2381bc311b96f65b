"""Hidden edges: drawn again each epoch, gone from the view's graph, and given to the loss."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap, Outputs
from dgb.recipe import DiffusionRecipe, ViewRecipe
from dgb.train.loop import fit
from dgb.views.augment import hide_edges, parse_view
from dgb.views.inputs import make_inputs
from dgb.views.metapaths.rates import parse_typed_view
from dgb.views.operators import make_adj, make_diff
from dgb.views.sampler import epoch_sampler, make_view
from tests.conftest import make_blocks

CPU = torch.device("cpu")
SMALL = ["encoder.width=8", "heads.hidden=10", "heads.width=6", "train.epochs=3"]
HIDING = ["view1.augment=ed+nfd+adj", "view1.ed_drop_rate=0.4"]


def as_pairs(pairs: torch.Tensor) -> set[tuple[int, int]]:
    return {(min(i, j), max(i, j)) for i, j in pairs.T.tolist()}


def edges_of(adjacency: Any) -> set[tuple[int, int]]:
    return as_pairs(torch.from_numpy(np.stack(sparse.coo_array(adjacency).coords).astype(int)))


def test_every_edge_is_either_left_or_hidden(adjacency: Any, generator: torch.Generator) -> None:
    left, hidden = hide_edges(adjacency, 0.4, generator)
    assert (left != left.T).nnz == 0
    assert edges_of(left) | as_pairs(hidden) == edges_of(adjacency)
    assert not edges_of(left) & as_pairs(hidden) and hidden.shape[1] == len(as_pairs(hidden))
    dense, whole = left.toarray(), adjacency.toarray()
    assert np.array_equal(dense[dense > 0], whole[dense > 0]), "weights stay"


def test_the_rate_is_the_share_of_hidden_edges(generator: torch.Generator) -> None:
    adjacency = make_blocks(400).adjacency
    counts = [hide_edges(adjacency, 0.3, generator)[1].shape[1] for _ in range(30)]
    assert abs(np.mean(counts) / (adjacency.nnz / 2) - 0.3) < 0.01
    assert len(set(counts)) > 1
    left, hidden = hide_edges(adjacency, 0.0, generator)
    assert hidden.shape == (2, 0) and (left != adjacency).nnz == 0


@pytest.mark.parametrize("operator", ["adj", "diff"])
def test_the_operator_is_that_of_the_graph_without_them(blocks: Graph, operator: str) -> None:
    recipe = load_recipe("paper", [f"view1.augment=ed+{operator}", "view1.ed_drop_rate=0.4"])
    inputs, spec = make_inputs(blocks, recipe, CPU), parse_view(recipe.view1)
    view = make_view(inputs, spec, torch.Generator().manual_seed(5))
    again = make_view(inputs, spec, torch.Generator().manual_seed(6))
    assert view.hidden is not None and again.hidden is not None
    assert as_pairs(view.hidden) != as_pairs(again.hidden), "drawn again for every view"
    dense = blocks.adjacency.toarray()
    for i, j in as_pairs(view.hidden):
        dense[i, j] = dense[j, i] = 0
    left = sparse.csr_array(dense)
    made = make_adj(left) if operator == "adj" else make_diff(left, DiffusionRecipe())
    eye = torch.eye(blocks.num_nodes)
    torch.testing.assert_close(view.operator.multiply(eye), made.multiply(eye))
    assert view.operator is not inputs.operators[operator]


def seen_by_the_loss(graph: Graph, *sets: str) -> list[tuple[Any, Any]]:
    """Train some epochs with a term that keeps what it is given, and does nothing else."""
    recipe, seen = load_recipe("paper", [*SMALL, *HIDING, *sets]), []

    def keep(_outputs: Outputs, views: tuple[Any, Any]) -> torch.Tensor:
        seen.append(views)
        return torch.zeros(())

    generator = torch.Generator().manual_seed(0)
    inputs = make_inputs(graph, recipe, CPU)
    model = Bootstrap(graph.num_features, recipe, generator)
    draw = epoch_sampler(inputs, recipe, generator)
    fit(model, draw, recipe.train, generator, loss=[(1.0, keep), (1.0, first_term)])
    return seen


def first_term(outputs: Outputs, _views: tuple[Any, Any]) -> torch.Tensor:
    return outputs.prediction1.square().mean()


def test_the_loss_is_given_the_hidden_edges_of_every_epoch(blocks: Graph) -> None:
    seen = seen_by_the_loss(blocks)
    hidden = [as_pairs(view1.hidden) for view1, _ in seen]
    assert len(hidden) == 3 and len(set(map(frozenset, hidden))) == 3
    assert all(pairs <= edges_of(blocks.adjacency) for pairs in hidden)
    assert all(view2.hidden is None for _, view2 in seen)


def test_row_batches_hide_the_same_edges_and_name_them_by_their_rows(blocks: Graph) -> None:
    sets = [*SMALL, *HIDING]
    recipe = load_recipe("paper", [*sets, "train.batch_size=30"])
    whole, generator = (
        make_inputs(blocks, load_recipe("paper", sets), CPU),
        torch.Generator().manual_seed(3),
    )
    view = make_view(whole, parse_view(recipe.view1), generator).propagate()
    make_view(whole, parse_view(recipe.view2), generator)
    nodes = torch.randperm(90, generator=generator)  # as a run draws: view 1, view 2, the order
    assert view.hidden is not None and view.propagated is not None
    inputs = make_inputs(blocks, recipe, CPU)
    batches = list(epoch_sampler(inputs, recipe, torch.Generator().manual_seed(3))())
    assert len(batches) == 3
    rows = torch.cat([first.propagated for first, _ in batches])
    torch.testing.assert_close(rows, view.propagated[nodes])
    hidden, found, start = as_pairs(view.hidden), 0, 0
    for first, second in batches:
        own = nodes[start : start + len(first.propagated)]
        inside = {pair for pair in hidden if set(pair) <= set(own.tolist())}
        assert as_pairs(own[first.hidden]) == inside and second.hidden is None
        found, start = found + len(inside), start + len(own)
    assert found > 10


def test_training_with_hidden_edges_resumes_to_the_same_bits(blocks: Graph, tmp_path: Path) -> None:
    def losses(folder: Path, *epochs: int) -> list[float]:
        folder.mkdir()
        lines = []
        for count in epochs:
            recipe = load_recipe("paper", [*SMALL, *HIDING, f"train.epochs={count}"])
            generator = torch.Generator().manual_seed(0)
            model = Bootstrap(blocks.num_features, recipe, generator)
            draw = epoch_sampler(make_inputs(blocks, recipe, CPU), recipe, generator)
            lines += fit(model, draw, recipe.train, generator, folder=folder)
        return [line["loss"] for line in lines]

    assert losses(tmp_path / "whole", 4) == losses(tmp_path / "parts", 2, 4)


def test_what_cannot_hide_edges_says_so() -> None:
    with pytest.raises(DGBError, match="for graphs of one node type"):
        parse_typed_view(ViewRecipe("ed+adj"), ["paper"], "paper")
