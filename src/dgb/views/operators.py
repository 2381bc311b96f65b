"""The two operators of a run, made once: `adj` (Eq. 1) and `diff` (Eq. 4–6)."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike
from scipy import fft, sparse
from torch import Tensor

from dgb.arrays import Array, canonical_rows, nonzero_parts, row_sums
from dgb.errors import DGBError
from dgb.recipe import DiffusionRecipe
from dgb.terminal import progress_bar
from dgb.views.diffusion import AdjAndDiff, Diffusion, GraphOperator, Transition
from dgb.views.sparse import SparseMatrix, sparse_matrix

_FLOATS = {torch.float32: np.float32, torch.float64: np.float64}
TAIL = 1e-14  # mass of the θ_k that are left out of an infinite series
BLOCK = 512  # rows of S that exist at once: memory is BLOCK × num_nodes
Bar = Callable[[Iterable[int]], Iterable[int]]


def make_operators(
    adjacency: Any,
    recipe: DiffusionRecipe,
    needed: set[str],
    device: torch.device,
    *,
    has_diff: bool = False,
) -> dict[str, GraphOperator]:
    """Return those of the operators `adj` and `diff` that are needed, or `adj` with its `diff`."""
    operators: dict[str, GraphOperator] = {}
    if "adj" in needed:
        operators["adj"] = adj = make_adj(adjacency).to(device)
        if has_diff:
            operators["adj"] = AdjAndDiff(adj, make_diff(adjacency, recipe).to(device))
    if "diff" in needed:
        operators["diff"] = make_diff(adjacency, recipe).to(device)
    return operators


def make_adj(adjacency: Any, dtype: torch.dtype = torch.float32) -> SparseMatrix:
    """Return D̃^-½ (A + I) D̃^-½ of Eq. 1."""
    normalised, _ = transition(adjacency, self_loops=True, dtype=_FLOATS[dtype])
    return sparse_matrix(normalised, is_symmetric=True)


def make_diff(
    adjacency: Any, recipe: DiffusionRecipe, dtype: torch.dtype = torch.float32
) -> SparseMatrix | Diffusion:
    """Return S of Eq. 4: matrix-free, or explicit where top_k or threshold ask for it."""
    t_sym, root = transition(adjacency, self_loops=recipe.self_loops, dtype=_FLOATS[dtype])
    t = sparse_matrix(t_sym, is_symmetric=True)
    return diffuse_over(t, torch.from_numpy(root)[:, None].to(dtype), recipe)


def diffuse_over(
    t_sym: Transition, root: Tensor, recipe: DiffusionRecipe
) -> SparseMatrix | Diffusion:
    """Return S of Eq. 4 over T_sym = D^-½ A D^-½, given with D^½, [num_nodes, 1]."""
    coefficients = chebyshev_coefficients(theta(recipe), recipe.error)
    # Eq. 6 is written with T_sym, Eq. 5 with T = A D⁻¹ = D^½ T_sym D^-½.
    scale = None if recipe.kernel == "ppr" else root
    diffusion = Diffusion(t_sym, tuple(coefficients.tolist()), scale)
    if not recipe.top_k and not recipe.threshold:
        return diffusion
    s = sparsify(
        diffusion,
        top_k=recipe.top_k,
        threshold=recipe.threshold,
        progress=lambda blocks: progress_bar(blocks, "diffusion", unit="block"),
    )
    return sparse_matrix(s)


def make_ppr(adj: Transition, alpha: float) -> Diffusion:
    """Return S of Eq. 6 over A + I, whose T_sym is `adj` itself: nothing is made twice."""
    coefficients = chebyshev_coefficients(ppr_coefficients(alpha), DiffusionRecipe().error)
    return Diffusion(adj, tuple(coefficients.tolist()), None)


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
    t, num_nodes = diffusion.transition, diffusion.transition.shape[0]
    unit = torch.zeros(num_nodes, len(rows), dtype=t.dtype, device=t.device)
    unit[rows, torch.arange(len(rows))] = 1
    block = diffusion.multiply_transposed(unit).T.cpu()  # row i of S is column i of Sᵀ
    k = min(top_k, num_nodes) if top_k > 0 else num_nodes
    value, col = block.topk(k, dim=1, sorted=False)
    # What is not above zero is rounding: every θ_k and every entry of T is at least zero.
    keep = value > 0 if threshold == 0 else value >= threshold
    row = rows[:, None].expand_as(col)
    return row[keep].numpy(), col[keep].numpy(), value[keep].numpy()


def theta(recipe: DiffusionRecipe) -> Array:
    """Return the coefficients θ_k that a recipe asks for; θ_k in [0, 1] must add up to 1, Eq. 4."""
    if recipe.kernel == "ppr":
        return ppr_coefficients(recipe.alpha)
    if recipe.kernel == "heat":
        return heat_coefficients(recipe.heat_time)
    given = np.asarray(recipe.theta)
    if len(given) == 0 or (given < 0).any() or abs(given.sum() - 1) > 1e-6:
        raise DGBError(
            "diffusion.theta must list numbers from 0 to 1 that add up to 1 (Eq. 4), "
            f"not {len(given)} numbers with the sum {given.sum():g}"
        )
    return given


def ppr_coefficients(alpha: float) -> Array:
    """Return θ_k = α(1 − α)^k of personalised PageRank, Eq. 6."""
    terms = 1 if alpha >= 1 else int(np.ceil(np.log(TAIL) / np.log1p(-alpha))) + 1
    return np.asarray(alpha * (1 - alpha) ** np.arange(terms))


def heat_coefficients(heat_time: float) -> Array:
    """Return θ_k = e^-t t^k / k! of the heat kernel, Eq. 5."""
    from scipy.stats import poisson

    terms = int(poisson.isf(TAIL, heat_time)) + 2
    return np.asarray(poisson.pmf(np.arange(terms), heat_time))


def chebyshev_coefficients(theta: Array, error: float) -> Array:
    """Return the Chebyshev coefficients of Σ_k θ_k λ^k on [-1, 1], cut at the maximum `error`."""
    # Interpolation at m points folds the coefficients above m onto those below: double m until
    # the upper half is negligible, or m exceeds the degree and interpolation is exact.
    m = 32
    while True:
        m *= 2
        points = np.cos(np.pi * (np.arange(m) + 0.5) / m)
        values = np.polynomial.polynomial.polyval(points, np.asarray(theta, np.float64))
        coefficients = np.asarray(fft.dct(values, type=2)) / m
        coefficients[0] /= 2
        if m > len(theta) or np.abs(coefficients[m // 2 :]).sum() < 1e-3 * error:
            break
    dropped = np.cumsum(np.abs(coefficients[::-1]))[::-1]  # sum of |c_j| over j ≥ k
    keep = int(np.searchsorted(-dropped, -error, side="left"))  # first k whose tail fits the error
    return coefficients[: max(keep, 1)]


def transition(
    adjacency: Any, *, self_loops: bool, dtype: DTypeLike = np.float64
) -> tuple[Any, Array]:
    """Return T_sym = D^-½ A D^-½ and D^½; a node without edges has an empty row and D = 1.

    Computed in float64, some rows at a time, and kept as `dtype`. The places of the non-zeros may
    be those of `adjacency` itself, not a copy.
    """
    rows = canonical_rows(adjacency)
    if self_loops:
        rows = rows + sparse.eye_array(rows.shape[0], dtype=rows.dtype, format="csr")
    degree = row_sums(rows)
    root = np.sqrt(np.where(degree > 0, degree, 1.0))
    values, inverse = np.empty(rows.nnz, dtype), 1 / root
    for part in nonzero_parts(rows.indptr):
        starts = rows.indptr[part.start : part.stop + 1]
        here = slice(starts[0], starts[-1])
        by_row = np.repeat(inverse[part], np.diff(starts)) * rows.data[here]
        values[here] = by_row * inverse[rows.indices[here]]
    return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape), root
