"""The forms that features take: normalised, sparse or dense, or X̃ in blocks of some columns each.

They are normalised before any dropout, and sparse where that costs less. Blocks lie in memory or in
mapped files.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dgb.arrays import Array, row_parts
from dgb.files.atomic import new_mapped
from dgb.recipe import Data
from dgb.views.augment import Features, augment, scale_rows
from dgb.views.diffusion import LEAST
from dgb.views.sparse import SparseMatrix, sparse_matrix
from dgb.views.view import SPARSE_COST

_SMALLEST = float(np.finfo(np.float32).tiny)  # a row below it is one of zeros
BLOCK = 2**26  # numbers of a block where nothing is said: 256 MB
AT_ONCE = 2**22  # numbers of dense features that are augmented at a time


def row_factors(x: Any) -> Array:
    """Return what `row_normalise` multiplies every feature row by, float32 [num_nodes]."""
    factors = np.empty(x.shape[0], np.float32)
    for part in row_parts(*x.shape):
        total = np.asarray(abs(x[part]).astype(np.float64).sum(axis=1)).reshape(-1)
        factors[part] = 1 / np.where(total > _SMALLEST, total, 1)
    return factors


def row_normalise(x: Any) -> Any:
    """Divide every feature row by the sum of its sizes; a row of zeros stays as it is."""
    factor = row_factors(x)
    if sparse.issparse(x):
        return sparse.csr_array(sparse.dia_array((factor[None], [0]), shape=(len(factor),) * 2) @ x)
    return x * factor[:, None]


def normalise_features(x: Any, recipe: Data) -> Any:
    """Return features as the recipe wants them, dense or sparse as they came."""
    return row_normalise(x) if recipe.normalise == "row" else x


def to_features(x: Any) -> Features:
    """Return features as a sparse matrix where that is the cheaper form, else as a dense tensor."""
    size = x.shape[0] * x.shape[1]
    nonzeros = x.nnz if sparse.issparse(x) else np.count_nonzero(x)
    if nonzeros * SPARSE_COST < size:
        return sparse_matrix(x)
    return dense_features(x.toarray() if sparse.issparse(x) else x)


def dense_features(x: Array) -> Tensor:
    """Return a dense array as a tensor of the same memory."""
    with warnings.catch_warnings():  # a file that is mapped for reading: nothing writes to X
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(np.ascontiguousarray(x))


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
        for first, block in self.enumerate():
            block[start : start + len(rows)] = rows[:, first : first + block.shape[1]]

    def enumerate(self) -> Iterator[tuple[int, Tensor]]:
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
        for first, block in blocks.enumerate():
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
