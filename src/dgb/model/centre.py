"""Blocks of a vector without their means, which an encoder keeps of its training graph.

What all nodes share tells none of them from another, and would take up most of a block's length.
"""

from typing import Any

import torch
from torch import Tensor

from dgb.arrays import row_parts
from dgb.errors import DGBError

ROUNDING = 1e-5  # of a row's length: less than that is no difference from the mean


def mean_name(block: str) -> str:
    """Return what an encoder keeps the mean of a block as."""
    return f"mean_{block}"


def centre_block(encoder: Any, name: str, block: Tensor, *, is_own: bool) -> Tensor:
    """Take the mean away from a block in place: its own, or the one that is kept; return it."""
    mean = find_mean(sum_columns(block)) if is_own else read_mean(encoder, name, block.shape[1])
    for rows in row_parts(*block.shape):
        block[rows] = take_mean(block[rows], mean)
    return mean


def sum_columns(block: Tensor) -> Tensor:
    """Return the sum of every column and the number of rows that are not zero, in float64."""
    total = torch.zeros(block.shape[1] + 1, dtype=torch.float64)
    for rows in row_parts(*block.shape):
        total[:-1] += block[rows].sum(dim=0, dtype=torch.float64).cpu()
        total[-1] += block[rows].any(dim=1).sum().cpu()
    return total


def find_mean(sums: Tensor) -> Tensor:
    """Return the mean of rows that are not zero, given what `sum_columns` returns of all of them.

    As rows of zeros stay so, the mean of all rows is zero once it is taken away.
    """
    return (sums[:-1] / sums[-1].clamp_min(1)).float()


def read_mean(encoder: Any, block: str, width: int) -> Tensor:
    """Return the mean of a block that an encoder keeps of its training graph."""
    mean: Tensor | None = getattr(encoder, mean_name(block), None)
    # Of diffused features, the first columns are the same however many there are.
    if mean is None or len(mean) < width or (len(mean) > width and block != "diffused"):
        held = "none" if mean is None else f"one of {len(mean)}"
        raise DGBError(
            f"a mean of {width} columns of the block {block} is asked for, and the model has "
            f"{held}; train with embed.centre=true and blocks as they are wanted, or set "
            "embed.centre=false"
        )
    return mean[:width]


def take_mean(rows: Tensor, mean: Tensor) -> Tensor:
    """Return rows without a mean; a row of zeros stays one, which is then at the mean."""
    left, length = rows - mean.to(rows.device), rows.norm(dim=1)
    # Where all rows are alike, rounding is left, and no scale may blow it up.
    is_there = (length > 0) & (left.norm(dim=1) > ROUNDING * length)
    return torch.where(is_there[:, None], left, 0.0)
