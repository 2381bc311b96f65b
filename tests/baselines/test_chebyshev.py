"""Chebyshev filters: the polynomials of L̃, as PyG has them, and K as an order, not a count."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import ChebConv
from torch_geometric.utils import from_scipy_sparse_matrix

from dgb.baselines.inputs import features, seeded
from dgb.baselines.spectral import ChebyshevLayer, ChebyshevSettings, clenshaw, scaled_laplacian
from dgb.data.graph import Graph
from tests.baselines.conftest import accuracy_of, dense_features


def test_learns(two_blocks: Graph) -> None:
    assert accuracy_of("chebyshev", two_blocks, epochs=60) > 0.85


@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
def test_sums_polynomials_of_the_scaled_laplacian(order: int, two_blocks: Graph) -> None:
    a = two_blocks.adjacency.toarray().astype(np.float64)
    degree = a.sum(1)
    laplacian = np.eye(120) - a / np.sqrt(np.outer(degree, degree))
    value, vector = np.linalg.eigh(laplacian - np.eye(120))  # 2L / λ_max − I with λ_max = 2
    y = torch.randn(order + 1, 120, 3, generator=torch.Generator().manual_seed(0))
    angle = np.arccos(value.clip(-1, 1))
    expected = sum(
        (vector * np.cos(k * angle)) @ vector.T @ y[k].double().numpy() for k in range(order + 1)
    )
    found = clenshaw(scaled_laplacian(two_blocks), list(y))
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_is_the_layer_of_pyg_with_one_term_more(order: int, two_blocks: Graph) -> None:
    with seeded(0):
        layer = ChebyshevLayer(40, 4, ChebyshevSettings(order=order)).eval()
    pyg = ChebConv(40, 4, K=order + 1, bias=False)
    for k, lin in enumerate(pyg.lins):
        lin.weight.data = layer.lin.weight.data[:, 4 * k : 4 * k + 4].T.contiguous()
    expected = pyg(dense_features(two_blocks), from_scipy_sparse_matrix(two_blocks.adjacency)[0])
    found = layer(features(two_blocks), scaled_laplacian(two_blocks))
    np.testing.assert_allclose(found.detach(), expected.detach(), atol=1e-5)


def test_gradient_of_the_recurrence(two_blocks: Graph) -> None:
    laplacian = scaled_laplacian(two_blocks)
    dense = laplacian.dense()
    y = torch.randn(4, 120, 2, generator=torch.Generator().manual_seed(0)).requires_grad_()
    (found,) = torch.autograd.grad(clenshaw(laplacian, list(y)).square().sum(), y)
    t = [torch.eye(120), dense]
    for _ in range(2):
        t.append(2 * dense @ t[-1] - t[-2])
    total = torch.stack([t[k] @ y[k] for k in range(4)]).sum(0)
    (expected,) = torch.autograd.grad(total.square().sum(), y)
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_each_order_has_a_glorot_weight_of_its_own() -> None:
    with seeded(0):
        weight = ChebyshevLayer(40, 8, ChebyshevSettings(order=3)).lin.weight.detach()
    bound = (6 / (40 + 8)) ** 0.5
    for k in range(4):
        part = weight[:, 8 * k : 8 * k + 8]
        assert 0.9 * bound < float(part.abs().max()) <= bound
