"""Edges between nodes whose diffused features are alike, next to the edges that a graph has.

Over both, features reach nodes that nobody has joined, though they speak of the same. Few citations
of a paper are in a data set; of those that lack, some are found so.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dgb.arrays import Array, row_sums
from dgb.views.diffusion import Transition
from dgb.views.nearest import find_nearest
from dgb.views.operators import make_adj
from dgb.views.sparse import SparseMatrix, sparse_matrix


@dataclass(frozen=True, eq=False)
class Joined:
    """Edges A + M B Mᵀ: those of a graph, and as many from every node of a group to another's.

    The product is not made: groups of many nodes with equal rows would be joined by far more edges
    than a graph has nodes.
    """

    edges: Any  # A, less the diagonal of M B Mᵀ: nobody is joined to itself
    members: Any  # M, [num_nodes, groups]
    between: Any  # B, [groups, groups]; without non-zeros where A holds all edges


def join_nearest(adjacency: Any, rows: Array, count: int, weight: float) -> Joined:
    """Return the edges of a graph and those from every node to the ones most like it.

    Args:
        adjacency: The edges, a scipy csr_array.
        rows: [num_nodes, columns], diffused features. A node with a row of zeros is joined to none.
        count: Nodes that each is joined to, in both directions. Who is unlike is left out.
        weight: What new edges weigh together, next to 1 of those that the graph has.

    Returns:
        Symmetric edges with an empty diagonal, in float64.

    Example:
        >>> joined = join_nearest(graph.adjacency, diffused, 20, 0.3)
    """
    known = sparse.csr_array(adjacency.astype(np.float64))  # whose sum a float32 may not hold
    members, shares = find_nearest(rows, count)
    between = shares.maximum(shares.T)
    sizes, own = np.asarray(members.sum(axis=0)), between.diagonal()
    total = sizes @ (between @ sizes) - sizes @ own
    scale = weight * known.sum() / max(total, 1)
    if scale == 0:
        return Joined(known, members, between[:0, :0])
    if sizes.max(initial=1) == 1:  # all nodes are groups of one: the product is as small as B
        new = sparse.csr_array(members @ between @ members.T)
        new.sort_indices()
        return Joined(sparse.csr_array(known + scale * new), members, between[:0, :0])
    loops = sparse.dia_array(((scale * (members @ own))[None], [0]), shape=known.shape)
    return Joined(sparse.csr_array(known - loops), members, scale * between)


def make_joined_adj(joined: Joined) -> Transition:
    """Return D̃^-½ (A + M B Mᵀ + I) D̃^-½, as `make_adj` does of A."""
    if not joined.between.nnz:
        return make_adj(joined.edges)
    edges = sparse.csr_array(joined.edges + sparse.eye_array(joined.edges.shape[0]))
    members, scale = joined.members, joined.between.data.max()
    degree = row_sums(edges) + members @ (joined.between @ members.sum(axis=0))
    root = 1 / np.sqrt(degree)
    by_root, by_scale = (
        sparse.dia_array((values[None], [0]), shape=edges.shape)
        for values in (root, root * np.sqrt(scale))
    )
    return GroupedAdj(
        sparse_matrix((by_root @ edges @ by_root).astype(np.float32), is_symmetric=True),
        # Half of the weight on each side: weights themselves may be beyond float32.
        sparse_matrix((by_scale @ members).astype(np.float32)),
        sparse_matrix((joined.between / scale).astype(np.float32), is_symmetric=True),
    )


@dataclass(frozen=True, eq=False)
class GroupedAdj:
    """A symmetric matrix that is the sum of a sparse one and a product M B Mᵀ of sparse ones."""

    adj: SparseMatrix
    members: SparseMatrix
    between: SparseMatrix

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.adj.shape

    @property
    def dtype(self) -> torch.dtype:
        """Of its entries."""
        return self.adj.dtype

    @property
    def device(self) -> torch.device:
        """Where it lies."""
        return self.adj.device

    @property
    def multiplications(self) -> int:
        """Multiplications that one column takes."""
        parts = self.adj, self.members, self.between, self.members
        return sum(part.multiplications for part in parts)

    def multiply(self, dense: Tensor) -> Tensor:
        """Return the product with a block of columns."""
        grouped = self.between.multiply(self.members.multiply_transposed(dense))
        return self.adj.multiply(dense).add_(self.members.multiply(grouped))

    def multiply_transposed(self, dense: Tensor) -> Tensor:
        """Return the product of the transpose, the same."""
        return self.multiply(dense)

    def to(self, device: torch.device) -> "GroupedAdj":
        """Return the matrix on another device."""
        parts = ("adj", "members", "between")
        return replace(self, **{name: getattr(self, name).to(device) for name in parts})
