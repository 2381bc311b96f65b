"""Rows of embeddings as a probe takes them, made only for the nodes that are asked for."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.graph import Array
from dgb.data.parts import row_parts

Nodes = Array | slice


@dataclass(frozen=True)
class Scaling:
    """Rows of length one (l2), or all divided by the mean length of all rows (none).

    One number for all rows changes no classifier, but makes a weight decay mean the same for both.
    """

    form: str
    length: float

    def rows(self, z: Any, nodes: Nodes) -> Any:
        """Return the scaled rows of some nodes."""
        from sklearn.preprocessing import normalize

        return normalize(z[nodes]) if self.form == "l2" else z[nodes] / self.length


def learn_scaling(z: Any, form: str) -> Scaling:
    """Return how rows of z are to be scaled; z may lie in a file, dense, or be sparse."""
    return Scaling(form, 1.0 if form == "l2" else max(_mean_length(z), 1e-12))


def _mean_length(z: Any) -> float:
    lengths = [_lengths(z[part]) for part in row_parts(*z.shape)]
    return float(np.mean(np.concatenate(lengths)))


def _lengths(rows: Any) -> Array:
    if sparse.issparse(rows):
        return np.asarray(np.sqrt(rows.multiply(rows).sum(axis=1))).ravel()
    return np.asarray(np.linalg.norm(rows, axis=1))
