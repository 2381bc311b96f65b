"""Diffused features in few columns: S X V with the directions V that hold most of S X.

S X is never built. V spans the right singular vectors of S X, found by products with X and S alone
(Halko, Martinsson and Tropp 2011), so that new nodes are given the same columns: S X V of theirs.
"""

from typing import Any

import torch
from torch import Tensor

from dgb.views.augment import Features
from dgb.views.diffusion import GraphOperator
from dgb.views.product import times
from dgb.views.sparse import SparseMatrix

SPARE, ROUNDS = 10, 4  # columns more than asked for, and times that the directions are improved


@torch.no_grad()
def main_directions(x: Features, operator: GraphOperator, count: int) -> Tensor:
    """Return V [num_features, at most count]: orthonormal, those that hold more of S X first."""
    size = min(count + SPARE, *x.shape)
    generator = torch.Generator().manual_seed(0)  # a start that nothing in the result remembers
    v = torch.randn(x.shape[1], size, generator=generator).to(x.device)
    for _ in range(ROUNDS):
        rows = _orthonormal(operator.multiply(times(x, v)))
        v = _orthonormal(_times_transposed(x, operator.multiply_transposed(rows)))
    _, _, turned = torch.linalg.svd(operator.multiply(times(x, v)), full_matrices=False)
    # Of two opposite directions the one whose largest entry is positive: the same on every machine.
    best: Tensor = v @ turned.T[:, :count]
    largest = best.gather(0, best.abs().argmax(dim=0, keepdim=True))
    return best * torch.where(largest < 0, -1.0, 1.0)


def _orthonormal(columns: Tensor) -> Tensor:
    orthonormal: Tensor = torch.linalg.qr(columns).Q
    return orthonormal


def _times_transposed(x: Features, columns: Tensor) -> Any:
    return x.multiply_transposed(columns) if isinstance(x, SparseMatrix) else x.T @ columns
