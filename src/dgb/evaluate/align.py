"""Vectors of two trainings in the same axes: an orthogonal map between nodes that both have."""

from dataclasses import dataclass

import numpy as np

from dgb.arrays import Array, row_parts, unit_rows
from dgb.errors import DGBError


@dataclass(frozen=True, eq=False)
class Alignment:
    """The map, and how alike the vectors of each common node are without it and with it."""

    rotation: Array  # [width, width], orthogonal
    before: Array  # cosines of common nodes
    after: Array


def align(z: Array, reference: Array) -> Alignment:
    """Find the orthogonal map that takes rows onto those of a reference best (Procrustes).

    Rows of unit length are compared, so that no node counts more than another; rows of zeros have
    no direction and count for nothing.
    """
    if z.shape[1] != reference.shape[1]:
        raise DGBError(
            f"vectors of {z.shape[1]} columns cannot be turned onto vectors of "
            f"{reference.shape[1]}: both runs need the same encoder.width and embed.operator"
        )
    if len(z) < z.shape[1]:
        raise DGBError(
            f"{len(z)} common nodes do not fix a map of {z.shape[1]} columns, which takes as many "
            "nodes as columns; train both runs with fewer (embed.learnt_columns=64), or let "
            "`dgb update` keep the axes"
        )
    rotation = find_rotation(z, reference)
    return Alignment(rotation, cosines(z, reference), cosines(z @ rotation, reference))


def find_rotation(z: Array, reference: Array, inertia: float = 0) -> Array:
    """Return the orthogonal map that takes rows of unit length onto those of a reference best.

    With inertia, a share of what all rows weigh, directions that hardly any row has stay as they
    are: then fewer rows than columns fix the map too.
    """
    products = inertia * len(z) * np.eye(z.shape[1])
    for rows in row_parts(*z.shape):
        products += _unit(z[rows]).T @ _unit(reference[rows])
    left, _, right = np.linalg.svd(products)
    return np.asarray(left @ right, np.float32)


def cosines(z: Array, reference: Array) -> Array:
    """Return the cosine of each row with that of the reference; of two rows of zeros it is 1."""
    parts = [_cosines(z[rows], reference[rows]) for rows in row_parts(*z.shape)]
    return np.concatenate([np.empty(0), *parts])


def _cosines(z: Array, reference: Array) -> Array:
    unit, other = _unit(z), _unit(reference)
    cosine = np.einsum("ij,ij->i", unit, other)
    return np.where(~unit.any(axis=1) & ~other.any(axis=1), 1.0, cosine)


def _unit(z: Array) -> Array:
    return unit_rows(np.asarray(z, np.float64))
