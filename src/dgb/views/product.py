"""Products of a linear operator with a block of columns, transposed in the backward pass."""

from typing import Any, Protocol

import torch
from torch import Tensor

from dgb.views.sparse import SparseMatrix


class Operator(Protocol):
    """Anything linear over nodes: the normalised adjacency, a diffusion, sparse features."""

    @property
    def multiplications(self) -> int:
        """Multiplications that one column takes."""

    def multiply(self, dense: Tensor) -> Tensor:
        """Return the product with a block of columns."""

    def multiply_transposed(self, dense: Tensor) -> Tensor:
        """Return the product of the transpose with a block of columns."""


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, operator: Operator, dense: Tensor) -> Tensor:
        ctx.operator = operator
        with torch.autocast(dense.device.type, enabled=False):  # sparse products know no bfloat16
            return operator.multiply(dense.float() if dense.dtype == torch.bfloat16 else dense)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        return None, ctx.operator.multiply_transposed(grad.contiguous())


def product(operator: Operator, dense: Tensor) -> Tensor:
    """Multiply an operator with a block of columns; gradients flow to the block alone."""
    result: Tensor = _Product.apply(operator, dense)  # type: ignore[no-untyped-call]
    return result


def times(x: Tensor | SparseMatrix, weight: Tensor) -> Tensor:
    """Return X W of dense or sparse features."""
    return product(x, weight) if isinstance(x, SparseMatrix) else x @ weight
