"""Row batches of P X̃: exact, because a row of P X̃ W needs no other row.

An epoch propagates each view once, some columns at a time, in memory or in mapped files, and
leaves its rows in the order of the batches, so that a batch is a slice.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from dgb.files.atomic import new_mapped
from dgb.recipe import DIFF
from dgb.terminal import progress_bar
from dgb.views.augment import Features, augment, scale_rows
from dgb.views.diffusion import LEAST, GraphOperator, diff_of
from dgb.views.sparse import SparseMatrix
from dgb.views.view import Rows

BLOCK = 2**26  # numbers of a block where nothing is said: 256 MB
AT_ONCE = 2**22  # numbers of dense features that are augmented at a time
ROUNDS = 4  # of matching nodes in pairs: few nodes find a partner after them


Pairs = list[Tensor]  # by batch: pairs of its rows, [2, count]


@dataclass(frozen=True, eq=False)
class ColumnBlocks:
    """A matrix [num_nodes, num_features] in parts of some columns each."""

    blocks: tuple[Tensor, ...]  # each [num_nodes, columns]

    def rows(self, start: int, stop: int) -> Tensor:
        """Return some rows with all their columns."""
        if len(self.blocks) == 1:
            return self.blocks[0][start:stop]
        return torch.cat([block[start:stop] for block in self.blocks], dim=1)

    def write(self, start: int, rows: Tensor) -> None:
        """Write all columns of some rows."""
        for first, block in self.numbered():
            block[start : start + len(rows)] = rows[:, first : first + block.shape[1]]

    def numbered(self) -> Iterator[tuple[int, Tensor]]:
        """Return the blocks, each with the number of its first column."""
        firsts = accumulate((block.shape[1] for block in self.blocks), initial=0)
        return zip(firsts, self.blocks, strict=False)


@dataclass(frozen=True)
class Store:
    """How many columns lie together, and in which folder; without one they are in memory."""

    columns: int = 0  # 0: by the number of nodes
    folder: Path | None = None

    def width(self, num_nodes: int) -> int:
        """Return the columns of a block."""
        return self.columns or max(LEAST, BLOCK // num_nodes // LEAST * LEAST)

    def make_blocks(self, name: str, shape: tuple[int, int], device: torch.device) -> ColumnBlocks:
        """Return blocks for a matrix of this shape that hold no numbers yet."""
        num_nodes, num_features = shape
        width = self.width(num_nodes)
        sizes = [min(width, num_features - i) for i in range(0, num_features, width)]
        if self.folder is None:
            return ColumnBlocks(tuple(torch.empty(num_nodes, w, device=device) for w in sizes))
        parts = (self.make_array(f"{name}-{i}", (num_nodes, w)) for i, w in enumerate(sizes))
        return ColumnBlocks(tuple(map(torch.from_numpy, parts)))

    def make_array(self, name: str, shape: tuple[int, int]) -> np.ndarray:
        """Return an array of float32, in a file of this name where there is a folder."""
        if self.folder is None:
            return np.empty(shape, np.float32)
        self.folder.mkdir(parents=True, exist_ok=True)
        return new_mapped(self.folder / f"{name}.npy", np.float32, shape)


class HopBlocks:
    """P^k X̃ of several hops k side by side, and S X̃, in blocks of columns, made of X̃ in place."""

    def __init__(
        self,
        store: Store,
        name: str,
        shape: tuple[int, int],
        device: torch.device,
        hops: Sequence[int],
    ) -> None:
        """Make room; `hops` rise, and DIFF comes last."""
        self.hops = hops
        self.parts = [
            store.make_blocks(f"{name}-hop{hop}" if len(hops) > 1 else name, shape, device)
            for hop in hops
        ]
        self.all = ColumnBlocks(tuple(block for part in self.parts for block in part.blocks))

    @property
    def features(self) -> ColumnBlocks:
        """Where X̃ is written before it is propagated, in the place of the last block."""
        return self.parts[-1]

    def propagate(self, operator: GraphOperator, order: Tensor | None = None) -> None:
        """Replace X̃ by P^k X̃, block by block; row i of the result is row `order[i]`."""
        last, diff = max(self.hops), diff_of(operator) if DIFF in self.hops else None
        total = operator.hops * last + (diff.hops if diff else 0)
        total *= len(self.features.blocks)
        with progress_bar(None, "propagate", unit="hop", total=total, delay=2) as bar:
            for number, columns in enumerate(self.features.blocks):
                for hop in range(last + 1):
                    columns = operator.multiply(columns, bar.update) if hop else columns
                    if hop in self.hops:
                        place = self.parts[self.hops.index(hop)].blocks[number]
                        _write_rows(place, columns, order)
                if diff:
                    place = self.features.blocks[number]  # where X̃ still is
                    _write_rows(place, diff.multiply(place, bar.update), order)


def _write_rows(place: Tensor, columns: Tensor, order: Tensor | None) -> None:
    if order is not None and columns is not place:  # without a copy in between
        torch.index_select(columns, 0, order.to(columns.device), out=place)
    elif order is not None:
        place.copy_(columns.index_select(0, order.to(columns.device)))
    elif columns is not place:
        place.copy_(columns)


class RowsOf(Protocol):
    """A matrix whose rows are taken some at a time."""

    def rows(self, start: int, stop: int) -> Tensor:
        """Return some rows with all their columns."""


@dataclass(frozen=True, eq=False)
class RowBatches:
    """The batches of an epoch: P X̃ of both views, each with its rows in the epoch's order."""

    views: tuple[RowsOf, RowsOf]
    sizes: Sequence[int]  # rows of each batch
    device: torch.device
    pairs: tuple[tuple[Pairs | None, ...], ...] = ((), ())  # hidden, absent, held of each view

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self.sizes)

    def __iter__(self) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows of both views, batch by batch."""
        for number, (start, stop) in enumerate(pairwise(accumulate(self.sizes, initial=0))):
            first, second = (
                Rows(
                    view.rows(start, stop).to(self.device), *(p[number] if p else None for p in own)
                )
                for view, own in zip(self.views, self.pairs, strict=True)
            )
            yield first, second


def batch_sizes(num_nodes: int, batch_size: int) -> list[int]:
    """Return almost equal sizes of batches: BatchNorm needs more than one row in each."""
    if not 0 < batch_size < num_nodes:
        return [num_nodes]
    count = min(math.ceil(num_nodes / batch_size), num_nodes // 2)
    return [num_nodes // count + (i < num_nodes % count) for i in range(count)]


def keep_together(order: Tensor, pairs: Tensor, generator: torch.Generator) -> Tensor:
    """Return a random order of nodes in which the ends of many of the pairs [2, m] are neighbors.

    Each node has at most one such neighbor: hubs, the ends of most edges, are asked for no more
    often than other nodes.
    """
    nodes = torch.arange(len(order)).to(order)
    partner, pairs = nodes.clone(), pairs.to(order.device)
    for _ in range(ROUNDS):
        is_free = (partner[pairs] == pairs).all(dim=0)
        pairs = pairs[:, is_free]
        turn = torch.randperm(pairs.shape[1], generator=generator, device=generator.device)
        first = torch.full_like(nodes, pairs.shape[1])
        first.scatter_reduce_(0, pairs.reshape(-1), turn.repeat(2), "amin")
        matched = pairs[:, (first[pairs] == turn).all(dim=0)]
        partner[matched] = matched.flip(0)
    group = torch.minimum(nodes, partner)
    return (_places(order)[group] * 2 + (nodes != group)).argsort()


def pairs_within(pairs: Tensor | None, order: Tensor, sizes: Sequence[int]) -> Pairs | None:
    """Return, of node pairs [2, m], those with both ends in a batch, as rows of that batch.

    Further rows of `pairs` stay with them.
    """
    if pairs is None:
        return None
    ends = _places(order)[pairs[:2].to(order.device)].contiguous()
    starts = torch.tensor([0, *accumulate(sizes)]).to(order)
    batch = torch.bucketize(ends, starts, right=True) - 1
    inside = batch[0] == batch[1]
    ends, batch = ends[:, inside], batch[0, inside]
    by_batch = batch.argsort(stable=True)
    counts = batch.bincount(minlength=len(sizes)).tolist()
    rows = torch.cat([ends - starts[batch], pairs[2:, inside.to(pairs.device)].to(ends)])
    return list(torch.split(rows[:, by_batch], counts, dim=1))


def _places(order: Tensor) -> Tensor:
    return torch.empty_like(order).scatter_(0, order, torch.arange(len(order)).to(order))


def fill(
    blocks: ColumnBlocks,
    x: Features,
    scale: Tensor | None,
    drops: Sequence[tuple[str, float]],
    generator: torch.Generator,
) -> None:
    """Write X̃ into blocks; `scale` [num_nodes] is what rows of X are multiplied by before.

    Numbers are drawn row by row, as for X in one piece, so that neither the size of a block nor
    of what is augmented at a time changes a mask.
    """
    if isinstance(x, SparseMatrix):
        scaled = x if scale is None else scale_rows(x, scale[:, None])
        augmented = augment(scaled, drops, generator)
        assert isinstance(augmented, SparseMatrix)
        for first, block in blocks.numbered():
            augmented.write_columns(first, block)
        return
    step = max(1, AT_ONCE // x.shape[1])
    for turn, drop in enumerate(drops or [None]):
        for start in range(0, x.shape[0], step):
            stop = min(start + step, x.shape[0])
            rows = blocks.rows(start, stop) if turn else x[start:stop]
            if scale is not None and not turn:
                rows = rows * scale[start:stop, None]
            drawn = augment(rows, [drop] if drop else [], generator)
            assert isinstance(drawn, Tensor)
            blocks.write(start, drawn)
