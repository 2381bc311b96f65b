"""Diffusion (Eq. 4–6) of the edges or the features of torch_geometric's data."""

from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch_geometric.transforms import BaseTransform

from dgb.data.formats.arrays import edge_matrix
from dgb.data.formats.pyg_store import Store, stores_of
from dgb.data.graph import undirected
from dgb.errors import DGBError
from dgb.recipe import DiffusionRecipe
from dgb.settings import make_section
from dgb.views.diffusion import Diffusion
from dgb.views.operators import make_diff
from dgb.views.product import product
from dgb.views.sparsify import sparsify

ERROR = 1e-6  # of S: as exact as float32

Data = Any  # torch_geometric's Data or HeteroData


class _Diffuse(BaseTransform):  # type: ignore[misc]
    def __init__(self, top_k: int, threshold: float, of: str, **kernel: Any) -> None:
        if of not in ("edges", "x"):
            raise DGBError(f"of must be edges or x, not {of!r}")
        if of == "edges" and not top_k and not threshold:
            raise DGBError("S has as many entries as pairs of nodes; set top_k or threshold")
        cut = {"top_k": top_k, "threshold": threshold}
        self.cut = make_section(DiffusionRecipe, "diffusion", cut)
        self.kernel = make_section(DiffusionRecipe, "diffusion", kernel | {"error": ERROR})
        self.of = of

    def forward(self, data: Data) -> Data:
        for nodes, edges in stores_of(data):
            if self.of == "x" and "x" in nodes and edges:
                x = nodes.x if nodes.x.is_floating_point() else nodes.x.float()
                x = x if x.layout == torch.strided else x.to_dense()
                s = self._diffusion(edges, nodes.num_nodes, x.dtype).to(x.device)
                nodes.x = product(s, x)
            for store in edges if self.of == "edges" else ():
                s = self._diffusion([store], nodes.num_nodes, torch.float32)
                cut = sparsify(s, top_k=self.cut.top_k, threshold=self.cut.threshold)
                _replace_edges(store, sparse.coo_array(cut))
        return data

    def _diffusion(self, stores: list[Store], num_nodes: int, dtype: torch.dtype) -> Diffusion:
        s = make_diff(_adjacency(stores, num_nodes), self.kernel, dtype)
        assert isinstance(s, Diffusion), "the kernel asks for no top_k"
        return s

    def _cut(self) -> str:
        # All of it: by its text torch_geometric tells whether a stored data set is still right.
        return f"top_k={self.cut.top_k}, threshold={self.cut.threshold}, of={self.of!r}"


class PPR(_Diffuse):
    """Replace the edges by those of personalised PageRank (Eq. 6), the `top_k` largest a row.

    Row i of S becomes the edges that end at node i, so that a convolution computes S X. With
    `of="x"` the features are diffused instead, exactly and without S; top_k and threshold then
    mean nothing. Edges count in both directions and self-loops not at all, as everywhere in dgb.
    HeteroData: each edge type from a node type to itself is diffused on its own (`of="x"`: all of
    a node type together); edge types between two node types are left alone, because S is a
    function of a square matrix. What else an edge carried (edge_attr, …) goes with it.
    """

    def __init__(
        self, alpha: float = 0.05, *, top_k: int = 64, threshold: float = 0.0, of: str = "edges"
    ) -> None:
        """Check the settings; `alpha` is the teleport probability."""
        super().__init__(top_k, threshold, of, kernel="ppr", alpha=alpha)

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return f"PPR(alpha={self.kernel.alpha}, {self._cut()})"


class Heat(_Diffuse):
    """Replace the edges by those of the heat kernel (Eq. 5); everything else is as for PPR."""

    def __init__(
        self, heat_time: float = 5.0, *, top_k: int = 64, threshold: float = 0.0, of: str = "edges"
    ) -> None:
        """Check the settings; `heat_time` is t."""
        super().__init__(top_k, threshold, of, kernel="heat", heat_time=heat_time)

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return f"Heat(heat_time={self.kernel.heat_time}, {self._cut()})"


def _adjacency(stores: list[Store], num_nodes: int) -> Any:
    if any("edge_index" not in store for store in stores):
        raise DGBError("the data has no edge_index; diffuse before edges are turned into adj_t")
    weights = [
        store.edge_weight.view(-1) if "edge_weight" in store else torch.ones(store.num_edges)
        for store in stores
    ]
    index = torch.cat([store.edge_index.cpu() for store in stores], dim=1)
    weight = torch.cat([weight.detach().cpu() for weight in weights])
    return undirected(edge_matrix(index.numpy(), num_nodes, weight.numpy()))


def _replace_edges(store: Store, s: Any) -> None:
    device = store.edge_index.device
    # Labels to be predicted belong to pairs of nodes and y to the whole, also where sizes agree.
    stale = [k for k in store.keys() if k != "y" and "edge_label" not in k]  # noqa: SIM118
    for key in [k for k in stale if k != "edge_index" and store.is_edge_attr(k)]:
        del store[key]
    # torch_geometric sends from edge_index[0] to edge_index[1]: row i of S is what i receives.
    index = np.stack([s.coords[1], s.coords[0]]).astype(np.int64)
    store.edge_index = torch.from_numpy(index).to(device)
    store.edge_weight = torch.from_numpy(s.data).to(device)
