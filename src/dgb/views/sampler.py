"""Where the views of an epoch come from: the whole graph in one step, or row batches."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import torch

from dgb.recipe import Recipe
from dgb.views.augment import augment, node_factors, scale_rows
from dgb.views.clean import OrderedRows, clean_hops
from dgb.views.diffusion import GraphOperator
from dgb.views.inputs import Inputs
from dgb.views.rows import (
    ColumnBlocks,
    HopBlocks,
    RowBatches,
    RowsOf,
    batch_sizes,
    fill,
    keep_together,
    pairs_within,
)
from dgb.views.view import View, ViewSpec, parse_view, propagates_first


class Epoch(Protocol):
    """The two views of every step of an epoch."""

    def __len__(self) -> int:
        """Return the number of steps."""

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Yield the views step by step, in the form that the run's encoder takes."""


def epoch_sampler(
    inputs: Inputs, recipe: Recipe, generator: torch.Generator
) -> Callable[[], Epoch]:
    """Return a function that draws the views of an epoch, each view with its own masks."""
    specs = parse_view(recipe.view1), parse_view(recipe.view2)
    if inputs.store is not None:
        return _row_sampler(inputs, recipe, specs, generator)
    first = _propagate_first(inputs, recipe)
    hops = recipe.encoder.walked

    def draw() -> Epoch:
        view1, view2 = (
            make_view(inputs, spec, generator, propagate=hops if is_first else ())
            for spec, is_first in zip(specs, first, strict=True)
        )
        return [(view1, view2)]

    return draw


def make_view(
    inputs: Inputs, spec: ViewSpec, generator: torch.Generator, *, propagate: Sequence[int] = ()
) -> View:
    """Draw a view of the whole graph with new masks.

    Args:
        inputs: Features and operators, from `make_inputs`.
        spec: What to drop and which operator to take, from `parse_view`.
        generator: Of the masks.
        propagate: Hops k of which P^k X̃ is computed at once, for the order (P^k X̃) W.

    Returns:
        The view, in the form that encoders take.

    Example:
        >>> view = make_view(inputs, parse_view(recipe.view1), torch.Generator())
    """
    x = inputs.x
    if propagate or any(name != "nd" for name, _ in spec.features):
        dropped, undropped = augment(x, spec.features, generator), None
    else:  # node dropout alone: both views can share X W
        keep = node_factors(x, [drop_rate for _, drop_rate in spec.features], generator)
        dropped, undropped = scale_rows(x, keep), (x, keep)
    operator, hidden, absent = inputs.draw_operator(spec, generator)
    view = View(
        dropped, operator, undropped=undropped, hidden=hidden, absent=absent, held=inputs.held
    )
    if propagate:
        return view.propagate(propagate)
    return view.compact() if spec.features else view


def _row_sampler(
    inputs: Inputs, recipe: Recipe, specs: tuple[ViewSpec, ViewSpec], generator: torch.Generator
) -> Callable[[], RowBatches]:
    assert inputs.store is not None
    num_nodes, place = inputs.shape[0], inputs.x.device
    hops = recipe.encoder.walked
    is_in_memory = inputs.store.folder is None  # rows in any order are slow to read from a file
    rooms = [
        clean_hops(inputs, spec.operator, hops)
        if is_in_memory and not (spec.features or spec.edges)
        else HopBlocks(inputs.store, f"view{i}", inputs.shape, place, hops)
        for i, spec in enumerate(specs, 1)
    ]
    sizes = batch_sizes(num_nodes, recipe.train.batch_size)

    def draw() -> RowBatches:
        drawn = []
        for room, spec in zip(rooms, specs, strict=True):
            if isinstance(room, HopBlocks):
                fill(room.features, inputs.x, inputs.row_scale, spec.features, generator)
            drawn.append(inputs.draw_operator(spec, generator))
        order = torch.randperm(num_nodes, generator=generator, device=generator.device)
        if recipe.links.weight:
            assert drawn[0].hidden is not None  # refused otherwise
            order = keep_together(order, drawn[0].hidden, generator)
        view1, view2 = (
            _put_in_order(room, operator, order)
            for room, (operator, *_) in zip(rooms, drawn, strict=True)
        )
        pairs = tuple(
            tuple(pairs_within(part, order, sizes) for part in (hidden, absent, inputs.held))
            for _, hidden, absent in drawn
        )
        return RowBatches((view1, view2), sizes, inputs.device, pairs)

    return draw


def _put_in_order(
    room: HopBlocks | ColumnBlocks, operator: GraphOperator, order: torch.Tensor
) -> RowsOf:
    """Propagate the features of a view; one without dropout is propagated already."""
    if isinstance(room, ColumnBlocks):
        return OrderedRows(room, order)
    room.propagate(operator, order)
    return room.all


def describe_path(inputs: Inputs, recipe: Recipe) -> str:
    """Return in a line how the steps of a run are computed."""
    if inputs.store is None:
        first = _propagate_first(inputs, recipe)
        one, two = ("(P X̃) W" if is_first else "P (X̃ W)" for is_first in first)
        return f"the whole graph a step: {one} in view 1, {two} in view 2"
    num_nodes, num_features = inputs.shape
    sizes = batch_sizes(num_nodes, recipe.train.batch_size)
    columns = min(num_features, inputs.store.width(num_nodes))
    place = "on disk" if inputs.store.folder else "in memory"
    return (
        f"{len(sizes)} row batches of {max(sizes)} nodes an epoch: P X̃ kept {place}, "
        f"{columns} columns at a time"
    )


def _propagate_first(inputs: Inputs, recipe: Recipe) -> list[bool]:
    """Tell of each view of the whole graph whether it takes the order (P X̃) W."""
    if recipe.train.order != "auto":
        return [recipe.train.order == "propagate"] * 2
    operators = (parse_view(view).operator for view in (recipe.view1, recipe.view2))
    hops = recipe.encoder.walked
    width = recipe.encoder.columns
    return [propagates_first(inputs.x, inputs.operators[name], width, hops) for name in operators]
