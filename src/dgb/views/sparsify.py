"""Turn a matrix-free diffusion into an explicit sparse S: top-k or threshold, as GDC does."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dgb.arrays import Array
from dgb.views.diffusion import Diffusion

BLOCK = 512  # rows of S that exist at once: memory is BLOCK × num_nodes
Bar = Callable[[Iterable[int]], Iterable[int]]


def sparsify(
    diffusion: Diffusion, *, top_k: int = 0, threshold: float = 0.0, progress: Bar = iter
) -> Any:
    """Return S as a scipy CSR matrix that keeps the `top_k` largest entries of a row ≥ `threshold`.

    Rows are made in blocks, so no n × n matrix exists; the time grows with nodes × edges.
    Paper silent: what is kept stays as it is, rows are not rescaled to their former sum.
    """
    num_nodes = diffusion.transition.shape[0]
    parts = [
        _rows(diffusion, torch.arange(start, min(start + BLOCK, num_nodes)), top_k, threshold)
        for start in progress(range(0, num_nodes, BLOCK))
    ]
    row, col, value = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return sparse.csr_array((value, (row, col)), shape=(num_nodes, num_nodes))


def _rows(
    diffusion: Diffusion, rows: Tensor, top_k: int, threshold: float
) -> tuple[Array, Array, Array]:
    num_nodes = diffusion.transition.shape[0]
    t = diffusion.transition
    unit = torch.zeros(num_nodes, len(rows), dtype=t.dtype, device=t.device)
    unit[rows, torch.arange(len(rows))] = 1
    block = diffusion.multiply_transposed(unit).T.cpu()  # row i of S is column i of Sᵀ
    k = min(top_k, num_nodes) if top_k > 0 else num_nodes
    value, col = block.topk(k, dim=1, sorted=False)
    # What is not above zero is rounding: every θ_k and every entry of T is at least zero.
    keep = value > 0 if threshold == 0 else value >= threshold
    row = rows[:, None].expand_as(col)
    return row[keep].numpy(), col[keep].numpy(), value[keep].numpy()
