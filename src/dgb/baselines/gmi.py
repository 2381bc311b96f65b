"""GMI (Peng et al. 2020): graphical mutual information between h_i and its support graph.

    max Σ_i Σ_{j ∈ N(i)} α w_ij I(h_i; x_j) + γ I(w_ij; a_ij),  N(i) with i itself,
    I(h_i; x_j) = −sp(−D(h_i, x_j)) − E_x'[sp(D(h_i, x'))],  D(h, x) = hᵀ W x,

where w_ij of the first term is 1 / |N(i)| (mean) or σ(h_iᵀ h_j) (adaptive), and I(w_ij; a_ij) is
minus the cross-entropy of σ(h_iᵀ h_j) with a_ij.

Taken from the paper: the equations. From the release, which has the mean alone: 512 columns,
PReLU, two layers on Cora and one elsewhere, 5 negatives x', Adam, γ = 1.
Decided: the pairs (h_i, x_j) of the paper, where the release compares h_i with a mean over
neighbors and weighs that by 1 and x_i by 0.8; for edges, in place of all n² pairs, the edges and
the random pairs (i, x'), a mean over each; no gradient through w_ij of the first term; 5e-3 for 100
steps, not 1e-3 for 550; N(i) is one step away whatever the number of layers; on large graphs a step
takes random i with all of N(i), x' among them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn.functional import softplus

from dgb.arrays import Array
from dgb.baselines.inputs import adj, as_dense, features, seeded
from dgb.baselines.learn import Schedule, embed, minimise
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.model.encoder import GCNEncoder
from dgb.model.layers import glorot
from dgb.recipe import EncoderRecipe
from dgb.settings import setting
from dgb.views.product import times
from dgb.views.sparse import SparseMatrix, lacks_csr, sparse_matrix
from dgb.views.view import View


@dataclass(frozen=True)
class Settings(Schedule):
    """Of GMI; width and negatives are its release's."""

    weights: str = setting("mean", "w_ij of the features", among=("mean", "adaptive"))
    width: int = setting(512, "columns of a representation", low=1)
    layers: int = setting(1, "graph convolutions", low=1)
    negatives: int = setting(5, "nodes x' for a node", low=1)
    alpha: float = setting(1.0, "weight of the mutual information of features", low=0)
    gamma: float = setting(1.0, "weight of the mutual information of edges", low=0)
    batch_size: int = setting(0, "nodes i a step; 0 takes all", low=0)
    learning_rate: float = setting(5e-3, "of Adam", low=0)


def support_of(graph: Graph) -> Any:
    """Return A + I, whose row i has the places of N(i)."""
    return sparse.csr_array(graph.adjacency + sparse.eye_array(graph.num_nodes, dtype=np.float32))


def draw_batch(support: Any, size: int, rng: np.random.Generator) -> tuple[Tensor, SparseMatrix]:
    """Return random nodes i, after them the rest of all N(i), and the rows i over these nodes."""
    chosen = rng.choice(support.shape[0], size, replace=False)
    rows = support[chosen]
    nodes = np.concatenate([chosen, np.setdiff1d(rows.indices, chosen)])
    return torch.from_numpy(nodes), sparse_matrix(rows[:, nodes])


class GMI(nn.Module):
    """The encoder of h and the W of D."""

    def __init__(self, num_features: int, settings: Settings) -> None:
        """Draw Glorot weights."""
        super().__init__()
        recipe = EncoderRecipe(settings.width, settings.layers, "prelu")
        self.encoder = GCNEncoder(num_features, recipe, torch.default_generator)
        self.discriminator = glorot(num_features, settings.width, torch.default_generator)

    def forward(self, view: View, nodes: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return h_i and W x_j as rows, whose products are D; None is all nodes."""
        x = view.x if nodes is None else as_dense(view.x)[nodes]
        return self.encoder(view.rows(nodes)), times(x, self.discriminator)


def information(
    h: Tensor, y: Tensor, support: SparseMatrix, negatives: SparseMatrix, is_adaptive: bool
) -> tuple[Tensor, Tensor]:
    """Return the mutual information of features and of edges; y_j = W x_j."""
    h_i, row, num_i = h[: support.shape[0]], support.pattern.row, support.shape[0]
    links, unlinked = (pair_scores(pairs, h_i, h) for pairs in (support, negatives))
    size = torch.bincount(row, minlength=num_i)
    # Without detach: the estimate of I(h_i; x_j) is never positive, so w_ij = 0 would be best.
    w = torch.sigmoid(links.detach()) if is_adaptive else 1 / size[row]
    total = torch.zeros(num_i, device=h.device).index_add(0, row, w)
    joint = -softplus(-pair_scores(support, h_i, y)) @ w
    apart = -softplus(pair_scores(negatives, h_i, y)).view(num_i, -1).mean(1) @ total
    is_edge = row != support.pattern.col
    edges = -softplus(-links[is_edge]).sum() / is_edge.sum().clamp(min=1)
    return (joint + apart) / num_i, edges - softplus(unlinked).mean()


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return h as rows."""
    size = settings.batch_size if settings.batch_size < graph.num_nodes else 0
    if size == 1:
        raise DGBError("gmi: batch_size must be 0 or at least 2, for x' is another node")
    if size and settings.layers > 1:
        raise DGBError("gmi: batch_size needs layers = 1, for only P X can be cut into rows")
    view, support = View(features(graph), adj(graph)), support_of(graph)
    device = view.x.device
    if size:  # a step takes rows of P X
        view = View(as_dense(view.x), view.operator).propagate()
    whole = sparse_matrix(support, is_symmetric=True)
    with seeded(seed) as rng:
        model = GMI(graph.num_features, settings).to(device)

        def loss() -> Tensor:
            nodes, near = draw_batch(support, size, rng) if size else (None, whole)
            far = random_pairs(near.shape, settings.negatives, rng).to(device)
            h, y = model(view, nodes)
            parts = information(h, y, near.to(device), far, settings.weights == "adaptive")
            return -settings.alpha * parts[0] - settings.gamma * parts[1]

        minimise(model, loss, settings)
    return embed(model.encoder, view)


class _PairScores(torch.autograd.Function):
    """Scores of pairs; gathering rows for them would take twenty times as long on a CPU."""

    @staticmethod
    def forward(ctx: Any, pairs: SparseMatrix, left: Tensor, right: Tensor) -> Tensor:
        ctx.pairs = pairs
        ctx.save_for_backward(left, right)
        if lacks_csr(left):
            return (left[pairs.pattern.row] * right[pairs.pattern.col.long()]).sum(1)
        scores: Tensor = torch.sparse.sampled_addmm(pairs.csr, left, right.T, beta=0)
        return scores.values()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, Tensor]:
        left, right = ctx.saved_tensors
        pairs = ctx.pairs.with_values(grad.contiguous())
        return None, pairs.multiply(right), pairs.multiply_transposed(left)


def pair_scores(pairs: SparseMatrix, left: Tensor, right: Tensor) -> Tensor:
    """Return left_i · right_j for the places (i, j) of the pairs, in their order."""
    scores: Tensor = _PairScores.apply(pairs, left, right)  # type: ignore[no-untyped-call]
    return scores


def random_pairs(shape: tuple[int, int], count: int, rng: np.random.Generator) -> SparseMatrix:
    """Return `count` pairs (i, x') for every i, where x' is another i."""
    row = np.arange(shape[0]).repeat(count)
    col = (row + rng.integers(1, shape[0], len(row))) % shape[0]
    start = np.arange(0, len(row) + 1, count)
    return sparse_matrix(sparse.csr_array((np.ones(len(row), np.float32), col, start), shape))
