"""Diffused features in few columns: S X V with the directions V that hold most of S X.

Neither S nor S X is built. V spans the main right singular vectors of S X, found by products with X
and S alone (Halko, Martinsson and Tropp 2011), so that new nodes are given the same columns: S X V
of theirs.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from dgb.errors import too_large
from dgb.views.augment import Features
from dgb.views.diffusion import GraphOperator, even_parts
from dgb.views.features import Store
from dgb.views.product import times
from dgb.views.sparse import SparseMatrix

SPARE, ROUNDS = 10, 4  # columns more than asked for, and times that the directions are improved
NOTHING = 1e-7  # of what the first direction holds: below it is rounding


@dataclass(frozen=True, eq=False)
class DiffusedFeatures:
    """S X as an operator, which takes as many columns at a time as memory suggests."""

    x: Features  # [num_nodes, num_features]
    operator: GraphOperator  # S
    row_scale: Tensor | None = None  # [num_nodes], what rows of x are multiplied by before
    store: Store = field(default_factory=Store)

    def multiply(self, columns: Tensor) -> Tensor:
        """Return S X times columns [num_features, count]; on the device of X."""
        rows = times(self.x, columns.to(self.x.device, torch.float32).contiguous())
        return self.operator.multiply(self._scale(rows))

    def multiply_transposed(self, rows: Tensor) -> Tensor:
        """Return (S X)ᵀ times columns [num_nodes, count]."""
        back = self._scale(self.operator.multiply_transposed(rows))
        x = self.x
        return x.multiply_transposed(back) if isinstance(x, SparseMatrix) else x.T @ back

    def write(self, columns: Tensor, out: Tensor) -> None:
        """Write S X times columns to a matrix that may lie in a file."""
        for part in self._parts(columns):
            out[:, part] = self.multiply(columns[:, part])

    def square(self, columns: Tensor) -> Tensor:
        """Return (S X)ᵀ S X times columns, in float64 on the CPU."""
        parts = [columns[:, part] for part in self._parts(columns)]
        products = [self.multiply_transposed(self.multiply(part)).cpu() for part in parts]
        square = torch.cat(products, dim=1).double()
        if not square.isfinite().all():
            raise too_large("the squares of diffused features are")
        return square

    def _parts(self, columns: Tensor) -> list[slice]:
        return even_parts(columns.shape[1], self.store.width(self.x.shape[0]))

    def _scale(self, rows: Tensor) -> Tensor:
        return rows if self.row_scale is None else rows * self.row_scale[:, None]


@torch.no_grad()
def main_directions(diffused: DiffusedFeatures, count: int) -> Tensor:
    """Return V [num_features, at most count], those that hold more of S X first.

    They are orthonormal, but for zeros in the place of directions that hold nothing. Where there
    are no more features than columns, V is the identity.
    """
    num_features = diffused.x.shape[1]
    if num_features <= count:
        return torch.eye(num_features)
    generator = torch.Generator().manual_seed(0)  # a start that nothing in the result remembers
    v = torch.randn(num_features, min(count + SPARE, num_features), generator=generator)
    for _ in range(ROUNDS):
        v = torch.linalg.qr(diffused.square(v)).Q
    held, turned = torch.linalg.eigh(v.T @ diffused.square(v))  # which rise
    best: Tensor = v @ (turned * (held > NOTHING * held[-1])).flip(1)[:, :count]
    # Of two opposite directions the one whose largest entry is positive: the same on every machine.
    largest = best.gather(0, best.abs().argmax(dim=0, keepdim=True))
    return (best * torch.where(largest < 0, -1.0, 1.0)).float()
