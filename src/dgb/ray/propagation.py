"""Propagation as tasks over blocks: the same sums as on one machine, wherever the blocks lie."""

import warnings
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

import ray
from dgb.arrays import Array
from dgb.ray.blocks import BlockOperator, Csr, GraphBlocks, Layout, Ref, run_tasks, to_matrix
from dgb.views.augment import AUGMENTATIONS, NODES, VALUES, Features, augment
from dgb.views.diffusion import chebyshev_sum
from dgb.views.product import walk
from dgb.views.sparse import SparseMatrix

Drops = Sequence[tuple[str, float]]  # augmentations by name and drop rate
AT_ONCE = 2**22  # numbers that are drawn at a time only to be left out
# What Ray hands to a task cannot be written to, and no task writes to what it is given.
warnings.filterwarnings("ignore", message="The given NumPy array is not writable")


def propagate_blocks(
    layout: Layout, operator: BlockOperator, columns: list[list[Ref]], hops: Sequence[int] = (1,)
) -> list[list[Ref]]:
    """Return P^k X for rising k side by side, and S X for DIFF, in blocks of columns as X is.

    Each is given and returned as its blocks of rows.
    """

    def multiply(by: BlockOperator | None, blocks: list[list[Ref]]) -> list[list[Ref]]:
        assert by is not None, "encoder.diff says so when operators are made"
        return [_multiply(by, part, layout.on(i)) for i, part in enumerate(blocks)]

    walked = walk(columns, hops, partial(multiply, operator), partial(multiply, operator.diff))
    return [block for _, blocks in walked for block in blocks]


def make_features(
    blocks: GraphBlocks, drops: Drops = (), generator: torch.Generator | None = None
) -> list[list[Ref]]:
    """Return X̃ as blocks of columns, each a list of blocks of rows, with masks newly drawn.

    The generator ends where it would end after X in one piece. A task gets the generator's state
    before its rows, and draws their masks itself: no mask travels, and none differs.
    """
    cuts = blocks.layout.columns
    states = _states(blocks, drops, generator) if generator else [[] for _ in blocks.x]
    calls = ((x, drops, own, cuts) for x, own in zip(blocks.x, states, strict=True))
    return run_tasks(_augmented, len(cuts) - 1, blocks.layout, calls)


def _states(blocks: GraphBlocks, drops: Drops, generator: torch.Generator) -> list[list[Array]]:
    """Return the generator's states before every block of rows, by block and augmentation."""
    states: list[list[Array]] = [[] for _ in blocks.x]
    rows = np.diff(blocks.layout.rows).tolist()
    for name, _ in drops:
        counts = {VALUES: blocks.sizes, NODES: rows}[AUGMENTATIONS[name].draws]
        for own, size in zip(states, counts, strict=True):
            own.append(generator.get_state().numpy())
            for start in range(0, size, AT_ONCE):
                torch.rand(min(AT_ONCE, size - start), generator=generator)
    return states


def augment_rows(block: Csr | Array, drops: Drops, states: list[Array], cuts: Sequence[int]) -> Any:
    """Return some rows of X̃, cut by columns."""
    x, generator = read_block(block), torch.Generator()
    for drop, state in zip(drops, states, strict=True):
        generator.set_state(torch.from_numpy(state.copy()))
        x = augment(x, [drop], generator)
    dense = x.dense() if isinstance(x, SparseMatrix) else x
    parts = [dense[:, i:j].contiguous().numpy() for i, j in pairwise(cuts)]
    return parts if len(parts) > 1 else parts[0]


def read_block(block: Csr | Array) -> Features:
    """Return some rows as views take them."""
    return to_matrix(block) if isinstance(block, Csr) else torch.from_numpy(block)


def _multiply(operator: BlockOperator, x: list[Ref], here: dict[str, Any]) -> list[Ref]:
    def start(blocks: list[Ref], coefficient: float) -> list[Ref]:
        return [_scaled.options(**here).remote(block, coefficient) for block in blocks]

    def add_term(
        before: list[Ref] | None, now: list[Ref], out: list[Ref], coefficient: float
    ) -> tuple[list[Ref], list[Ref]]:
        task = _step.options(num_returns=2, **here)
        made = [
            task.remote(row, before and before[i], out[i], coefficient, *(now[j] for j in touched))
            for i, (row, touched) in enumerate(zip(operator.rows, operator.touched, strict=True))
        ]
        terms, sums = zip(*made, strict=True)
        return list(terms), list(sums)

    if operator.coefficients is None:
        rows = zip(operator.rows, operator.touched, x, strict=True)
        return [
            _product.options(**here).remote(row, own, *(x[j] for j in touched))
            for row, touched, own in rows
        ]
    if operator.scale is None:
        return chebyshev_sum(operator.coefficients, x, start, add_term)
    pairs = zip(x, operator.scale, strict=True)
    x = [_scaled.options(**here).remote(block, scale, inverse=True) for block, scale in pairs]
    out = chebyshev_sum(operator.coefficients, x, start, add_term)
    pairs = zip(out, operator.scale, strict=True)
    return [_scaled.options(**here).remote(block, scale) for block, scale in pairs]


def scale_block(block: Array, factor: Any, *, inverse: bool = False) -> Array:
    """Return a block times, or divided by, a number or a column of numbers."""
    factor = np.asarray(factor, block.dtype)
    return np.asarray(block / factor if inverse else block * factor)


def multiply_rows(row: list[Csr], like: Array, *now: Array) -> Array:
    """Return some rows of T now; `like` has their shape."""
    return _product_of(row, like, now).numpy()


def add_term(
    row: list[Csr], before: Array | None, total: Array, coefficient: float, *now: Array
) -> tuple[Array, Array]:
    """Return some rows of the next Chebyshev term, 2 T now − before or at first T now; and add."""
    term = _product_of(row, total, now)
    if before is not None:
        term.mul_(2).sub_(torch.from_numpy(before))
    return term.numpy(), torch.from_numpy(total).add(term, alpha=coefficient).numpy()


def _product_of(row: list[Csr], like: Array, now: Sequence[Array]) -> Tensor:
    out = torch.zeros(like.shape)
    for part, block in zip(row, now, strict=True):
        torch.addmm(out, to_matrix(part).csr, torch.from_numpy(block), out=out)
    return out


_task = ray.remote(max_retries=-1)
_augmented, _scaled, _product, _step = map(
    _task, (augment_rows, scale_block, multiply_rows, add_term)
)
