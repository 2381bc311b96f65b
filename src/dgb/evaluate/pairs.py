"""Pairs of nodes: the edges of a graph as numbers, and pairs that are no edges."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.graph import Array
from dgb.errors import DGBError


@dataclass(frozen=True, eq=False)
class Pairs:
    """As many edges as pairs that are none, each [m, 2] of node positions, the smaller first."""

    edges: Array
    others: Array

    def truth(self) -> Array:
        """Return 1 for every edge, then 0 for every other pair."""
        return np.repeat([1, 0], [len(self.edges), len(self.others)])

    def both(self) -> Array:
        """Return the edges, then the other pairs."""
        return np.concatenate([self.edges, self.others])


def edge_pairs(adjacency: Any) -> tuple[Array, Array]:
    """Return every undirected edge once [num_edges, 2], and its weight."""
    upper = sparse.coo_array(sparse.triu(adjacency, 1, format="csr"))
    return np.stack(upper.coords, axis=1).astype(np.int64), upper.data


def sample_non_edges(adjacency: Any, count: int, generator: np.random.Generator) -> Array:
    """Draw `count` different pairs [count, 2] of two nodes without an edge, all equally likely.

    The pairs i < j are numbered row by row. A number drawn among those that are no edge is moved
    past the edges before it, which finds its pair without listing or trying any other.
    """
    num_nodes = adjacency.shape[0]
    first = np.arange(num_nodes, dtype=np.int64)
    starts = first * num_nodes - first * (first + 1) // 2  # number of the pair (i, i + 1)
    edges, _ = edge_pairs(adjacency)
    taken = np.sort(starts[edges[:, 0]] + edges[:, 1] - edges[:, 0] - 1)
    free = num_nodes * (num_nodes - 1) // 2 - len(taken)
    if count > free:
        raise DGBError(
            f"link prediction needs {count:,} pairs of nodes that are no edges, but the graph has "
            f"{free:,}; it is too dense for such a test"
        )
    drawn = generator.choice(free, count, replace=False)
    number = drawn + np.searchsorted(taken - np.arange(len(taken)), drawn, side="right")
    row = np.searchsorted(starts[:-1], number, side="right") - 1
    return np.stack([row, number - starts[row] + row + 1], axis=1)
