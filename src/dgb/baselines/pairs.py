"""Scores of pairs of nodes, for as many pairs as are asked for and never for all of them."""

from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dgb.views.pattern import lacks_csr
from dgb.views.sparse import SparseMatrix, sparse_matrix


class _PairScores(torch.autograd.Function):
    """Scores of pairs; gathering rows for them would take twenty times as long on a CPU."""

    @staticmethod
    def forward(ctx: Any, pairs: SparseMatrix, left: Tensor, right: Tensor) -> Tensor:
        ctx.pairs = pairs
        ctx.save_for_backward(left, right)
        if lacks_csr(left):
            return (left[pairs.pattern.row] * right[pairs.pattern.col.long()]).sum(1)
        scores: Tensor = torch.sparse.sampled_addmm(pairs.csr, left, right.T, beta=0)
        return scores.values()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, Tensor]:
        left, right = ctx.saved_tensors
        pairs = ctx.pairs.with_values(grad.contiguous())
        return None, pairs.multiply(right), pairs.multiply_transposed(left)


def pair_scores(pairs: SparseMatrix, left: Tensor, right: Tensor) -> Tensor:
    """Return left_i · right_j for the places (i, j) of the pairs, in their order."""
    scores: Tensor = _PairScores.apply(pairs, left, right)  # type: ignore[no-untyped-call]
    return scores


def random_pairs(shape: tuple[int, int], count: int, rng: np.random.Generator) -> SparseMatrix:
    """Return `count` pairs (i, x') for every i, where x' is another i."""
    row = np.arange(shape[0]).repeat(count)
    col = (row + rng.integers(1, shape[0], len(row))) % shape[0]
    start = np.arange(0, len(row) + 1, count)
    return sparse_matrix(sparse.csr_array((np.ones(len(row), np.float32), col, start), shape))
