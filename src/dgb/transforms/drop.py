"""Dropout of nodes (Eq. 2) and of features (Eq. 3) of torch_geometric's data."""

from collections.abc import Callable
from typing import Any

import torch
from scipy import sparse
from torch import Tensor
from torch_geometric.transforms import BaseTransform

from dgb.data.formats.pyg_store import stores_of
from dgb.errors import DGBError
from dgb.views.augment import node_dropout, node_feature_dropout
from dgb.views.sparse import SparseMatrix, sparse_matrix

Data = Any  # torch_geometric's Data or HeteroData


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
                nodes.x = self._drop_from(nodes.x, _generator_on(nodes.x.device, self.generator))
        return data

    def _drop_from(self, x: Tensor, generator: torch.Generator) -> Tensor:
        given = x if x.layout == torch.strided else _sparse(x)
        kept = self._dropout(given, self.drop_rate, generator)
        dropped = _tensor(kept, x.layout) if isinstance(kept, SparseMatrix) else kept
        return dropped.to(x.dtype) if x.is_floating_point() else dropped

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
