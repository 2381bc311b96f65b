"""Sparse matrices that multiply blocks of columns, transposed in the backward pass."""

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

NO_CSR = ("mps",)
HAS_MKL: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]


class Operator(Protocol):
    """Anything linear over nodes: the normalised adjacency, a diffusion, sparse features."""

    def multiply(self, dense: Tensor) -> Tensor:
        """Return the product with a block of columns."""

    def multiply_transposed(self, dense: Tensor) -> Tensor:
        """Return the product of the transpose with a block of columns."""


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

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.pattern.shape

    @cached_property
    def csr(self) -> Tensor:
        """The matrix as torch's CSR tensor."""
        return self.pattern.csr(self.values)

    @cached_property
    def csr_transposed(self) -> Tensor:
        """The transpose as torch's CSR tensor."""
        return self.csr if self.order is None else self.transposed.csr(self.values[self.order])

    def multiply(self, dense: Tensor) -> Tensor:
        """Return the product with a block of columns."""
        if lacks_csr(dense):
            return scatter_product(self.pattern, self.values, dense)
        return _csr_product(self.csr, dense)

    def multiply_transposed(self, dense: Tensor) -> Tensor:
        """Return the product of the transpose with a block of columns."""
        if lacks_csr(dense):
            values = self.values if self.order is None else self.values[self.order]
            return scatter_product(self.transposed, values, dense)
        return _csr_product(self.csr_transposed, dense)

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
        kept, count = keep.nonzero()[:, 0], _count_before(keep)
        keep_transposed = keep.index_select(0, self.order)
        kept_transposed = keep_transposed.nonzero()[:, 0]
        order = count.index_select(0, self.order.index_select(0, kept_transposed))
        transposed = self.transposed.select(kept_transposed, _count_before(keep_transposed))
        values = self.values.index_select(0, kept)
        return SparseMatrix(self.pattern.select(kept, count), transposed, order, values)

    def dense(self) -> Tensor:
        """Return the matrix as an ordinary tensor."""
        dense = self.values.new_zeros(self.shape)
        dense[self.pattern.row, self.pattern.col.long()] = self.values
        return dense

    def to(self, device: torch.device) -> "SparseMatrix":
        """Return the matrix on another device."""
        order = None if self.order is None else self.order.to(device)
        pattern, transposed = self.pattern.to(device), self.transposed.to(device)
        return SparseMatrix(pattern, transposed, order, self.values.to(device))


def sparse_matrix(matrix: Any, *, is_symmetric: bool = False) -> SparseMatrix:
    """Return a scipy sparse matrix in the form that views multiply with."""
    matrix = sparse.csr_array(matrix)
    matrix.sort_indices()
    pattern = _pattern(matrix)
    values = torch.from_numpy(np.array(matrix.data))
    if is_symmetric:
        return SparseMatrix(pattern, pattern, None, values)
    numbered = sparse.csr_array(
        (np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape
    )
    transposed = sparse.csr_array(numbered.T)
    order = torch.from_numpy(np.array(transposed.data)).to(pattern.col.dtype)
    return SparseMatrix(pattern, _pattern(transposed), order, values)


def _count_before(keep: Tensor) -> Tensor:
    """Return how many are kept before each place, and in all."""
    return nn.functional.pad(keep.cumsum(0, dtype=torch.int32), (1, 0))


def _pattern(matrix: Any) -> Pattern:
    # 32-bit places halve the traffic of a product; MKL takes them as they are.
    index = torch.int32 if max(*matrix.shape, matrix.nnz) < 2**31 else torch.int64
    crow, col = (torch.from_numpy(np.array(a)).to(index) for a in (matrix.indptr, matrix.indices))
    return Pattern(crow, col, (int(matrix.shape[0]), int(matrix.shape[1])))


def _csr_product(csr: Tensor, dense: Tensor) -> Tensor:
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


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, operator: Operator, dense: Tensor) -> Tensor:
        ctx.operator = operator
        return operator.multiply(dense)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        return None, ctx.operator.multiply_transposed(grad.contiguous())


def product(operator: Operator, dense: Tensor) -> Tensor:
    """Multiply an operator with a block of columns; gradients flow to the block alone."""
    result: Tensor = _Product.apply(operator, dense)  # type: ignore[no-untyped-call]
    return result
