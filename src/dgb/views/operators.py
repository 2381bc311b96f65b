"""The two operators of a run, made once: `adj` (Eq. 1) and `diff` (Eq. 4–6)."""

from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dgb.data.graph import Array
from dgb.data.parts import row_parts
from dgb.progress import progress_bar
from dgb.recipe import Diffusion as DiffusionRecipe
from dgb.views.coefficients import (
    chebyshev_coefficients,
    check_theta,
    heat_coefficients,
    ppr_coefficients,
)
from dgb.views.diffusion import Diffusion, Transition, transition
from dgb.views.product import Operator
from dgb.views.sparse import SparseMatrix, sparse_matrix
from dgb.views.sparsify import sparsify

_SMALLEST = float(np.finfo(np.float32).tiny)  # a row below it is one of zeros
_FLOATS = {torch.float32: np.float32, torch.float64: np.float64}


def make_operators(
    adjacency: Any, recipe: DiffusionRecipe, needed: set[str], device: torch.device
) -> dict[str, Operator]:
    """Return those of the operators `adj` and `diff` that are needed."""
    operators: dict[str, Operator] = {}
    if "adj" in needed:
        operators["adj"] = make_adj(adjacency).to(device)
    if "diff" in needed:
        operators["diff"] = make_diff(adjacency, recipe).to(device)
    return operators


def make_adj(adjacency: Any, dtype: torch.dtype = torch.float32) -> SparseMatrix:
    """Return D̃^-½ (A + I) D̃^-½ of Eq. 1."""
    normalised, _ = transition(adjacency, self_loops=True, dtype=_FLOATS[dtype])
    return sparse_matrix(normalised, is_symmetric=True)


def make_diff(
    adjacency: Any, recipe: DiffusionRecipe, dtype: torch.dtype = torch.float32
) -> Diffusion | SparseMatrix:
    """Return S of Eq. 4: matrix-free, or explicit where top_k or threshold ask for it."""
    t_sym, root = transition(adjacency, self_loops=recipe.self_loops, dtype=_FLOATS[dtype])
    t = sparse_matrix(t_sym, is_symmetric=True)
    return diffuse_over(t, torch.from_numpy(root)[:, None].to(dtype), recipe)


def diffuse_over(
    t_sym: Transition, root: Tensor, recipe: DiffusionRecipe
) -> Diffusion | SparseMatrix:
    """Return S of Eq. 4 over T_sym = D^-½ A D^-½, given beside it D^½, [num_nodes, 1]."""
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


def theta(recipe: DiffusionRecipe) -> Array:
    """Return the coefficients θ_k that a recipe asks for."""
    if recipe.kernel == "ppr":
        return ppr_coefficients(recipe.alpha)
    if recipe.kernel == "heat":
        return heat_coefficients(recipe.heat_time)
    coefficients = np.asarray(recipe.theta)
    check_theta(coefficients)
    return coefficients


def row_factors(x: Any) -> Array:
    """Return what `row_normalise` multiplies every feature row by, float32 [num_nodes]."""
    factors = np.empty(x.shape[0], np.float32)
    for part in row_parts(*x.shape):
        total = np.asarray(abs(x[part]).astype(np.float64).sum(axis=1)).reshape(-1)
        factors[part] = 1 / np.where(total > _SMALLEST, total, 1)
    return factors


def row_normalise(x: Any) -> Any:
    """Divide every feature row by the sum of its sizes; a row of zeros stays as it is."""
    factor = row_factors(x)
    if sparse.issparse(x):
        return sparse.csr_array(sparse.dia_array((factor[None], [0]), shape=(len(factor),) * 2) @ x)
    return x * factor[:, None]
