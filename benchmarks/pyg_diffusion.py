"""PPR by PyG's GDC: the exact inverse, and the push algorithm (numba) that approximates it.

T has no self-loops and S is not normalised once more, so that all contenders make the S of Eq. 6.
"""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import GDC
from torch_geometric.utils import from_scipy_sparse_matrix

Apply = Callable[[Tensor], Tensor]
PLAIN = {"self_loop_weight": None, "normalization_in": "sym", "normalization_out": None}


def exact(adjacency: Any, alpha: float) -> Apply:
    """Return the product with the dense S that GDC inverts, before it is sparsified."""
    gdc = GDC(**PLAIN, diffusion_kwargs={"method": "ppr", "alpha": alpha})
    data = _data(adjacency)
    ones = torch.ones(data.edge_index.shape[1])
    num_nodes = adjacency.shape[0]
    edges = gdc.transition_matrix(data.edge_index, ones, num_nodes, "sym")
    s = gdc.diffusion_matrix_exact(*edges, num_nodes, method="ppr", alpha=alpha)
    return lambda x: torch.as_tensor(s @ x)


def exact_top_k(adjacency: Any, alpha: float, k: int) -> Apply:
    """Return the product with the k largest entries of each row of GDC's S."""
    gdc = GDC(
        **PLAIN,
        diffusion_kwargs={"method": "ppr", "alpha": alpha},
        sparsification_kwargs={"method": "topk", "k": k, "dim": 1},
    )
    return _product(gdc(_data(adjacency)))


def push(adjacency: Any, alpha: float, eps: float) -> Apply:
    """Return the product with the S that GDC's push algorithm finds."""
    return _product(_push(_data(adjacency), alpha, eps))


def compile_push() -> float:
    """Return the seconds that numba takes to compile the push algorithm, once a process."""
    start = time.perf_counter()
    _push(Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2), 0.5, 0.1)
    return round(time.perf_counter() - start, 2)


def _push(data: Data, alpha: float, eps: float) -> Data:
    gdc = GDC(
        **PLAIN,
        diffusion_kwargs={"method": "ppr", "alpha": alpha, "eps": eps},
        sparsification_kwargs={"method": "threshold", "eps": 0.0},  # nothing more is dropped
        exact=False,
    )
    return gdc(data)


def _data(adjacency: Any) -> Data:
    edge_index, _ = from_scipy_sparse_matrix(adjacency)
    return Data(edge_index=edge_index.long(), num_nodes=adjacency.shape[0])


def _product(data: Data) -> Apply:
    size = (data.num_nodes, data.num_nodes)
    s = torch.sparse_coo_tensor(data.edge_index, data.edge_attr.float(), size).to_sparse_csr()
    return lambda x: torch.as_tensor(s @ x)
