"""Chebyshev filters (Defferrard et al. 2016) as Kipf and Welling (2017) compare with them.

A layer is Σ_k T_k(L̃) X W_k, k from 0 to the order K, with T_0 = 1, T_1 = x and
T_k = 2x T_{k−1} − T_{k−2}; L̃ = 2L / λ_max − I, where L = I − D^-½ A D^-½.

Taken from Kipf and Welling: two layers with 16 hidden units and ReLU, no bias, K of 2 or 3 as the
highest order (K + 1 weights a layer), dropout on the input of both layers, weight decay on the
first layer alone, 200 epochs. Decided: λ_max = 2, its bound, which a component of two nodes
attains, so L̃ = −D^-½ A D^-½; no early stop, the weights with the best validation accuracy are
kept; X W_k is taken first, since it is narrower than X.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from dgb.arrays import Array
from dgb.baselines.inputs import FeatureLinear
from dgb.baselines.learn import TwoLayers, TwoLayerSettings, train_classifier
from dgb.data.graph import Graph
from dgb.run.machine import choose_device
from dgb.settings import setting
from dgb.views.augment import Features
from dgb.views.operators import transition
from dgb.views.product import product
from dgb.views.sparse import SparseMatrix, sparse_matrix


@dataclass(frozen=True)
class Settings(TwoLayerSettings):
    """Of the Chebyshev filters; the defaults are those of Kipf and Welling."""

    order: int = setting(2, "K, the highest order of the polynomials", low=0)


class ChebyshevLayer(nn.Module):
    """Σ_k T_k(L̃) X̃ W_k, where X̃ is X after one dropout for all k."""

    def __init__(self, num_in: int, num_out: int, settings: Settings) -> None:
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


def draw_network(num_features: int, num_classes: int, settings: Settings) -> TwoLayers:
    """Return two layers with ReLU between them."""
    first = ChebyshevLayer(num_features, settings.hidden, settings)
    return TwoLayers(first, nn.ReLU(), ChebyshevLayer(settings.hidden, num_classes, settings))


def classify(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return a class for every node."""
    return train_classifier(graph, settings, seed, draw_network, scaled_laplacian(graph))
