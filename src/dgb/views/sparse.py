"""A sparse matrix that multiplies blocks of columns, and so does its transpose."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dgb.views.pattern import Pattern, count_before, csr_product, lacks_csr, scatter_product

Tick = Callable[[], object]  # is called after each hop, for a bar


def idle() -> None:
    """Do nothing after a hop."""


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A sparse matrix in CSR, and the pattern of its transpose; `order` sorts values into that."""

    pattern: Pattern
    transposed: Pattern
    order: Tensor | None  # None: the matrix is symmetric
    values: Tensor
    hops = 1  # passes over the non-zeros that one product takes

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.pattern.shape

    @property
    def device(self) -> torch.device:
        """Where the matrix lies."""
        return self.values.device

    @property
    def dtype(self) -> torch.dtype:
        """Of the values."""
        return self.values.dtype

    @cached_property
    def csr(self) -> Tensor:
        """The matrix as torch's CSR tensor."""
        return self.pattern.csr(self.values)

    @cached_property
    def csr_transposed(self) -> Tensor:
        """The transpose as torch's CSR tensor."""
        return self.csr if self.order is None else self.transposed.csr(self.values[self.order])

    @property
    def multiplications(self) -> int:
        """Multiplications that one column takes."""
        return len(self.values)

    def multiply(self, dense: Tensor, tick: Tick = idle) -> Tensor:
        """Return the product with a block of columns."""
        if lacks_csr(dense):
            out = scatter_product(self.pattern, self.values, dense)
        else:
            out = csr_product(self.csr, dense)
        tick()
        return out

    def multiply_transposed(self, dense: Tensor) -> Tensor:
        """Return the product of the transpose with a block of columns."""
        if lacks_csr(dense):
            values = self.values if self.order is None else self.values[self.order]
            return scatter_product(self.transposed, values, dense)
        return csr_product(self.csr_transposed, dense)

    def with_values(self, values: Tensor) -> "SparseMatrix":
        """Return a matrix with the same non-zero places and other values."""
        return replace(self, values=values)

    def without_zeros(self) -> "SparseMatrix":
        """Return the matrix without the stored zeros that dropout leaves behind."""
        return self._select(self.values != 0)

    def with_columns(self, is_wanted: Tensor) -> "SparseMatrix":
        """Return the matrix with some of its columns alone; the others become empty."""
        return self._select(is_wanted.index_select(0, self.pattern.col))

    def _select(self, keep: Tensor) -> "SparseMatrix":
        assert self.order is not None, "a part of a symmetric matrix is not symmetric"
        kept, count = keep.nonzero()[:, 0], count_before(keep)
        keep_transposed = keep.index_select(0, self.order)
        kept_transposed = keep_transposed.nonzero()[:, 0]
        order = count.index_select(0, self.order.index_select(0, kept_transposed))
        transposed = self.transposed.select(kept_transposed, count_before(keep_transposed))
        values = self.values.index_select(0, kept)
        return SparseMatrix(self.pattern.select(kept, count), transposed, order, values)

    def dense(self) -> Tensor:
        """Return the matrix as an ordinary tensor."""
        dense = self.values.new_zeros(self.shape)
        dense[self.pattern.row, self.pattern.col.long()] = self.values
        return dense

    def write_columns(self, first: int, block: Tensor) -> None:
        """Write the columns from `first` on into an ordinary tensor, as many as it has."""
        start, stop = (int(self.transposed.crow[first + i]) for i in (0, block.shape[1]))
        row = self.transposed.col[start:stop].long()
        col = self.transposed.row[start:stop] - first
        order = slice(start, stop) if self.order is None else self.order[start:stop]
        block.zero_()
        block[row, col] = self.values[order]

    def to(self, device: torch.device) -> "SparseMatrix":
        """Return the matrix on another device."""
        order = None if self.order is None else self.order.to(device)
        pattern, transposed = self.pattern.to(device), self.transposed.to(device)
        return SparseMatrix(pattern, transposed, order, self.values.to(device))


def sparse_matrix(matrix: Any, *, is_symmetric: bool = False) -> SparseMatrix:
    """Return a scipy sparse matrix as views multiply with it; arrays may be shared."""
    matrix = sparse.csr_array(matrix)
    matrix.sort_indices()
    pattern = _pattern(matrix)
    values = torch.from_numpy(np.require(matrix.data, requirements="W"))
    if is_symmetric:
        return SparseMatrix(pattern, pattern, None, values)
    numbered = sparse.csr_array(
        (np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape
    )
    transposed = sparse.csr_array(numbered.T)
    order = torch.from_numpy(transposed.data).to(pattern.col.dtype)
    return SparseMatrix(pattern, _pattern(transposed), order, values)


def _pattern(matrix: Any) -> Pattern:
    # 32-bit places halve the traffic of a product; MKL takes them as they are.
    index = torch.int32 if max(*matrix.shape, matrix.nnz) < 2**31 else torch.int64
    # A copy only of arrays that must not be written to, of which torch would warn.
    places = (np.require(a, requirements="W") for a in (matrix.indptr, matrix.indices))
    crow, col = (torch.from_numpy(a).to(index) for a in places)
    return Pattern(crow, col, (int(matrix.shape[0]), int(matrix.shape[1])))
