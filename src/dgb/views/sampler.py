"""Where the views of an epoch come from: the whole graph in one step, or row batches."""

from collections.abc import Callable, Iterator
from typing import Protocol

import torch

from dgb.recipe import Recipe, Train
from dgb.views.inputs import Inputs
from dgb.views.rows import RowBatches, batch_sizes, fill, propagate
from dgb.views.view import Rows, View, ViewSpec, make_view, parse_view, propagates_first


class Epoch(Protocol):
    """The two views of every step of an epoch."""

    def __len__(self) -> int:
        """Return the number of steps."""

    def __iter__(self) -> Iterator[tuple[View | Rows, View | Rows]]:
        """Yield the views step by step."""


def epoch_sampler(
    inputs: Inputs, recipe: Recipe, generator: torch.Generator
) -> Callable[[], Epoch]:
    """Return a function that draws the views of an epoch, each view with its own masks."""
    specs = parse_view(recipe.view1), parse_view(recipe.view2)
    if inputs.store is not None:
        return _row_sampler(inputs, recipe.train, specs, generator)
    width = recipe.encoder.width
    first = [is_propagated_first(inputs, spec, recipe.train.order, width) for spec in specs]

    def draw() -> Epoch:
        view1, view2 = (
            make_view(inputs.x, inputs.operators, spec, generator, propagate=propagate)
            for spec, propagate in zip(specs, first, strict=True)
        )
        return [(view1, view2)]

    return draw


def _row_sampler(
    inputs: Inputs, recipe: Train, specs: tuple[ViewSpec, ViewSpec], generator: torch.Generator
) -> Callable[[], RowBatches]:
    assert inputs.store is not None
    num_nodes, place = inputs.shape[0], inputs.x.device
    view1, view2 = (inputs.store.make_blocks(f"view{i}", inputs.shape, place) for i in (1, 2))
    sizes = batch_sizes(num_nodes, recipe.batch_size)

    def draw() -> RowBatches:
        for view, spec in zip((view1, view2), specs, strict=True):
            fill(view, inputs.x, inputs.row_scale, spec.nodes, generator)
        order = torch.randperm(num_nodes, generator=generator, device=generator.device)
        for view, spec in zip((view1, view2), specs, strict=True):
            propagate(view, inputs.operators[spec.operator], order)
        return RowBatches((view1, view2), sizes, inputs.device)

    return draw


def is_propagated_first(inputs: Inputs, spec: ViewSpec, order: str, width: int) -> bool:
    """Tell whether a view of the whole graph takes the order (P X̃) W."""
    if order != "auto":
        return order == "propagate"
    return propagates_first(inputs.x, inputs.operators[spec.operator], width)
