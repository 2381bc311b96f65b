"""The actor that draws the epochs of a run, and the shares of them that ranks train on.

It lives where the run was started and owns all blocks: a rank that is lost takes none along.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import ray
from dgb.arrays import Array
from dgb.files.atomic import append_line
from dgb.ray.blocks import BlockOperator, GraphBlocks, Ref, put_operator, run_tasks
from dgb.ray.propagation import make_features, propagate_blocks
from dgb.recipe import Recipe
from dgb.train.monitor import METRICS, open_metrics
from dgb.views.augment import ViewSpec, parse_view
from dgb.views.features import ColumnBlocks
from dgb.views.inputs import Inputs, has_row_batches
from dgb.views.rows import (
    Pairs,
    RowBatches,
    batch_sizes,
    draw_absent_within,
    keep_together,
    pairs_within,
)


@dataclass(frozen=True, eq=False)
class Share:
    """The rows of an epoch that one rank trains on, in the order of the batches."""

    rows: Array
    sizes: list[int]  # of the rank's part of every batch
    views: list[list[Ref]]  # of both views, by blocks of rows: those of them that are wanted
    state: Array  # of the generator, once the epoch is drawn
    pairs: tuple[Pairs, ...]  # of view 1, by batch, both ends of which it has: hidden, absent


def pick_rows(cut: tuple[int, int], ranks: int, *arrays: Array) -> Any:
    """Return the rows of a block that each rank wants, given its columns in parts."""
    wanted, block = arrays[:ranks], np.concatenate(arrays[ranks:], axis=1)
    rows = [block[own[_is_inside(own, cut)] - cut[0]] for own in wanted]
    return rows if ranks > 1 else rows[0]


def rank_sampler(
    epochs: Any, blocks: GraphBlocks, ranks: tuple[int, int], generator: torch.Generator
) -> Callable[[], RowBatches]:
    """Return a function that draws an epoch of this rank; `ranks` as for `Epochs.draw`."""

    def draw() -> RowBatches:
        share: Share = ray.get(epochs.draw.remote(blocks, ranks, generator.get_state().numpy()))
        generator.set_state(torch.from_numpy(share.state.copy()))
        return rows_of(share, blocks)

    return draw


def rows_of(share: Share, blocks: GraphBlocks) -> RowBatches:
    """Return the batches of a share, put together from its pieces."""
    cuts = blocks.layout.rows
    view1, view2 = (ColumnBlocks((_gather(share.rows, v, cuts),)) for v in share.views)
    return RowBatches((view1, view2), share.sizes, torch.device("cpu"), (share.pairs, ()))


def _gather(rows: Array, pieces: list[Ref], cuts: Sequence[int]) -> Tensor:
    """Return the rows of a rank, of which each block of rows has its piece."""
    width = ray.get(pieces[0]).shape[1]
    out = np.empty((len(rows), width), np.float32)
    for cut, piece in zip(pairwise(cuts), pieces, strict=True):
        out[_is_inside(rows, cut)] = ray.get(piece)
    return torch.from_numpy(out)


def _is_inside(rows: Array, cut: tuple[int, int]) -> Array:
    return np.asarray((rows >= cut[0]) & (rows < cut[1]))


_picked = ray.remote(max_retries=-1)(pick_rows)


class Epochs:
    """Draws each epoch once, however many ranks ask for it."""

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        """Remember the recipe and where the journal is."""
        self.recipe, self.folder = recipe, folder
        self.drawn: tuple[bytes, list[Share]] = (b"", [])
        self.refused: str | None = None

    def draw(self, blocks: GraphBlocks, ranks: tuple[int, int], state: Array) -> Share:
        """Return what a rank trains on in the epoch that begins with this state of the generator.

        `ranks` is the number of this one, and how many there are. Masks and order are drawn as in
        one process: view 1, view 2, then the order.
        """
        if self.drawn[0] != state.tobytes():
            self.drawn = b"", []  # all ranks have theirs: let go of the epoch before
            self.drawn = state.tobytes(), self._draw(blocks, ranks[1], state)
        return self.drawn[1][ranks[0]]

    def begin(self, epoch: int) -> None:
        """Leave out of the journal what comes after an epoch: it is trained again."""
        with open_metrics(self.folder, epoch):
            self.refused = None

    def log(self, line: dict[str, Any]) -> None:
        """Write a line of metrics."""
        append_line(self.folder / METRICS, line)

    def refuse(self, message: str) -> None:
        """Remember what a rank found that only the user can fix."""
        self.refused = message

    def refusal(self) -> str | None:
        """Return what a rank found that only the user can fix."""
        return self.refused

    def _draw(self, blocks: GraphBlocks, ranks: int, state: Array) -> list[Share]:
        generator = torch.Generator()
        generator.set_state(torch.from_numpy(state.copy()))
        drawn = [
            _draw_view(blocks, parse_view(view), generator)
            for view in (self.recipe.view1, self.recipe.view2)
        ]
        shares = self._split(blocks, ranks, drawn[0][2], generator)
        wanted = [ray.put(share.rows) for share in shares]
        layout, hops = blocks.layout, self.recipe.encoder.walked
        for x, operator, _ in drawn:
            columns = propagate_blocks(layout, operator, x, hops)
            cuts = zip(pairwise(layout.rows), zip(*columns, strict=True), strict=True)
            calls = ((cut, ranks, *wanted, *parts) for cut, parts in cuts)
            picked = run_tasks(_picked, ranks, layout, calls)
            for share, pieces in zip(shares, picked, strict=True):
                share.views.append(pieces)
        return shares

    def _split(
        self, blocks: GraphBlocks, ranks: int, pairs: list[Tensor], generator: torch.Generator
    ) -> list[Share]:
        """Return what each rank has of every batch, without its views yet."""
        num_nodes = blocks.shape[0]
        order = self._order(num_nodes, ranks, pairs, generator)
        pairs = pairs + self._absent_within(blocks, pairs, order, generator)
        after = generator.get_state().numpy()
        sizes = [
            len(part)
            for size in batch_sizes(num_nodes, self.recipe.train.batch_size)
            for part in np.array_split(np.empty(size), ranks)
        ]
        parts = np.split(order.numpy(), np.cumsum(sizes)[:-1])
        asked = [pairs_within(part, order, sizes) or [] for part in pairs]
        return [
            Share(
                np.concatenate(parts[rank::ranks]),
                sizes[rank::ranks],
                [],
                after,
                tuple(part[rank::ranks] for part in asked),
            )
            for rank in range(ranks)
        ]

    def _absent_within(
        self, blocks: GraphBlocks, pairs: list[Tensor], order: Tensor, generator: torch.Generator
    ) -> list[Tensor]:
        """Return the absent pairs of row batches, which are drawn once their rows are known."""
        graph: Inputs = ray.get(blocks.graph)
        if len(pairs) != 1 or graph.edges is None:
            return []
        sizes = batch_sizes(blocks.shape[0], self.recipe.train.batch_size)
        hidden = pairs_within(pairs[0], order, sizes) or []
        return [draw_absent_within(hidden, order, sizes, graph.edges, generator)]

    def _order(
        self, num_nodes: int, ranks: int, pairs: Sequence[Tensor], generator: torch.Generator
    ) -> Tensor:
        """Return the order of the rows; ends of hidden edges that links ask for meet in a rank."""
        order = torch.arange(num_nodes)
        if is_cut := has_row_batches(self.recipe.train, num_nodes):
            order = torch.randperm(num_nodes, generator=generator)
        if self.recipe.links.weight and (is_cut or ranks > 1):
            order = keep_together(order, pairs[0], generator)
        return order


def _draw_view(
    blocks: GraphBlocks, spec: ViewSpec, generator: torch.Generator
) -> tuple[list[list[Ref]], BlockOperator, list[Tensor]]:
    """Return X̃ and what it travels over; of a view that hides edges, hidden and absent pairs.

    Absent ones of row batches are drawn with the batches.
    """
    columns = make_features(blocks, spec.features, generator)
    if not spec.edges:
        return columns, blocks.operators[spec.operator], []
    graph: Inputs = ray.get(blocks.graph)
    operator, *pairs = graph.draw_operator(spec, generator)
    asked = [part for part in pairs if part is not None]
    return columns, put_operator(operator, blocks.layout), asked
