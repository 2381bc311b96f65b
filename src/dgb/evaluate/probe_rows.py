"""Rows of embeddings as a probe takes them: of the nodes that are asked for, scaled."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import norm as sparse_norm

from dgb.arrays import Array, row_parts
from dgb.data.graph import Split

MOST = 100_000  # train nodes and validation nodes: an accuracy on so many is exact to 0.2 points


def sample_split(split: Split, labels: Array) -> Split:
    """Return the split with at most 100,000 train and as many validation nodes, always the same.

    A class that would be lost keeps one node.
    """
    train, validation = (sample_nodes(nodes, labels) for nodes in (split.train, split.validation))
    return replace(split, train=train, validation=validation)


def sample_nodes(nodes: Array, labels: Array, most: int | None = None) -> Array:
    """Return at most 100,000 of the nodes, or `most`, and one of each class that would be lost."""
    most = MOST if most is None else most
    if len(nodes) <= most:
        return nodes
    order = np.random.default_rng(0).permutation(nodes)
    _, first = np.unique(labels[order], return_index=True)
    return np.concatenate([order[:most], order[first[first >= most]]])


Nodes = Array | slice


@dataclass(frozen=True)
class Scaling:
    """Rows of length one (l2), or divided by one number: the mean (none) or rms of their lengths.

    One number for all rows changes no classifier, but makes a weight decay mean the same for all.
    """

    form: str
    length: float

    def rows(self, z: Any, nodes: Nodes) -> Any:
        """Return the scaled rows of some nodes."""
        from sklearn.preprocessing import normalize

        return normalize(z[nodes]) if self.form == "l2" else z[nodes] / self.length


def learn_scaling(z: Any, form: str) -> Scaling:
    """Return how rows of z are to be scaled; z may lie in a file, dense, or be sparse."""
    if form == "l2":
        return Scaling(form, 1.0)
    norm = sparse_norm if sparse.issparse(z) else np.linalg.norm
    lengths = np.concatenate([norm(z[part], axis=1) for part in row_parts(*z.shape)])
    length = np.sqrt(np.mean(lengths**2)) if form == "rms" else lengths.mean()
    return Scaling(form, max(float(length), 1e-12))
