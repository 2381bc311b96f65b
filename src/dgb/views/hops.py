"""P^k X̃ of row batches in memory, in the order of the nodes: batches gather their rows.

Those without dropout, which epochs and embeddings share, are made once while one of them uses it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from dgb.recipe import DIFF
from dgb.terminal import progress_bar
from dgb.views.diffusion import GraphOperator, diff_of
from dgb.views.inputs import Inputs
from dgb.views.rows import ColumnBlocks, HopBlocks, Store, fill


@dataclass(frozen=True, eq=False)
class OrderedRows:
    """Rows of a matrix in another order, taken when they are asked for."""

    blocks: ColumnBlocks
    order: Tensor  # row i is row `order[i]` of the blocks

    def rows(self, start: int, stop: int) -> Tensor:
        """Return some rows with all their columns."""
        index = self.order[start:stop].to(self.blocks.blocks[0].device)
        return torch.cat([block.index_select(0, index) for block in self.blocks.blocks], dim=1)


def clean_hops(inputs: Inputs, operator: str, hops: Sequence[int]) -> ColumnBlocks:
    """Return P^k X of several hops k side by side, those made before if they are still in use.

    Where views lie in files, they are written to those of view 1: they are gone with its next
    epoch, and are made again.
    """
    store = inputs.store or Store()
    if store.folder is not None:
        blocks = HopBlocks(store, "view1", inputs.shape, inputs.x.device, hops)
        fill_clean(blocks.features, inputs)
        blocks.propagate(inputs.operators[operator])
        return blocks.all
    found = inputs.clean.get((operator, *hops))
    if found is None:
        width = store.width(inputs.shape[0])
        features = list(_features(inputs, store).blocks)
        found = walk_hops(features, inputs.operators[operator], hops, width)
        inputs.clean[operator, *hops] = found
    return found


@contextmanager
def hold_hops(inputs: Inputs, operator: str, hops: Sequence[int]) -> Iterator[None]:
    """Keep P^k X of row batches in use, so that what needs it several times makes it once."""
    is_kept = inputs.store is not None and inputs.store.folder is None
    held = clean_hops(inputs, operator, hops) if is_kept else None
    yield
    del held  # it lived until here


def fill_clean(blocks: ColumnBlocks, inputs: Inputs) -> None:
    """Write X into blocks."""
    fill(blocks, inputs.x, inputs.row_scale, (), torch.Generator(inputs.x.device))


def _features(inputs: Inputs, store: Store) -> ColumnBlocks:
    """Return X where it lies, a copy where it is sparse or scaled."""
    x = inputs.x
    if isinstance(x, Tensor) and x.dtype == torch.float32 and inputs.row_scale is None:
        return ColumnBlocks((x,))
    blocks = store.make_blocks("clean", inputs.shape, x.device)
    fill_clean(blocks, inputs)
    return blocks


def walk_hops(
    features: list[Tensor], operator: GraphOperator, hops: Sequence[int], width: int
) -> ColumnBlocks:
    """Return P^k X̃ in blocks of so many columns; those of no hop are the features themselves.

    The list is emptied on the way: features that are no hop of their own make room for the others.
    """
    parts: dict[int, list[Tensor]] = {hop: [] for hop in hops}
    last, diff = max(hops), diff_of(operator) if DIFF in hops else None
    count = sum(len(range(0, block.shape[1], width)) for block in features)
    total = (operator.hops * last + (diff.hops if diff else 0)) * count
    with progress_bar(None, "propagate", unit="hop", total=total, delay=2) as bar:
        while features:
            block = features.pop(0)
            if 0 in parts:
                parts[0].append(block)
            for columns in torch.split(block, width, dim=1):
                walked = start = columns.contiguous()
                for hop in range(1, last + 1):
                    walked = operator.multiply(walked, bar.update)
                    if hop in parts:
                        parts[hop].append(walked)
                if diff:
                    parts[DIFF].append(diff.multiply(start, bar.update))
    return ColumnBlocks(tuple(block for hop in hops for block in parts[hop]))
