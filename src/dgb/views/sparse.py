"""A sparse matrix in CSR that multiplies blocks of columns, and so does its transpose."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

Tick = Callable[[], object]  # is called after each hop, for a bar
NO_CSR = ("mps",)  # devices for which torch has no CSR product
HAS_MKL: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]


def idle() -> None:
    """Do nothing after a hop."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where the non-zeros of a CSR matrix are."""

    crow: Tensor
    col: Tensor
    shape: tuple[int, int]

    @cached_property
    def row(self) -> Tensor:
        """Row of every non-zero."""
        count = (self.crow[1:] - self.crow[:-1]).long()
        return torch.repeat_interleave(torch.arange(self.shape[0], device=count.device), count)

    def csr(self, values: Tensor) -> Tensor:
        """Return torch's CSR tensor with these values."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
            return torch.sparse_csr_tensor(
                self.crow, self.col, values, size=self.shape, check_invariants=False
            )

    @property
    def has_values(self) -> Tensor:
        """Whether each row has a non-zero."""
        return self.crow[1:] > self.crow[:-1]

    def select(self, kept: Tensor, count_before: Tensor) -> "Pattern":
        """Return the pattern with the non-zeros at the places `kept` alone."""
        crow = count_before.index_select(0, self.crow)
        return Pattern(crow, self.col.index_select(0, kept), self.shape)

    def to(self, device: torch.device) -> "Pattern":
        """Return the pattern on another device."""
        return Pattern(self.crow.to(device), self.col.to(device), self.shape)


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


def count_before(keep: Tensor) -> Tensor:
    """Return how many are kept before each place, and in all."""
    return nn.functional.pad(keep.cumsum(0, dtype=torch.int32), (1, 0))


def csr_product(csr: Tensor, dense: Tensor) -> Tensor:
    """Multiply torch's CSR tensor with a block of columns."""
    # Written into fresh memory: csr @ dense would first fill it with zeros and then copy it. But
    # kernels other than MKL's multiply what lies there by beta, and zero times NaN is NaN.
    shape = (csr.shape[0], dense.shape[1])
    out = dense.new_empty(shape) if HAS_MKL else dense.new_zeros(shape)
    return torch.addmm(out, csr, dense, beta=0, out=out)


def lacks_csr(dense: Tensor) -> bool:
    """Tell whether the block lies on a device for which torch has no CSR product."""
    return dense.device.type in NO_CSR


def scatter_product(pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    """Multiply by gathering and adding rows: for devices without a CSR product."""
    out = dense.new_zeros(pattern.shape[0], dense.shape[1])
    return out.index_add_(0, pattern.row, values[:, None] * dense[pattern.col.long()])
