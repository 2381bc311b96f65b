"""Where the views of an epoch come from: the whole graph in one step, or row batches."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import torch

from dgb.recipe import Recipe
from dgb.views.augment import ViewSpec, augment, node_factors, parse_view, scale_rows
from dgb.views.diffusion import GraphOperator
from dgb.views.features import ColumnBlocks, Store, fill
from dgb.views.hops import HopBlocks, clean_hops, walk_hops
from dgb.views.inputs import DrawnOperator, Inputs
from dgb.views.rows import (
    OrderedRows,
    Pairs,
    RowBatches,
    RowsOf,
    batch_sizes,
    draw_absent_within,
    keep_together,
    pairs_within,
)
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
    num_nodes, hops = inputs.shape[0], recipe.encoder.walked
    views = [_RowView(inputs, spec, hops, f"view{i}") for i, spec in enumerate(specs, 1)]
    sizes = batch_sizes(num_nodes, recipe.train.batch_size)

    def draw() -> RowBatches:
        drawn = [view.draw(generator) for view in views]
        order = torch.randperm(num_nodes, generator=generator, device=generator.device)
        if recipe.links.weight:
            assert drawn[0].hidden is not None  # refused otherwise
            order = keep_together(order, drawn[0].hidden, generator)
        # Pairs first: sorting them takes memory for a moment, P^k X̃ for the whole epoch.
        pairs = tuple(
            _pairs_of_batches(inputs, hidden, order, sizes, generator) for _, hidden, _ in drawn
        )
        operators = [operator for operator, *_ in drawn]
        del drawn  # pairs of the whole graph
        view1, view2 = (
            view.walk(operator, order) for view, operator in zip(views, operators, strict=True)
        )
        return RowBatches((view1, view2), sizes, inputs.device, pairs)

    return draw


def _pairs_of_batches(
    inputs: Inputs,
    hidden: torch.Tensor | None,
    order: torch.Tensor,
    sizes: Sequence[int],
    generator: torch.Generator,
) -> tuple[Pairs | None, ...]:
    """Return the hidden, absent and held pairs of a view, batch by batch."""
    asked, absent = pairs_within(hidden, order, sizes), None
    if asked is not None and inputs.edges is not None:
        absent = draw_absent_within(asked, order, sizes, inputs.edges, generator)
    return asked, pairs_within(absent, order, sizes), pairs_within(inputs.held, order, sizes)


class _RowView:
    """A view of row batches: X̃, drawn before the order of an epoch is, then P^k X̃ in that order.

    From one epoch to the next, of one in memory nothing is kept, unless it drops nothing.
    """

    def __init__(self, inputs: Inputs, spec: ViewSpec, hops: Sequence[int], name: str) -> None:
        """Make room, or P^k X where it is the same in every epoch."""
        self.inputs, self.spec, self.hops = inputs, spec, hops
        self.store = inputs.store or Store()
        self.files: HopBlocks | None = None
        self.clean: ColumnBlocks | None = None
        self.features: list[torch.Tensor] = []  # X̃ in memory, until it is propagated
        if self.store.folder is not None:  # from which rows in any order are slow to read
            self.files = HopBlocks(self.store, name, inputs.shape, inputs.x.device, hops)
        elif spec.is_clean:
            self.clean = clean_hops(inputs, spec.operator, hops)

    def draw(self, generator: torch.Generator) -> DrawnOperator:
        """Draw X̃, and return what it travels over."""
        inputs, spec = self.inputs, self.spec
        if self.files is not None:
            fill(self.files.features, inputs.x, inputs.row_scale, spec.features, generator)
        elif self.clean is None:
            blocks = self.store.make_blocks("", inputs.shape, inputs.x.device)
            fill(blocks, inputs.x, inputs.row_scale, spec.features, generator)
            self.features = list(blocks.blocks)
        return inputs.draw_operator(spec, generator)

    def walk(self, operator: GraphOperator, order: torch.Tensor) -> RowsOf:
        """Propagate X̃, and return it with its rows in the order of an epoch."""
        if self.files is not None:
            self.files.propagate(operator, order)
            return self.files.all
        width = self.store.width(self.inputs.shape[0])
        blocks = self.clean or walk_hops(self.features, operator, self.hops, width)
        return OrderedRows(blocks, order)


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
