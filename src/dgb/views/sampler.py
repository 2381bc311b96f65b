"""Where the views of an epoch come from: the whole graph in one step, or row batches."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import torch

from dgb.recipe import Recipe
from dgb.views.augment import ViewSpec, augment, node_factors, parse_view, scale_rows
from dgb.views.diffusion import GraphOperator
from dgb.views.hops import HopBlocks, clean_hops, walk_hops
from dgb.views.inputs import Inputs
from dgb.views.rows import OrderedRows, RowBatches, RowsOf, batch_sizes, keep_together, pairs_within
from dgb.views.store import ColumnBlocks, Store, fill
from dgb.views.view import View, propagates_first


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
    num_nodes, hops = inputs.shape[0], recipe.encoder.walked
    rooms = [_make_room(inputs, spec, hops, f"view{i}") for i, spec in enumerate(specs, 1)]
    sizes = batch_sizes(num_nodes, recipe.train.batch_size)

    def draw() -> RowBatches:
        drawn, filled = [], []
        for room, spec in zip(rooms, specs, strict=True):
            filled.append(_fill_room(room, inputs, spec, generator))
            drawn.append(inputs.draw_operator(spec, generator))
        order = torch.randperm(num_nodes, generator=generator, device=generator.device)
        if recipe.links.weight:
            assert drawn[0].hidden is not None  # refused otherwise
            order = keep_together(order, drawn[0].hidden, generator)
        view1, view2 = (
            _walk_view(view, inputs, operator, hops, order)
            for view, (operator, *_) in zip(filled, drawn, strict=True)
        )
        pairs = tuple(
            tuple(pairs_within(part, order, sizes) for part in (hidden, absent, inputs.held))
            for _, hidden, absent in drawn
        )
        return RowBatches((view1, view2), sizes, inputs.device, pairs)

    return draw


# P^k X without dropout, files of a view, or X̃ of a view in memory.
Filled = ColumnBlocks | HopBlocks | list[torch.Tensor]


def _make_room(
    inputs: Inputs, spec: ViewSpec, hops: Sequence[int], name: str
) -> ColumnBlocks | HopBlocks | None:
    """Return what is kept of a view from one epoch to the next: of one in memory, nothing."""
    assert inputs.store is not None
    if inputs.store.folder is not None:  # from which rows in any order are slow to read
        return HopBlocks(inputs.store, name, inputs.shape, inputs.x.device, hops)
    return clean_hops(inputs, spec.operator, hops) if spec.is_clean else None


def _fill_room(
    room: ColumnBlocks | HopBlocks | None,
    inputs: Inputs,
    spec: ViewSpec,
    generator: torch.Generator,
) -> Filled:
    """Draw X̃ of a view; one without dropout is propagated already."""
    if isinstance(room, ColumnBlocks):
        return room
    if room is None:
        blocks = (inputs.store or Store()).make_blocks("", inputs.shape, inputs.x.device)
    else:
        blocks = room.features
    fill(blocks, inputs.x, inputs.row_scale, spec.features, generator)
    return room or list(blocks.blocks)


def _walk_view(
    view: Filled,
    inputs: Inputs,
    operator: GraphOperator,
    hops: Sequence[int],
    order: torch.Tensor,
) -> RowsOf:
    """Propagate X̃ of a view, and return it with its rows in the order of an epoch."""
    if isinstance(view, HopBlocks):
        view.propagate(operator, order)
        return view.all
    if isinstance(view, list):
        width = (inputs.store or Store()).width(inputs.shape[0])
        view = walk_hops(view, operator, hops, width)
    return OrderedRows(view, order)


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
