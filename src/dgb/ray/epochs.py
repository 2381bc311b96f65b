"""The actor that draws the epochs of a run, and the shares of them that ranks train on.

It lives where the run was started and owns all blocks: a rank that is lost takes none along.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

import ray
from dgb.arrays import Array
from dgb.files.jsonl import append_line
from dgb.ray.blocks import GraphBlocks, Ref, run_tasks
from dgb.ray.propagation import make_features, propagate_blocks
from dgb.recipe import Recipe
from dgb.train.monitor import METRICS, open_metrics
from dgb.views.inputs import has_row_batches
from dgb.views.rows import ColumnBlocks, RowBatches, batch_sizes
from dgb.views.view import parse_view


@dataclass(frozen=True, eq=False)
class Share:
    """The rows of an epoch that one rank trains on, in the order of the batches."""

    rows: Array
    sizes: list[int]  # of the rank's part of every batch
    views: list[list[Ref]]  # of both views, by blocks of rows: those of them that are wanted
    state: Array  # of the generator, once the epoch is drawn


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
        view1, view2 = (ColumnBlocks((gather(share.rows, v),)) for v in share.views)
        return RowBatches((view1, view2), share.sizes, torch.device("cpu"))

    def gather(rows: Array, pieces: list[Ref]) -> torch.Tensor:
        out = np.empty((len(rows), blocks.shape[1]), np.float32)
        for cut, piece in zip(pairwise(blocks.layout.rows), pieces, strict=True):
            out[_is_inside(rows, cut)] = ray.get(piece)
        return torch.from_numpy(out)

    return draw


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
        specs = [parse_view(view) for view in (self.recipe.view1, self.recipe.view2)]
        drawn = [make_features(blocks, spec.features, generator) for spec in specs]
        shares = self._split(blocks.shape[0], ranks, generator)
        after = generator.get_state().numpy()
        wanted = [ray.put(rows) for rows, _ in shares]
        views = []
        for columns, spec in zip(drawn, specs, strict=True):
            by_rows = zip(*propagate_blocks(blocks, columns, spec.operator), strict=True)
            cuts = zip(pairwise(blocks.layout.rows), by_rows, strict=True)
            calls = ((cut, ranks, *wanted, *parts) for cut, parts in cuts)
            views.append(run_tasks(_picked, ranks, blocks.layout, calls))
        return [
            Share(rows, sizes, [view[rank] for view in views], after)
            for rank, (rows, sizes) in enumerate(shares)
        ]

    def _split(
        self, num_nodes: int, ranks: int, generator: torch.Generator
    ) -> list[tuple[Array, list[int]]]:
        sizes = batch_sizes(num_nodes, self.recipe.train.batch_size)
        order = np.arange(num_nodes)
        if has_row_batches(self.recipe.train, num_nodes):
            order = torch.randperm(num_nodes, generator=generator).numpy()
        batches = np.split(order, np.cumsum(sizes)[:-1])
        parts = [[np.array_split(batch, ranks)[rank] for batch in batches] for rank in range(ranks)]
        return [(np.concatenate(own), [len(part) for part in own]) for own in parts]
