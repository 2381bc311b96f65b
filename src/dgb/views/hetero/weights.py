"""What a path weighs: the number of ways between two nodes, or each node shares what it gets."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dgb.views.hetero.metapath import MetaPath


class Factor(NamedTuple):
    """A relation, and by the degrees of which ends it is divided."""

    relation: int
    by_source: bool
    by_target: bool


def factor_of(path: MetaPath, place: int, weights: str) -> Factor:
    """Return what a step of a meta-path multiplies with.

    `counts`: relations as they are. `walk`: at every node on the way, what comes in is shared
    among its edges, so that a node with many edges does not outweigh the others. The relations
    that meet there are both divided by the roots of its degrees.
    """
    step = path.steps[place]
    is_inner = (place > 0, place < len(path.steps) - 1)  # whether its ends lie on the way
    start, end = is_inner if weights == "walk" else (False, False)
    return Factor(step.relation, *((end, start) if step.direction < 0 else (start, end)))


def weighted(matrix: Any, factor: Factor) -> Any:
    """Return a relation's matrix, divided as the factor says, float32."""
    left = _inverse_roots(matrix, 1) if factor.by_source else None
    right = _inverse_roots(matrix, 0) if factor.by_target else None
    matrix = matrix if left is None else left @ matrix
    matrix = matrix if right is None else matrix @ right
    return sparse.csr_array(matrix, dtype=np.float32)


def _inverse_roots(matrix: Any, axis: int) -> Any:
    """Return D^-½ of the rows or columns as a diagonal matrix; empty ones have degree 1."""
    degree = np.asarray(matrix.sum(axis=axis), np.float64).reshape(-1)
    root = 1 / np.sqrt(np.where(degree > 0, degree, 1))
    return sparse.dia_array((root[None], [0]), shape=(len(root), len(root)))
