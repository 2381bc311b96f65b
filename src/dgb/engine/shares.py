"""The shares of an epoch: which rows a rank trains on, and how it gets them."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import ray
import torch

from dgb.data.graph import Array
from dgb.engine.blocks import Blocks, Ref
from dgb.views.columns import ColumnBlocks
from dgb.views.rows import RowBatches


@dataclass(frozen=True, eq=False)
class Share:
    """The rows of an epoch that one rank trains on, in the order of the batches."""

    rows: Array
    sizes: list[int]  # of the rank's part of every batch
    views: list[list[Ref]]  # of both views, by blocks of rows: those of them that are wanted
    state: Array  # of the generator, once the epoch is drawn


def pick(blocks: Blocks, columns: list[list[Ref]], wanted: list[Ref]) -> list[list[Ref]]:
    """Return for every rank the rows that it wants of every block of rows."""
    rows = zip(pairwise(blocks.layout.rows), zip(*columns, strict=True), strict=True)
    made = [
        _picked.options(num_returns=len(wanted), **blocks.layout.on(i)).remote(
            cut, len(wanted), *wanted, *parts
        )
        for i, (cut, parts) in enumerate(rows)
    ]
    by_block = [picks if len(wanted) > 1 else [picks] for picks in made]
    return [list(own) for own in zip(*by_block, strict=True)]


def picked(cut: tuple[int, int], ranks: int, *arrays: Array) -> Any:
    """Return the rows of a block that each rank wants, given its columns in parts."""
    wanted, block = arrays[:ranks], np.concatenate(arrays[ranks:], axis=1)
    rows = [block[own[_is_inside(own, cut)] - cut[0]] for own in wanted]
    return rows if ranks > 1 else rows[0]


def rank_sampler(
    epochs: Any, blocks: Blocks, ranks: tuple[int, int], generator: torch.Generator
) -> Callable[[], RowBatches]:
    """Return a function that draws an epoch of this rank; `ranks` as for `Epochs.draw`."""

    def draw() -> RowBatches:
        share: Share = ray.get(epochs.draw.remote(blocks, ranks, generator.get_state().numpy()))
        generator.set_state(torch.from_numpy(share.state.copy()))
        view1, view2 = (ColumnBlocks((_gathered(share.rows, blocks, v),)) for v in share.views)
        return RowBatches((view1, view2), share.sizes, torch.device("cpu"))

    return draw


def _gathered(rows: Array, blocks: Blocks, pieces: list[Ref]) -> torch.Tensor:
    """Put the pieces of every block of rows where they belong, one after the other."""
    out = np.empty((len(rows), blocks.shape[1]), np.float32)
    for cut, piece in zip(pairwise(blocks.layout.rows), pieces, strict=True):
        out[_is_inside(rows, cut)] = ray.get(piece)
    return torch.from_numpy(out)


def _is_inside(rows: Array, cut: tuple[int, int]) -> Array:
    return np.asarray((rows >= cut[0]) & (rows < cut[1]))


_picked = ray.remote(max_retries=-1)(picked)
