"""The views as transforms of torch_geometric, for any `Compose`, data set and `DataLoader`.

`PPR` and `Heat` diffuse (Eq. 4–6), `DropNodes` and `DropFeatures` drop out (Eq. 2, 3). All take
Data and HeteroData, and leave what they are given as it is.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch_geometric.transforms import BaseTransform

from dgb.data.formats.arrays import edge_matrix
from dgb.data.formats.pyg_store import Store, stores_of
from dgb.data.graph import undirected
from dgb.errors import DGBError
from dgb.recipe import DiffusionRecipe
from dgb.settings import make_section
from dgb.views.augment import node_dropout, node_feature_dropout
from dgb.views.diffusion import Diffusion
from dgb.views.operators import make_diff, sparsify
from dgb.views.product import product
from dgb.views.sparse import SparseMatrix, sparse_matrix

ERROR = 1e-6  # of S: as exact as float32

Data = Any  # torch_geometric's Data or HeteroData


class _Diffuse(BaseTransform):  # type: ignore[misc]
    def __init__(self, kernel: str, top_k: int, threshold: float, of: str, **own: float) -> None:
        if of not in ("edges", "x"):
            raise DGBError(f"of must be edges or x, not {of!r}")
        if of == "edges" and not top_k and not threshold:
            raise DGBError("S has as many entries as pairs of nodes; set top_k or threshold")
        cut = {"top_k": top_k, "threshold": threshold}
        self.cut = make_section(DiffusionRecipe, "diffusion", cut)
        values = {"kernel": kernel, "error": ERROR} | own
        self.kernel = make_section(DiffusionRecipe, "diffusion", values)
        self.own, self.of = tuple(own), of

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

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        # All of it: by its text torch_geometric tells whether a stored data set is still right.
        own = "".join(f"{name}={getattr(self.kernel, name)}, " for name in self.own)
        cut = f"top_k={self.cut.top_k}, threshold={self.cut.threshold}, of={self.of!r}"
        return f"{type(self).__name__}({own}{cut})"


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
        super().__init__("ppr", top_k, threshold, of, alpha=alpha)


class Heat(_Diffuse):
    """Replace the edges by those of the heat kernel (Eq. 5); everything else is as for PPR."""

    def __init__(
        self, heat_time: float = 5.0, *, top_k: int = 64, threshold: float = 0.0, of: str = "edges"
    ) -> None:
        """Check the settings; `heat_time` is t."""
        super().__init__("heat", top_k, threshold, of, heat_time=heat_time)


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


class _Drop(BaseTransform):  # type: ignore[misc]
    _dropout: Callable[..., Any]

    def __init__(self, drop_rate: float, generator: torch.Generator | None = None) -> None:
        """Check the rate: 0.1 drops 10 %."""
        is_number = isinstance(drop_rate, int | float) and not isinstance(drop_rate, bool)
        if not is_number or not 0 <= drop_rate < 1:
            raise DGBError(f"drop_rate must be a number from 0 to below 1, not {drop_rate!r}")
        self.drop_rate, self.generator = drop_rate, generator

    def forward(self, data: Data) -> Data:
        for nodes, _ in stores_of(data):
            if "x" in nodes:
                x = nodes.x
                given = x if x.layout == torch.strided else _sparse(x)
                generator = _generator_on(x.device, self.generator)
                kept = self._dropout(given, self.drop_rate, generator)
                dropped = _tensor(kept, x.layout) if isinstance(kept, SparseMatrix) else kept
                nodes.x = dropped.to(x.dtype) if x.is_floating_point() else dropped
        return data

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.drop_rate})"


class DropNodes(_Drop):
    """Zero whole rows of x with probability `drop_rate` and rescale the others, Eq. 2.

    The masks are new in every call. They come from `generator`, else from torch's own, which a
    DataLoader seeds for each worker; a generator given here would be the same in all workers.
    """

    _dropout = staticmethod(node_dropout)


class DropFeatures(_Drop):
    """Zero single elements of x with probability `drop_rate` and rescale the others, Eq. 3.

    The masks are drawn as those of DropNodes are.
    """

    _dropout = staticmethod(node_feature_dropout)


def _generator_on(device: torch.device, generator: torch.Generator | None) -> torch.Generator:
    """Return the generator where the features are; one on another device seeds a new one."""
    generator = generator or torch.default_generator
    if generator.device == device:
        return generator
    seed = torch.randint(2**62, (), generator=generator, device=generator.device)
    return torch.Generator(device).manual_seed(int(seed))


def _sparse(x: Tensor) -> SparseMatrix:
    csr = x.detach().cpu().to_sparse_csr()
    parts = (csr.values().numpy(), csr.col_indices().numpy(), csr.crow_indices().numpy())
    return sparse_matrix(sparse.csr_array(parts, shape=tuple(x.shape))).to(x.device)


def _tensor(matrix: SparseMatrix, layout: torch.layout) -> Tensor:
    index = torch.stack([matrix.pattern.row, matrix.pattern.col.long()])
    coo = torch.sparse_coo_tensor(index, matrix.values, matrix.shape, check_invariants=True)
    return coo.coalesce().to_sparse(layout=layout)


__all__ = ["PPR", "DropFeatures", "DropNodes", "Heat"]
