"""Generalised graph diffusion, Eq. 4, with the heat kernel (Eq. 5) and PPR (Eq. 6) as cases.

S = Σ_k θ_k T^k is never built. T is similar to the symmetric T_sym = D^-½ A D^-½, whose spectrum
lies in [-1, 1], so S is the function f(λ) = Σ_k θ_k λ^k of it. A Chebyshev series p of f, cut so
that the dropped coefficients sum to at most `error`, gives |p − f| ≤ error on [-1, 1] and with it

    ‖p(T_sym) − f(T_sym)‖₂ ≤ error                     (spectral norm)

For the heat kernel with T = A D⁻¹ the same holds for D^-½ (Ŝ − S) D^½. A product costs one hop
over the edges for each coefficient kept: about 21 for PPR with alpha 0.05 and error 1e-3. The bound
is that of exact arithmetic; float32 adds about 1e-6 of rounding.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import torch
from torch import Tensor

from dgb.views.product import Block, Operator
from dgb.views.sparse import SparseMatrix, Tick, idle, lacks_csr

LEAST = 32  # columns: with fewer a hop spends its time on the edges' places, not on the numbers
CACHED = 2**19  # numbers that stay in the cache of a processor from one hop to the next


class Transition(Operator, Protocol):
    """A symmetric matrix with its spectrum in [-1, 1], or what multiplies as one.

    Its products lie in memory of their own.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def dtype(self) -> torch.dtype:
        """Of its entries."""

    @property
    def device(self) -> torch.device:
        """Where it lies."""

    def to(self, device: torch.device) -> "Transition":
        """Return T on another device."""


@dataclass(frozen=True, eq=False)
class Diffusion:
    """S of Eq. 4 as an operator: a Chebyshev series in T_sym between D^½ and D^-½."""

    transition: Transition  # T_sym
    coefficients: tuple[float, ...]
    scale: Tensor | None  # [num_nodes, 1], D^½ where T = A D⁻¹; None where T is T_sym itself

    @property
    def hops(self) -> int:
        """Passes over the edges that one product takes."""
        return len(self.coefficients) - 1

    @property
    def multiplications(self) -> int:
        """Multiplications that one column takes."""
        return self.hops * self.transition.multiplications

    def multiply(self, dense: Tensor, tick: Tick = idle) -> Tensor:
        """Return S times a block of columns."""
        if self.scale is None:
            return self._series(dense, tick)
        return self._series(dense / self.scale, tick) * self.scale

    def multiply_transposed(self, dense: Tensor) -> Tensor:
        """Return Sᵀ times a block of columns."""
        if self.scale is None:
            return self._series(dense, idle)
        return self._series(dense * self.scale, idle) / self.scale

    def to(self, device: torch.device) -> "Diffusion":
        """Return the operator on another device."""
        scale = None if self.scale is None else self.scale.to(device)
        return Diffusion(self.transition.to(device), self.coefficients, scale)

    def _series(self, dense: Tensor, tick: Tick) -> Tensor:
        """Sum the series a few columns at a time: all hops then find them in the cache."""
        fitting, count = CACHED // max(len(dense), 1), dense.shape[1]
        if fitting < LEAST // 2 or fitting >= count or dense.device.type != "cpu":
            return self._sum(dense, tick)
        out = torch.empty_like(dense)
        for part in even_parts(count, max(fitting, LEAST)):
            out[:, part] = self._sum(dense[:, part].contiguous(), idle)
        return out

    def _sum(self, dense: Tensor, tick: Tick) -> Tensor:
        def step(
            before: Tensor | None, now: Tensor, out: Tensor, coefficient: float
        ) -> tuple[Tensor, Tensor]:
            spare = before.clone() if before is dense else before  # the caller's columns stay
            following = chebyshev_term(self.transition, spare, now)
            tick()
            return following, out.add_(following, alpha=coefficient)

        return chebyshev_sum(self.coefficients, dense, torch.mul, step)


@dataclass(frozen=True, eq=False)
class AdjAndDiff:
    """`adj` as an operator, next to `diff` of the same edges, which a block of its own takes."""

    adj: SparseMatrix
    diff: SparseMatrix | Diffusion
    hops = 1

    @property
    def multiplications(self) -> int:
        """Multiplications that one column of `adj` takes."""
        return self.adj.multiplications

    def multiply(self, dense: Tensor, tick: Tick = idle) -> Tensor:
        """Return `adj` times a block of columns."""
        return self.adj.multiply(dense, tick)

    def multiply_transposed(self, dense: Tensor) -> Tensor:
        """Return the transpose of `adj` times a block of columns."""
        return self.adj.multiply_transposed(dense)


GraphOperator = SparseMatrix | Diffusion | AdjAndDiff  # whose products tell when a hop is done


def adj_of(operator: Any) -> SparseMatrix:
    """Return `adj` without what comes with it."""
    adj: SparseMatrix = operator.adj if isinstance(operator, AdjAndDiff) else operator
    return adj


def diff_of(operator: Any) -> SparseMatrix | Diffusion:
    """Return the `diff` that comes with an `adj`."""
    assert isinstance(operator, AdjAndDiff), "encoder.diff says so when operators are made"
    return operator.diff


def even_parts(count: int, width: int) -> list[slice]:
    """Return slices of columns, each at least `width` wide where there are so many columns.

    Sparse products may sum in another order for fewer than 32 columns (MKL with AVX-512): with a
    narrow rest at the end, the bits of a column would depend on how the columns are divided.
    """
    cuts = [*range(0, max(count - width, 0) + 1, width), count]
    return [slice(start, stop) for start, stop in pairwise(cuts)]


def chebyshev_sum(
    coefficients: Sequence[float],
    x: Block,
    start: Callable[[Block, float], Block],
    step: Callable[[Block | None, Block, Block, float], tuple[Block, Block]],
) -> Block:
    """Return Σ_k c_k T_k x of Chebyshev's polynomials T_k in the transition matrix.

    `start` gives c_0 x. `step` is given the two terms before (one at first), the sum so far and
    c_k; it gives the term k and the new sum. So the blocks may lie anywhere.
    """
    out, now = start(x, coefficients[0]), x
    before: Block | None = None
    for coefficient in coefficients[1:]:
        before, (now, out) = now, step(before, now, out, coefficient)
    return out


def chebyshev_term(t: Transition, before: Tensor | None, now: Tensor) -> Tensor:
    """Overwrite `before` with the next term 2 T now − before; the first term is T now."""
    if before is None:
        return t.multiply(now)
    if not isinstance(t, SparseMatrix) or lacks_csr(now):
        return t.multiply(now).mul_(2).sub_(before)
    return torch.addmm(before, t.csr, now, beta=-1, alpha=2, out=before)
