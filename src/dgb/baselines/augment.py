"""What methods with two augmented views share: drawing a view, and the GCN that encodes it.

A view lacks a share of the edges and has a share of its feature columns set to zero. Decided: an
undirected edge goes as a whole, where releases drop its directions one by one; P stays symmetric.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from dgb.baselines.inputs import adj, features, is_dense
from dgb.baselines.learn import Schedule
from dgb.data.graph import Graph
from dgb.settings import setting
from dgb.views.augment import Features
from dgb.views.product import product
from dgb.views.sparse import SparseMatrix, count_before, sparse_matrix
from dgb.views.view import View, propagates_first


@dataclass(frozen=True)
class TwoViews(Schedule):
    """The settings of methods whose two views differ; the defaults are GRACE's for Cora."""

    edge_drop1: float = setting(0.2, "share of edges dropped in view 1", low=0, high=0.99)
    edge_drop2: float = setting(0.4, "share of edges dropped in view 2", low=0, high=0.99)
    mask1: float = setting(0.3, "share of columns masked in view 1", low=0, high=0.99)
    mask2: float = setting(0.4, "share of columns masked in view 2", low=0, high=0.99)
    weight_decay: float = setting(1e-5, "of Adam", low=0)

    @property
    def rates(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The shares that each view lacks, of edges and of columns."""
        return (self.edge_drop1, self.mask1), (self.edge_drop2, self.mask2)


@dataclass(frozen=True, eq=False)
class Views:
    """Where views are drawn from, made once a run; random numbers come from torch's generator."""

    x: Features  # [num_nodes, num_features]
    operator: SparseMatrix  # P of the whole graph
    loops: SparseMatrix  # A + I
    edge: Tensor  # number of the undirected edge that each non-zero of `loops` is half of
    num_edges: int  # what self-loops have in `edge`
    propagate: bool  # take (P X̃) W, not P (X̃ W)

    def draw_pair(
        self, rates: Iterable[tuple[float, float]], size: int
    ) -> tuple[View, View, Tensor]:
        """Return two views by the shares that each lacks, and random nodes, at most `size`."""
        nodes = torch.randperm(self.x.shape[0], device=self.x.device)[:size]
        view1, view2 = (self.draw(*rate) for rate in rates)
        return view1, view2, nodes

    def draw(self, edge_rate: float, column_rate: float) -> View:
        """Return a view without a share of the edges and of the columns."""
        view = View(mask_columns(self.x, column_rate), self.drop_edges(edge_rate))
        return view.propagate() if self.propagate else view.compact()

    def whole(self) -> View:
        """Return the view that nothing was taken from."""
        view = View(self.x, self.operator)
        return view.propagate() if self.propagate else view

    def drop_edges(self, drop_rate: float) -> SparseMatrix:
        """Return P of the graph without a share of its undirected edges."""
        if drop_rate == 0:
            return self.operator
        keep = torch.rand(self.num_edges + 1, device=self.edge.device) >= drop_rate
        keep[self.num_edges] = True
        keep = keep.index_select(0, self.edge)
        kept = keep.nonzero()[:, 0]
        pattern = self.loops.pattern.select(kept, count_before(keep))
        row, col = pattern.row, pattern.col.long()
        values = self.loops.values.index_select(0, kept)
        root = values.new_zeros(pattern.shape[0]).index_add_(0, row, values).rsqrt_()
        return SparseMatrix(pattern, pattern, None, values * (root[row] * root[col]))


def make_views(graph: Graph, width: int) -> Views:
    """Return the source of a graph's views for an encoder whose first layer has this width."""
    x, operator = features(graph), adj(graph)
    eye = sparse.eye_array(graph.num_nodes, dtype=np.float32)
    loops = sparse_matrix(graph.adjacency + eye, is_symmetric=True)
    row, col = loops.pattern.row.numpy(), loops.pattern.col.long().numpy()
    is_edge = row != col
    ends = np.minimum(row, col) * graph.num_nodes + np.maximum(row, col)
    pairs, number = np.unique(ends[is_edge], return_inverse=True)
    edge = torch.full((len(row),), len(pairs))
    edge[torch.from_numpy(is_edge)] = torch.from_numpy(number)
    first = is_dense(x) or propagates_first(x, operator, width)
    return Views(x, operator, loops.to(x.device), edge.to(x.device), len(pairs), first)


def mask_columns(x: Features, drop_rate: float) -> Features:
    """Return X with a share of its columns set to zero, the others as they were."""
    keep = (torch.rand(x.shape[1], device=x.device) >= drop_rate).float()
    if isinstance(x, SparseMatrix):
        return x.with_values(x.values * keep.index_select(0, x.pattern.col))
    return x * keep


class StackedGCN(nn.Module):
    """H^(l+1) = σ_l(P H^(l) W^(l) + b^(l)), where every layer has a width and a σ of its own."""

    def __init__(self, sizes: Iterable[int], sigmas: Iterable[nn.Module]) -> None:
        """Draw Glorot weights for sizes from the features' to the representations'."""
        super().__init__()
        pairs = list(pairwise(sizes))
        glorot = (nn.init.xavier_uniform_(torch.empty(pair)) for pair in pairs)
        self.weights = nn.ParameterList(nn.Parameter(weight) for weight in glorot)
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(out)) for _, out in pairs)
        self.sigmas = nn.ModuleList(sigmas)

    def forward(self, view: View, nodes: Tensor | None = None) -> Tensor:
        """Return the representations of these nodes, or of all, [number, last size]."""
        last = len(self.weights) - 1
        is_sliced = last == 0 and view.propagated is not None
        h = (view.rows(nodes) if is_sliced else view).transform(self.weights[0])
        for i in range(1, last + 1):
            h = product(view.operator, self.sigmas[i - 1](h + self.biases[i - 1]))
            # The last dense product is needed for the nodes alone.
            h = (h if nodes is None or i < last else h.index_select(0, nodes)) @ self.weights[i]
        if nodes is not None and last == 0 and not is_sliced:
            h = h.index_select(0, nodes)
        out: Tensor = self.sigmas[last](h + self.biases[last])
        return out
