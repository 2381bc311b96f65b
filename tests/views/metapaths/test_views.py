"""Views of heterogeneous graphs: who shares masks with whom, and rates by type."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from dgb.cookbook import load_recipe
from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.recipe import Recipe, ViewRecipe
from dgb.views.metapaths.inputs import PathInputs, make_path_inputs
from dgb.views.metapaths.rates import parse_typed_view
from dgb.views.metapaths.sampler import (
    PathViews,
    TypedGraph,
    make_typed_inputs,
    path_sampler,
    typed_sampler,
)
from dgb.views.sparse import SparseMatrix
from tests.hetero import make_library

CPU = torch.device("cpu")
TYPES = ("paper", "author", "venue")


@pytest.fixture
def library() -> HeteroGraph:
    return make_library(36)


def make_recipe(*sets: str) -> Recipe:
    paths = "hetero.metapaths=paper-author-paper,paper-venue-paper"
    return load_recipe("paper", [paths, "encoder.width=8", *sets])


def path_views(
    library: HeteroGraph, recipe: Recipe, generator: torch.Generator
) -> tuple[PathInputs, list[tuple[PathViews, PathViews]]]:
    inputs = make_path_inputs(library, recipe, CPU)
    return inputs, list(path_sampler(inputs, "paper", recipe, generator)())


def as_dense(x: Any) -> Any:
    return x.dense() if isinstance(x, SparseMatrix) else x


def test_all_meta_paths_of_a_view_see_the_same_dropped_features(
    library: HeteroGraph, generator: torch.Generator
) -> None:
    recipe = make_recipe("train.order=transform")
    _, [(view1, view2)] = path_views(library, recipe, generator)
    assert len(view1.parts) == 2
    one, two = (as_dense(part.x) for part in view1.parts)  # type: ignore[union-attr]
    assert torch.equal(one, two)
    assert not torch.equal(one, as_dense(view2.parts[0].x))  # type: ignore[union-attr]


def test_both_orders_of_a_view_give_the_same_rows(library: HeteroGraph) -> None:
    weight = torch.randn(12, 5, generator=torch.Generator().manual_seed(3))
    found = []
    for order in ("transform", "propagate"):
        recipe = make_recipe(f"train.order={order}")
        _, [(view1, view2)] = path_views(library, recipe, torch.Generator().manual_seed(1))
        found.append([part.transform(weight) for part in (*view1.parts, *view2.parts)])
    for one, two in zip(*found, strict=True):
        torch.testing.assert_close(one, two, atol=1e-6, rtol=1e-5)


def test_row_batches_are_rows_of_the_same_views(library: HeteroGraph) -> None:
    weight = torch.randn(12, 5, generator=torch.Generator().manual_seed(3))
    whole = make_recipe("train.order=propagate")
    _, [(view1, _)] = path_views(library, whole, torch.Generator().manual_seed(1))
    recipe = make_recipe("train.batch_size=10")
    _, steps = path_views(library, recipe, torch.Generator().manual_seed(1))
    assert len(steps) == 4
    for place in range(2):
        rows = torch.cat([step[0].parts[place].transform(weight) for step in steps])
        expected = view1.parts[place].transform(weight)
        assert len(rows) == len(expected)
        # In another order, each once: sums over all nodes are the same.
        torch.testing.assert_close(rows.sum(0), expected.sum(0))
        torch.testing.assert_close(rows.square().sum(0), expected.square().sum(0))


def test_nodes_on_the_way_are_left_out_anew_in_every_view(
    library: HeteroGraph, generator: torch.Generator
) -> None:
    recipe = make_recipe("view1.types=author.way=0.5", "view2.way_drop_rate=0.5")
    inputs, [(view1, view2)] = path_views(library, recipe, generator)
    eye = torch.eye(36)
    clean = [operators["adj"].multiply(eye) for operators in inputs.operators.values()]
    first = [part.operator.multiply(eye) for part in view1.parts]
    assert not torch.equal(first[0], clean[0])
    assert torch.equal(first[1], clean[1])  # over venues, of which view 1 drops none
    for part, operators in zip(view2.parts, inputs.operators.values(), strict=True):
        assert not torch.equal(part.operator.multiply(eye), operators["diff"].multiply(eye))


def test_diffusion_stays_stable_when_nodes_on_the_way_are_dropped(
    library: HeteroGraph, generator: torch.Generator
) -> None:
    recipe = make_recipe("view1.augment=in+diff", "view1.way_drop_rate=0.9")
    _, [(view1, _)] = path_views(library, recipe, generator)
    for part in view1.parts:
        eigenvalues = torch.linalg.eigvalsh(part.operator.multiply(torch.eye(36)))
        assert eigenvalues.abs().max() < 1 + 1e-2


def test_multiplied_out_meta_paths_give_the_same_views(library: HeteroGraph) -> None:
    weight = torch.randn(12, 5, generator=torch.Generator().manual_seed(3))
    found = []
    for materialise in ("false", "true"):
        recipe = make_recipe(f"hetero.materialise={materialise}")
        _, [(view1, view2)] = path_views(library, recipe, torch.Generator().manual_seed(1))
        found.append([part.transform(weight) for part in (*view1.parts, *view2.parts)])
    for one, two in zip(*found, strict=True):
        torch.testing.assert_close(one, two, atol=1e-5, rtol=1e-4)


def test_every_type_draws_its_own_masks_at_its_own_rates(
    library: HeteroGraph, generator: torch.Generator
) -> None:
    recipe = make_recipe(
        "view2.augment=nd+adj", "view1.types=author.nfd=0", "view2.types=author.nd=0.9"
    )
    graph = replace(library, nodes={name: library.nodes[name] for name in ("paper", "author")})
    graph = replace(graph, relations=tuple(r for r in library.relations if r.source == "paper"))
    inputs = make_typed_inputs(graph, recipe, CPU)
    [(view1, view2)] = list(typed_sampler(inputs, recipe, generator)())
    assert isinstance(view1, TypedGraph)
    clean = {name: as_dense(x) for name, x in inputs.x.items()}
    assert torch.equal(as_dense(view1.x["author"]), clean["author"])
    kept = (as_dense(view1.x["paper"]) != 0).sum() / (clean["paper"] != 0).sum()
    assert 0.2 < kept < 0.6  # of 0.6 dropped
    has_words = (clean["author"] != 0).any(1)
    kept = ((as_dense(view2.x["author"]) != 0).any(1) & has_words).sum() / has_words.sum()
    assert kept < 0.35


def test_rates_of_single_types_go_before_those_of_the_view() -> None:
    view = ViewRecipe(augment="nfd+nd+adj", nfd_drop_rate=0.6, types="author.nfd=0.1")
    spec = parse_typed_view(view, TYPES)
    assert spec.nodes["paper"] == (("nfd", 0.6), ("nd", 0.5))
    assert spec.nodes["author"] == (("nfd", 0.1), ("nd", 0.5))
    assert spec.way == {}
    over_paths = ViewRecipe(types="paper.nfd=0.2, venue.way=0.3", way_drop_rate=0.1)
    spec = parse_typed_view(over_paths, TYPES, "paper")
    assert spec.nodes["paper"] == (("nfd", 0.2),)
    assert spec.way == {"paper": 0.1, "author": 0.1, "venue": 0.3}


@pytest.mark.parametrize(
    ("view", "target", "problem"),
    [
        (ViewRecipe(way_drop_rate=0.1), None, "views over meta-paths"),
        (ViewRecipe(types="author.way=0.1"), None, "views over meta-paths"),
        (ViewRecipe(types="paper.nd=0.1"), "paper", r"nfd\+adj drops nothing by nd"),
        (ViewRecipe(types="author.nfd=0.1"), "paper", "features of paper alone"),
    ],
)
def test_rates_that_would_change_nothing_are_refused(
    view: ViewRecipe, target: str | None, problem: str
) -> None:
    with pytest.raises(DGBError, match=problem):
        parse_typed_view(view, TYPES, target)


@pytest.mark.parametrize(
    ("types", "problem"),
    [
        ("auhtor.nd=0.1", "did you mean 'author'"),
        ("author.dn=0.1", "Known: nd, nfd, way"),
        ("author.nd=1", "from 0 to 0.99, not '1'"),
        ("author.nd=much", "not 'much'"),
        ("author.nd", "not ''"),
    ],
)
def test_wrong_rates_are_refused(types: str, problem: str) -> None:
    with pytest.raises(DGBError, match=problem):
        parse_typed_view(ViewRecipe(types=types), TYPES)
