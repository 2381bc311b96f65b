"""What a run computes once from a graph: features as tensors, operators, and a source of views."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse

from dgb.data.graph import Graph
from dgb.recipe import Diffusion, Recipe
from dgb.views.augment import Features
from dgb.views.operators import make_diff, make_operators, row_normalise
from dgb.views.product import Operator
from dgb.views.sparse import sparse_matrix
from dgb.views.view import SPARSE_COST, View, make_view, parse_view, propagates_first


@dataclass(frozen=True, eq=False)
class Inputs:
    """Normalised features and the operators that a recipe's views and embedding need."""

    x: Features  # [num_nodes, num_features]
    operators: dict[str, Operator]


def make_inputs(
    graph: Graph, recipe: Recipe, device: torch.device, *, is_trained: bool = False
) -> Inputs:
    """Normalise the features once, before any dropout, and make the operators.

    Those of the recipe's views are left out for an encoder that is trained already.
    """
    needed = set(recipe.embed.operator.split("+"))
    if not is_trained:
        needed |= {parse_view(view).operator for view in (recipe.view1, recipe.view2)}
    operators = make_operators(graph.adjacency, recipe.diffusion, needed, device)
    if recipe.embed.smooth:
        smooth = Diffusion(alpha=recipe.embed.smooth, self_loops=True)
        operators["smooth"] = make_diff(graph.adjacency, smooth).to(device)
    return Inputs(to_features(normalised_features(graph, recipe)).to(device), operators)


def normalised_features(graph: Graph, recipe: Recipe) -> Any:
    """Return X as the recipe wants it, dense or sparse as it came."""
    return row_normalise(graph.x) if recipe.data.normalise == "row" else graph.x


def to_features(x: Any) -> Features:
    """Return features as a sparse matrix where that is the cheaper form, else as a dense tensor."""
    size = x.shape[0] * x.shape[1]
    nonzeros = x.nnz if sparse.issparse(x) else np.count_nonzero(x)
    if nonzeros * SPARSE_COST < size:
        return sparse_matrix(x)
    return torch.from_numpy(np.array(x.toarray() if sparse.issparse(x) else x))


def view_sampler(
    inputs: Inputs, recipe: Recipe, generator: torch.Generator
) -> Callable[[], tuple[View, View]]:
    """Return a function that draws a fresh pair of views, each with its own masks."""
    specs = [parse_view(recipe.view1), parse_view(recipe.view2)]
    propagate = [propagates(inputs, recipe, spec.operator) for spec in specs]

    def draw_views() -> tuple[View, View]:
        view1, view2 = (
            make_view(inputs.x, inputs.operators, spec, generator, propagate=first)
            for spec, first in zip(specs, propagate, strict=True)
        )
        return view1, view2

    return draw_views


def propagates(inputs: Inputs, recipe: Recipe, operator: str) -> bool:
    """Tell whether a view over this operator takes the order (P X̃) W."""
    if recipe.train.order != "auto":
        return recipe.train.order == "propagate"
    if 0 < recipe.train.batch_size < inputs.x.shape[0]:  # row batches are slices of P X̃
        return True
    return propagates_first(inputs.x, inputs.operators[operator], recipe.encoder.width)
