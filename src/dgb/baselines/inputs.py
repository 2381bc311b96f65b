"""What the methods start from: features and operators as tensors, and random numbers by seed."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from dgb.data.graph import Graph
from dgb.run.machine import choose_device
from dgb.views.augment import Features
from dgb.views.inputs import to_features
from dgb.views.operators import make_adj, row_normalise
from dgb.views.sparse import SparseMatrix

DENSE = 0.05  # share of non-zeros above which that is so, measured on CPU


def features(graph: Graph) -> Features:
    """Return row-normalised X on the device, sparse where that is the cheaper form."""
    return to_features(row_normalise(graph.x)).to(choose_device("auto"))


def dense_features(graph: Graph) -> Tensor:
    """Return row-normalised X as an ordinary tensor, which PyG's layers want."""
    return as_dense(features(graph))


def as_dense(x: Features) -> Tensor:
    """Return features as an ordinary tensor."""
    return x.dense() if isinstance(x, SparseMatrix) else x


def is_dense(x: Features) -> bool:
    """Tell whether the gradient of X W, Xᵀ times a tall matrix, costs less from dense features."""
    return not isinstance(x, SparseMatrix) or len(x.values) > DENSE * x.shape[0] * x.shape[1]


def adj(graph: Graph) -> SparseMatrix:
    """Return D̃^-½ (A + I) D̃^-½ of Eq. 1 on the device."""
    return make_adj(graph.adjacency).to(choose_device("auto"))


def edge_index(graph: Graph, *, self_loops: bool = False) -> Tensor:
    """Return the edges as PyG writes them, both directions, [2, num_edges]."""
    edges = graph.adjacency.tocoo()
    index = torch.from_numpy(np.stack([edges.row, edges.col]).astype(np.int64))
    if self_loops:
        index = torch.cat([index, torch.arange(graph.num_nodes).repeat(2, 1)], 1)
    return index.to(choose_device("auto"))


@contextmanager
def seeded(seed: int) -> Iterator[np.random.Generator]:
    """Let torch draw from this seed in here, and leave its state outside as it was.

    Yields a generator of numpy's for what is drawn outside of torch.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield np.random.default_rng(seed)
