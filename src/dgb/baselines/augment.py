"""The views that contrastive methods draw: fewer edges, and feature columns set to zero."""

from typing import Any

import numpy as np
import torch
from scipy import sparse

from dgb.data.graph import Graph
from dgb.views.augment import Features
from dgb.views.operators import make_adj
from dgb.views.sparse import SparseMatrix
from dgb.views.view import View


def draw_view(
    x: Features, graph: Graph, rates: tuple[float, float], rng: np.random.Generator
) -> View:
    """Return a view without a share of the edges and of the columns, (edges, columns)."""
    device = x.values.device if isinstance(x, SparseMatrix) else x.device
    operator = make_adj(drop_edges(graph.adjacency, rates[0], rng)).to(device)
    return View(mask_columns(x, rates[1]), operator).compact()


def drop_edges(adjacency: Any, drop_rate: float, rng: np.random.Generator) -> Any:
    """Return the adjacency without a share of its undirected edges."""
    once = sparse.triu(adjacency, k=1, format="coo")
    keep = rng.random(once.nnz) >= drop_rate
    parts = (once.data[keep], (once.row[keep], once.col[keep]))
    kept = sparse.coo_array(parts, shape=adjacency.shape).tocsr()
    return sparse.csr_array(kept + kept.T)


def mask_columns(x: Features, drop_rate: float) -> Features:
    """Return X with a share of its columns set to zero, the others as they were."""
    device = x.values.device if isinstance(x, SparseMatrix) else x.device
    keep = (torch.rand(x.shape[1], device=device) >= drop_rate).float()
    if isinstance(x, SparseMatrix):
        return x.with_values(x.values * keep.index_select(0, x.pattern.col))
    return x * keep
