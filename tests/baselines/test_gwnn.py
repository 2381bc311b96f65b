"""GWNN: wavelets without an eigendecomposition, and the ψ of the paper and of the release."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse

from dgb.arrays import Array
from dgb.baselines.inputs import features, seeded
from dgb.baselines.spectral import GWNNSettings, WaveletLayer, draw_gwnn, make_wavelets
from dgb.data.graph import Graph
from tests.baselines.conftest import accuracy_of, dense_features


def test_learns(two_blocks: Graph) -> None:
    assert accuracy_of("gwnn", two_blocks, epochs=60) > 0.85


def dense_wavelets(graph: Graph, settings: GWNNSettings) -> tuple[Array, Array]:
    """Return ψ and ψ⁻¹ by the eigenvectors of the Laplacian."""
    a = graph.adjacency.toarray().astype(np.float64)
    degree = np.maximum(a.sum(1), 1)
    value, u = np.linalg.eigh(np.eye(len(a)) - a / np.sqrt(np.outer(degree, degree)))
    heat = np.exp(-settings.scale * value)
    g = np.exp(settings.scale * (value if settings.basis == "paper" else heat))
    return (u * g) @ u.T, (u * heat) @ u.T


@pytest.mark.parametrize("basis", ["paper", "release"])
@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_series_are_the_wavelets(basis: str, scale: float, two_blocks: Graph) -> None:
    settings = GWNNSettings(basis=basis, scale=scale)
    found, expected = make_wavelets(two_blocks, settings), dense_wavelets(two_blocks, settings)
    for operator, dense in zip(found, expected, strict=True):
        difference = operator.multiply(torch.eye(120)).numpy() - dense
        rounding = 1e-5 * np.abs(dense).max()
        assert np.linalg.norm(difference, 2) <= settings.error + 10 * rounding


@pytest.mark.parametrize("basis", ["paper", "release"])
def test_is_two_wavelet_layers(basis: str, two_blocks: Graph) -> None:
    settings = GWNNSettings(basis=basis, error=1e-6)
    with seeded(0):
        model = draw_gwnn(120, 40, 3, settings).eval()
        layers = [layer for layer in model.children() if isinstance(layer, WaveletLayer)]
        for layer in layers:
            torch.nn.init.normal_(layer.f)
    psi, inverse = (torch.from_numpy(m).float() for m in dense_wavelets(two_blocks, settings))

    def convolve(x: torch.Tensor, layer: WaveletLayer) -> torch.Tensor:
        return psi @ torch.diag(layer.f[:, 0]) @ inverse @ x @ layer.lin.weight

    h = convolve(dense_features(two_blocks), layers[0]).relu()
    expected = convolve(h, layers[1]).detach()
    found = model(features(two_blocks), make_wavelets(two_blocks, settings)).detach()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_only_the_basis_of_the_release_spreads_before_f_is_learnt(two_blocks: Graph) -> None:
    for basis, spreads in (("paper", False), ("release", True)):
        psi, inverse = make_wavelets(two_blocks, GWNNSettings(basis=basis, error=1e-6))
        both = psi.multiply(inverse.multiply(torch.eye(120)))
        assert (float((both - both.diag().diag()).abs().max()) > 1e-2) == spreads


def test_a_node_without_edges_keeps_its_own_features(two_blocks: Graph) -> None:
    a = two_blocks.adjacency.tolil()
    a[0], a[:, 0] = 0, 0
    graph = replace(two_blocks, adjacency=sparse.csr_array(a))
    column = make_wavelets(graph, GWNNSettings())[0].multiply(torch.eye(120)[:, :1])
    assert float(column[0]) == pytest.approx(np.exp(np.exp(-1)), abs=1e-3)
    assert not column[1:].any()
