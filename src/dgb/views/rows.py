"""Row batches of P X̃: exact, because a row of P X̃ W needs no other row.

An epoch propagates each view once, some columns at a time, in memory or in mapped files, and
leaves its rows in the order of the batches, so that a batch is a slice.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from dgb.views.augment import keep_absent
from dgb.views.features import ColumnBlocks
from dgb.views.view import Rows

ROUNDS = 4  # of matching nodes in pairs: few nodes find a partner after them
Pairs = list[Tensor]  # by batch: pairs of its rows, [2, count]


@dataclass(frozen=True, eq=False)
class OrderedRows:
    """Rows of a matrix in another order, taken when they are asked for."""

    blocks: ColumnBlocks
    order: Tensor  # row i is row `order[i]` of the blocks

    def rows(self, start: int, stop: int) -> Tensor:
        """Return some rows with all their columns."""
        index = self.order[start:stop].to(self.blocks.blocks[0].device)
        return torch.cat([block.index_select(0, index) for block in self.blocks.blocks], dim=1)


RowsOf = ColumnBlocks | OrderedRows  # what gives some of its rows at a time


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


def draw_absent_within(
    hidden: Pairs, order: Tensor, sizes: Sequence[int], edges: Tensor, generator: torch.Generator
) -> Tensor:
    """Return random pairs of nodes [2, m] that are in a batch together, and are not edges.

    For each batch as many are drawn as it has hidden edges: of pairs that are drawn in the whole
    graph, hardly one would have both ends in one of many batches.
    """
    counts = torch.tensor([pairs.shape[1] for pairs in hidden])
    batch = torch.arange(len(sizes)).repeat_interleave(counts)
    starts, lengths = (torch.tensor(list(of)) for of in (accumulate(sizes, initial=0), sizes))
    shares = torch.rand(2, len(batch), generator=generator, device=generator.device)
    rows = starts[batch] + (shares.cpu().double() * lengths[batch]).long()
    return keep_absent(order[rows.to(order.device)].to(edges.device), edges, len(order))


def _places(order: Tensor) -> Tensor:
    return torch.empty_like(order).scatter_(0, order, torch.arange(len(order)).to(order))
