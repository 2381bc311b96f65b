"""Blocks of a vector, each centred and brought to one scale, by what the encoder keeps of them.

What all nodes share tells none of them from another, and would take up most of a block's length:
its mean is taken away. What new nodes need of the training graph stays in the model.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.linalg import vector_norm

from dgb.arrays import row_parts
from dgb.data.structure import position_features
from dgb.errors import DGBError, too_large
from dgb.model.layers import l2_normalise
from dgb.recipe import BLOCKS, Embed
from dgb.views.inputs import Inputs

FEATURES = "features"  # X itself, next to the others
ALL = (*BLOCKS, FEATURES)
FIXED = ("diffused", "structure")  # whatever is learnt
# What an encoder keeps of its training graph, next to means: of X, of H, of all blocks.
DIRECTIONS, AXES, LENGTHS = "directions", "axes", "lengths"
SHORTEST = 1e-12
ROUNDING = 1e-5  # of a row's length: less than that is no difference from the mean


def find_directions(encoder: Any, inputs: Inputs, count: int) -> Tensor:
    """Return the directions of diffused features: of the training graph, whatever is embedded."""
    kept = inputs.directions if inputs.is_own else getattr(encoder, DIRECTIONS, None)
    if kept is None or kept.shape[1] < count:
        held = "none" if kept is None else kept.shape[1]
        raise DGBError(
            f"{count} directions of diffused features are asked for, and the model has {held}; "
            "train with embed.blocks and embed.diffused_columns as they are wanted"
        )
    directions: Tensor = kept[:, :count]
    return directions


def column_products(rows: Tensor) -> Tensor:
    """Return the products of all pairs of columns of H, of which those of other rows are added.

    One more column tells rows that are not zero: its products are the sums of the others.
    """
    counted = torch.cat([rows.double(), rows.any(dim=1, keepdim=True)], dim=1)
    return counted.T @ counted


def main_axes(products: Tensor, count: int, *, is_centred: bool) -> Tensor:
    """Return the directions [width, count] in which rows, less their mean, are longest."""
    sums, inner = products[-1].cpu(), products[:-1, :-1].cpu()
    if is_centred:
        inner = inner - torch.outer(sums[:-1], sums[:-1]) / sums[-1].clamp_min(1)
    vectors: Tensor = torch.linalg.eigh(inner).eigenvectors
    # As it comes back from a file: the order in memory decides how a product is rounded.
    return vectors[:, -count:].flip(1).float().contiguous().to(products.device)


def make_structure(inputs: Inputs, recipe: Embed) -> Tensor:
    """Return where every node is in its graph, by ids and edges: rows of length one.

    A node without an edge is nowhere, a row of zeros.
    """
    assert inputs.node_ids is not None, "`make_inputs` says what nodes are called"
    columns = recipe.structure_columns
    rows = position_features(inputs.adjacency, inputs.node_ids, "walk", columns)
    rows[np.diff(inputs.adjacency.indptr) == 0] = 0
    return torch.from_numpy(rows)


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
    if not sums.isfinite().all():
        raise too_large("the numbers of a block are")
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
    left = rows - mean.to(rows.device)
    # In float64: where squares are beyond float32, a row would be taken for one of the mean.
    length, rest = (vector_norm(part, dim=1, dtype=torch.float64) for part in (rows, left))
    # Where all rows are alike, rounding is left, and no scale may blow it up.
    is_there = (length > 0) & (rest > ROUNDING * length)
    return torch.where(is_there[:, None], left, 0.0)


def split_blocks(z: Tensor, widths: dict[str, int]) -> dict[str, Tensor]:
    """Return the columns of every block, which are those of z itself."""
    return dict(zip(widths, torch.split(z, list(widths.values()), dim=1), strict=True))


@dataclass(frozen=True)
class Scales:
    """How blocks are brought to one scale: rows of length one or as they are, times a factor."""

    widths: dict[str, int]  # of the blocks
    has_unit_rows: bool
    factors: tuple[float, ...]

    @property
    def is_identity(self) -> bool:
        """Tell whether blocks stay as they are."""
        return not self.has_unit_rows and set(self.factors) == {1.0}

    def apply(self, rows: Tensor) -> Tensor:
        """Return rows with their blocks scaled; a row of zeros stays one."""
        parts: Iterable[Tensor] = split_blocks(rows, self.widths).values()
        parts = map(_unit_rows, parts) if self.has_unit_rows else parts
        scaled = (part * factor for part, factor in zip(parts, self.factors, strict=True))
        vectors = torch.cat(list(scaled), dim=1)
        if not vectors.isfinite().all():
            raise too_large("vectors are")
        return vectors


def _unit_rows(part: Tensor) -> Tensor:
    if not part.norm(dim=1).isfinite().all():  # by which a row would become one of zeros
        raise too_large("the rows of a block are")
    return l2_normalise(part)


def choose_scales(encoder: Any, recipe: Embed, kept: Tensor | None) -> Scales:
    """Return the scales of blocks, by their lengths in the training graph where it is by these."""
    widths = recipe.widths(encoder.width, encoder.num_features)
    factors = [recipe.weights[name] for name in widths]
    if recipe.normalise == "block":
        lengths = [0.0 if kept is None else float(kept[ALL.index(name)]) for name in widths]
        if not all(lengths):
            raise DGBError(
                "the model does not know how long the rows of its blocks are; train with "
                "embed.normalise=block, these embed.blocks and embed.centre as it is wanted"
            )
        factors = [factor / length for factor, length in zip(factors, lengths, strict=True)]
    # embed.features has always meant rows of length one, also where nothing is said of blocks.
    is_usual = recipe.features and recipe.normalise == "none"
    return Scales(widths, recipe.normalise == "rows" or is_usual, tuple(factors))


def sum_squares(z: Tensor, widths: dict[str, int]) -> Tensor:
    """Return the sum of the squares of every block, 0 of those that z lacks."""
    total = torch.zeros(len(ALL), dtype=torch.float64)
    for rows in row_parts(*z.shape):
        for name, part in split_blocks(z[rows], widths).items():
            total[ALL.index(name)] += part.double().square().sum().cpu()
    return total


def find_lengths(squares: Tensor, num_rows: int, widths: dict[str, int]) -> Tensor:
    """Return the root mean square of the row lengths of every block, 0 of those left out."""
    if not squares.isfinite().all():
        raise too_large("the numbers of a block are")
    lengths = (squares / num_rows).sqrt().clamp_min(SHORTEST)
    return lengths * torch.tensor([name in widths for name in ALL])


def read_lengths(encoder: Any, recipe: Embed) -> Tensor | None:
    """Return the lengths that an encoder keeps, if its blocks were centred as they are wanted."""
    was_centred = any(hasattr(encoder, mean_name(block)) for block in ALL)
    return getattr(encoder, LENGTHS, None) if was_centred == recipe.centre else None


def keep(encoder: nn.Module, name: str, values: Tensor) -> None:
    """Let an encoder keep directions, means or lengths, in its own file and on its device."""
    encoder.register_buffer(name, values.to(next(encoder.parameters()).device, torch.float32))


def check_kept(encoder: Any, tensors: dict[str, Tensor]) -> None:
    """Make room for what tensors of a file keep; raise a ValueError where that cannot be."""
    rows = {DIRECTIONS: encoder.num_features, AXES: encoder.width, LENGTHS: len(ALL)}
    for name in (*rows, *map(mean_name, ALL)):
        if (kept := tensors.get(name)) is None:
            continue
        is_matrix = name in (DIRECTIONS, AXES)
        if kept.ndim != 1 + is_matrix or len(kept) != rows.get(name, len(kept)):
            raise ValueError(f"{name} of another encoder")
        keep(encoder, name, kept)
