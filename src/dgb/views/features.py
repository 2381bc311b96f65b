"""Features as views take them: normalised before any dropout, sparse where that costs less."""

import warnings
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dgb.arrays import Array, row_parts
from dgb.recipe import Data
from dgb.views.augment import Features
from dgb.views.sparse import sparse_matrix
from dgb.views.view import SPARSE_COST

_SMALLEST = float(np.finfo(np.float32).tiny)  # a row below it is one of zeros


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


def normalise_features(x: Any, recipe: Data) -> Any:
    """Return features as the recipe wants them, dense or sparse as they came."""
    return row_normalise(x) if recipe.normalise == "row" else x


def to_features(x: Any) -> Features:
    """Return features as a sparse matrix where that is the cheaper form, else as a dense tensor."""
    size = x.shape[0] * x.shape[1]
    nonzeros = x.nnz if sparse.issparse(x) else np.count_nonzero(x)
    if nonzeros * SPARSE_COST < size:
        return sparse_matrix(x)
    return dense_features(x.toarray() if sparse.issparse(x) else x)


def dense_features(x: Array) -> Tensor:
    """Return a dense array as a tensor of the same memory."""
    with warnings.catch_warnings():  # a file that is mapped for reading: nothing writes to X
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(np.ascontiguousarray(x))
