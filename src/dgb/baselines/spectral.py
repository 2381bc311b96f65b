"""Two layers that filter by the spectrum of the Laplacian: Chebyshev polynomials and wavelets.

Chebyshev filters (Defferrard et al. 2016) as Kipf and Welling (2017) compare with them.

A layer is Σ_k T_k(L̃) X W_k, k from 0 to the order K, with T_0 = 1, T_1 = x and
T_k = 2x T_{k−1} − T_{k−2}; L̃ = 2L / λ_max − I, where L = I − D^-½ A D^-½.

Taken from Kipf and Welling: two layers with 16 hidden units and ReLU, no bias, K of 2 or 3 as the
highest order (K + 1 weights a layer), dropout on the input of both layers, weight decay on the
first layer alone, 200 epochs. Decided: λ_max = 2, its bound, which a component of two nodes
attains, so L̃ = −D^-½ A D^-½; no early stop, the weights with the best validation accuracy are
kept; X W_k is taken first, since it is narrower than X.

GWNN (Xu et al. 2019): X' = σ(ψ F ψ⁻¹ X W), a graph convolution in the basis of wavelets.

ψ = U diag(e^{sλ}) Uᵀ and ψ⁻¹ = U diag(e^{−sλ}) Uᵀ, where U and λ are of L = I − D^-½ A D^-½;
F is a learnt diagonal, one number a node. X W comes first, then the convolution.

With F = I, where it starts, ψ F ψ⁻¹ is the identity: no feature travels over an edge until F is
learnt. The release has another ψ: it makes ψ⁻¹ first, which overwrites λ by e^{−sλ}, then ψ from
what is there, U diag(exp(s e^{−sλ})) Uᵀ. That smooths, and is not an inverse. `basis` chooses: with
the settings below Cora's validation accuracy is 44 % with the paper's ψ and 80 % with the other
(two seeds, nothing dropped by a threshold).

Taken from the release: F starts at 1, two layers with 16 hidden units, ReLU and no bias, dropout
on the input of both layers, weight decay on the first layer with its F, the scales s, and by
default its ψ. Decided: ψ and ψ⁻¹ are Chebyshev series in D^-½ A D^-½, cut at `error`, where the
release builds both in full and drops entries below a threshold; a node without edges has λ = 1.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from dgb.arrays import Array
from dgb.baselines.inputs import FeatureLinear
from dgb.baselines.learn import TwoLayers, TwoLayerSettings, train_classifier
from dgb.data.graph import Graph
from dgb.run.machine import choose_device
from dgb.settings import setting
from dgb.views.augment import Features
from dgb.views.diffusion import Diffusion
from dgb.views.operators import transition
from dgb.views.product import product
from dgb.views.sparse import SparseMatrix, sparse_matrix

DEGREE = 50  # of the series before the cut; for s up to 5 what it leaves out is rounding
POINTS = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))  # where it is exact


@dataclass(frozen=True)
class ChebyshevSettings(TwoLayerSettings):
    """Of the Chebyshev filters; the defaults are those of Kipf and Welling."""

    order: int = setting(2, "K, the highest order of the polynomials", low=0)


class ChebyshevLayer(nn.Module):
    """Σ_k T_k(L̃) X̃ W_k, where X̃ is X after one dropout for all k."""

    def __init__(self, num_in: int, num_out: int, settings: ChebyshevSettings) -> None:
        """Draw a Glorot weight for every order, side by side in one matrix."""
        super().__init__()
        self.num_out = num_out
        self.lin = FeatureLinear(num_in, (settings.order + 1) * num_out, settings.dropout)
        for k in range(settings.order + 1):
            nn.init.xavier_uniform_(self.lin.weight.data[:, k * num_out : (k + 1) * num_out])

    def forward(self, x: Features, laplacian: SparseMatrix) -> Tensor:
        """Return a row per node."""
        y = self.lin(x).split(self.num_out, 1)
        return clenshaw(laplacian, [part.contiguous() for part in y])


def clenshaw(laplacian: SparseMatrix, y: list[Tensor]) -> Tensor:
    """Return Σ_k T_k(L̃) y_k with one product an order: b_k = y_k + 2 L̃ b_{k+1} − b_{k+2}."""
    *rest, now = y
    after = None  # b_{k+2}, at first none
    for k in reversed(range(len(rest))):
        b = rest[k] + (2 if k else 1) * product(laplacian, now)
        now, after = (b if after is None else b - after), now
    return now


def scaled_laplacian(graph: Graph) -> SparseMatrix:
    """Return L̃ with λ_max = 2 on the device."""
    t_sym, _ = transition(graph.adjacency, self_loops=False, dtype="float32")
    return sparse_matrix(-t_sym, is_symmetric=True).to(choose_device("auto"))


def draw_chebyshev(num_features: int, num_classes: int, settings: ChebyshevSettings) -> TwoLayers:
    """Return two layers with ReLU between them."""
    first = ChebyshevLayer(num_features, settings.hidden, settings)
    return TwoLayers(first, nn.ReLU(), ChebyshevLayer(settings.hidden, num_classes, settings))


def classify_chebyshev(graph: Graph, settings: ChebyshevSettings, seed: int) -> Array:
    """Return a class for every node."""
    return train_classifier(graph, settings, seed, draw_chebyshev, scaled_laplacian(graph))


@dataclass(frozen=True)
class GWNNSettings(TwoLayerSettings):
    """Of GWNN; the defaults are its release's on Cora, but for the epochs."""

    scale: float = setting(1.0, "s, how far wavelets reach", low=0, high=5)
    basis: str = setting("release", "which ψ goes with ψ⁻¹", among=("release", "paper"))
    error: float = setting(1e-4, "of ψ and ψ⁻¹ at most, in the spectral norm", low=1e-7)
    patience: int = setting(100, "epochs without a better validation; 0 takes all", low=0)


Wavelets = tuple[Diffusion, Diffusion]  # ψ and ψ⁻¹


class WaveletLayer(nn.Module):
    """ψ F ψ⁻¹ X̃ W, where X̃ is X after dropout."""

    def __init__(self, num_nodes: int, num_in: int, num_out: int, drop_rate: float) -> None:
        """Draw a Glorot weight and set F to the identity."""
        super().__init__()
        self.lin = FeatureLinear(num_in, num_out, drop_rate)
        self.f = nn.Parameter(torch.ones(num_nodes, 1))

    def forward(self, x: Features, wavelets: Wavelets) -> Tensor:
        """Return a row per node."""
        psi, inverse = wavelets
        return product(psi, self.f * product(inverse, self.lin(x)))


def draw_gwnn(
    num_nodes: int, num_features: int, num_classes: int, settings: GWNNSettings
) -> TwoLayers:
    """Return two layers with ReLU between them."""
    sizes, rate = (num_features, settings.hidden, num_classes), settings.dropout
    first, second = (WaveletLayer(num_nodes, *pair, rate) for pair in pairwise(sizes))
    return TwoLayers(first, nn.ReLU(), second)


def make_wavelets(graph: Graph, settings: GWNNSettings) -> Wavelets:
    """Return ψ and ψ⁻¹ on the device, as series in T = D^-½ A D^-½, so that λ = 1 − t."""
    t_sym, _ = transition(graph.adjacency, self_loops=False, dtype="float32")
    t = sparse_matrix(t_sym, is_symmetric=True).to(choose_device("auto"))
    inverse = np.exp(-settings.scale * (1 - POINTS))
    psi = np.exp(settings.scale * inverse) if settings.basis == "release" else 1 / inverse
    made = [Diffusion(t, series(values, settings.error), None) for values in (psi, inverse)]
    return made[0], made[1]


def series(values: Array, error: float) -> tuple[float, ...]:
    """Return Chebyshev coefficients by values at POINTS, without a tail that adds up to `error`."""
    coefficients = np.polynomial.chebyshev.chebfit(POINTS, values, DEGREE)
    tail = np.cumsum(np.abs(coefficients[::-1]))[::-1]
    return tuple(coefficients[: max(1, int((tail > error).sum()))].tolist())


def classify_gwnn(graph: Graph, settings: GWNNSettings, seed: int) -> Array:
    """Return a class for every node."""
    draw = partial(draw_gwnn, graph.num_nodes)
    return train_classifier(graph, settings, seed, draw, make_wavelets(graph, settings))
