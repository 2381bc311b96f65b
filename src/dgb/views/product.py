"""Products of a linear operator with a block of columns, with gradients or hop after hop."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from dgb.recipe import DIFF
from dgb.views.sparse import SparseMatrix

Block = TypeVar("Block")  # of columns: a tensor, or what an engine keeps in its place


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


def walk(
    x: Block,
    hops: Sequence[int],
    multiply: Callable[[Block], Block],
    diffuse: Callable[[Block], Block],
) -> Iterator[tuple[int, Block]]:
    """Yield P^k x for the hops k, which rise, each with its k; S x, for DIFF, comes last.

    `multiply` and `diffuse` give P and S times a block, wherever it lies.
    """
    walked = x
    for hop in range(max(hops, default=0) + 1):
        walked = multiply(walked) if hop else walked
        if hop in hops:
            yield hop, walked
    if DIFF in hops:
        yield DIFF, diffuse(x)
