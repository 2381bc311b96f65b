"""P^k X̃ of row batches, some columns at a time: in memory, or in files in the order of batches.

Those without dropout, which epochs and embeddings share, are made once while one of them uses it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from dgb.arrays import row_parts
from dgb.recipe import DIFF
from dgb.terminal import progress_bar
from dgb.views.diffusion import GraphOperator, diff_of
from dgb.views.features import ColumnBlocks, Store, fill
from dgb.views.inputs import Inputs
from dgb.views.product import walk
from dgb.views.sparse import Tick
from dgb.views.view import Rows, View


def clean_hops(inputs: Inputs, operator: str, hops: Sequence[int]) -> ColumnBlocks:
    """Return P^k X of several hops k side by side, those made before if they are still in use.

    Where views lie in files, they are written to those of view 1: they are gone with its next
    epoch, and are made again.
    """
    store = inputs.store or Store()
    if store.folder is not None:
        blocks = HopBlocks(store, "view1", inputs.shape, inputs.x.device, hops)
        _fill_clean(blocks.features, inputs)
        blocks.propagate(inputs.operators[operator])
        return blocks.all
    found = inputs.clean.get((operator, *hops))
    if found is None:
        width = store.width(inputs.shape[0])
        features = list(_features(inputs, store).blocks)
        found = walk_hops(features, inputs.operators[operator], hops, width)
        inputs.clean[operator, *hops] = found
    return found


def clean_views(
    inputs: Inputs, operator: str, hops: Sequence[int], width: int
) -> Iterator[tuple[slice, View | Rows]]:
    """Yield the view without dropout, all rows at once or, of row batches, some at a time.

    `width` is that of the rows of H that come of it.
    """
    if inputs.store is None:
        view = View(inputs.x, inputs.operators[operator])
        yield slice(None), view.in_order("auto", width, hops)
        return
    blocks = clean_hops(inputs, operator, hops)
    num_nodes, num_features = inputs.shape
    # By what is wider: the rows of P^k X, or those of H.
    for rows in row_parts(num_nodes, max(width, num_features * len(hops))):
        yield rows, Rows(blocks.rows(rows.start, rows.stop).to(inputs.device))


@contextmanager
def hold_hops(inputs: Inputs, operator: str, hops: Sequence[int]) -> Iterator[None]:
    """Keep P^k X of row batches in use, so that what needs it several times makes it once."""
    is_kept = inputs.store is not None and inputs.store.folder is None
    held = clean_hops(inputs, operator, hops) if is_kept else None
    yield
    del held  # it lived until here


def write_features(inputs: Inputs, out: Tensor) -> None:
    """Write X to a matrix that may lie in a file."""
    blocks = (inputs.store or Store()).make_blocks("view1", inputs.shape, inputs.x.device)
    _fill_clean(blocks, inputs)
    for rows in row_parts(*out.shape):
        out[rows] = blocks.rows(rows.start, rows.stop)


def _fill_clean(blocks: ColumnBlocks, inputs: Inputs) -> None:
    fill(blocks, inputs.x, inputs.row_scale, (), torch.Generator(inputs.x.device))


def _features(inputs: Inputs, store: Store) -> ColumnBlocks:
    """Return X where it lies, a copy where it is sparse or scaled."""
    x = inputs.x
    if isinstance(x, Tensor) and x.dtype == torch.float32 and inputs.row_scale is None:
        return ColumnBlocks((x,))
    blocks = store.make_blocks("clean", inputs.shape, x.device)
    _fill_clean(blocks, inputs)
    return blocks


def walk_hops(
    features: list[Tensor], operator: GraphOperator, hops: Sequence[int], width: int
) -> ColumnBlocks:
    """Return P^k X̃ in blocks of so many columns; those of no hop are the features themselves.

    The list is emptied on the way: features that are no hop of their own make room for the others.
    """
    parts: dict[int, list[Tensor]] = {hop: [] for hop in hops}
    with _bar(operator, hops, sum(-(-block.shape[1] // width) for block in features)) as bar:
        while features:
            block = features.pop(0)
            if 0 in parts:
                parts[0].append(block)
            for columns in torch.split(block, width, dim=1):
                others = [hop for hop in hops if hop]
                for hop, walked in _walk(columns.contiguous(), operator, others, bar.update):
                    parts[hop].append(walked)
    return ColumnBlocks(tuple(block for hop in hops for block in parts[hop]))


def _walk(
    columns: Tensor, operator: GraphOperator, hops: Sequence[int], tick: Tick
) -> Iterator[tuple[int, Tensor]]:
    def diffuse(columns: Tensor) -> Tensor:
        return diff_of(operator).multiply(columns, tick)

    return walk(columns, hops, lambda columns: operator.multiply(columns, tick), diffuse)


def _bar(operator: GraphOperator, hops: Sequence[int], count: int) -> Any:
    """Return a bar of the passes over the edges that so many blocks of columns take."""
    passes = operator.hops * max(hops) + (diff_of(operator).hops if DIFF in hops else 0)
    return progress_bar(None, "propagate", unit="hop", total=passes * count, delay=2)


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
        with _bar(operator, self.hops, len(self.features.blocks)) as bar:
            for number, columns in enumerate(self.features.blocks):
                # The last of them is written where X̃ is, which is not needed any more by then.
                for hop, walked in _walk(columns, operator, self.hops, bar.update):
                    place = self.parts[self.hops.index(hop)].blocks[number]
                    _write_rows(place, walked, order)


def _write_rows(place: Tensor, columns: Tensor, order: Tensor | None) -> None:
    if order is not None and columns is not place:  # without a copy in between
        torch.index_select(columns, 0, order.to(columns.device), out=place)
    elif order is not None:
        place.copy_(columns.index_select(0, order.to(columns.device)))
    elif columns is not place:
        place.copy_(columns)
