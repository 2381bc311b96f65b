"""A tall matrix as blocks of columns, in memory or in files that are mapped into it.

A hop over the edges takes all rows of a few columns, a step of training all columns of a few rows.
Blocks of columns serve both in the order they lie in, so that a disk is read from end to end.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from dgb.data.mapped import new_mapped

LEAST = 32  # columns: with fewer a hop spends its time on the edges' places, not on the numbers
BLOCK = 2**26  # numbers of a block where nothing is said: 256 MB


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
        for first, block in self.placed():
            block[start : start + len(rows)] = rows[:, first : first + block.shape[1]]

    def placed(self) -> Iterator[tuple[int, Tensor]]:
        """Yield the blocks, each with the number of its first column."""
        first = 0
        for block in self.blocks:
            yield first, block
            first += block.shape[1]


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
