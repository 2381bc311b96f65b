"""DGI (Veličković et al. 2019): nodes tell their own graph from one with exchanged features.

    H = σ(P X W),  H̃ = σ(P Π X W),  s = sigmoid(mean of the rows of H)
    D(h, s) = sigmoid(hᵀ M s),  loss = −½ (mean of log D(h, s) + mean of log(1 − D(h̃, s)))

where Π exchanges rows at random, again at every step. Taken from the paper: one convolution of 512
units with PReLU, Adam 1e-3, patience 20 on the loss, the weights with the smallest loss.
Decided: no bias, in the encoder and in D, as the equations have it (the release has both), and a
limit on the epochs; with `batch_size`, steps over batches of rows of P X and P Π X, with s
the summary of the batch and Π drawn again at every pass over the nodes: a step on Pubmed then costs
a tenth. On the whole graph X W is taken once: Π X W are its rows in another order.

MVGRL (Hassani and Khasahmadi 2020): the nodes of one view know the summary of the other.

    H_a = σ(P X W_a),  H_d = σ(S X W_d),  s_v = sigmoid(mean of the rows of H_v)
    loss = BCE of D(h_d, s_a) and D(h_a, s_d) against the same with H̃ in the place of H

where S is personalised PageRank, and Π is alike in both views; the representation is H_a + H_d.
Taken from the release: PPR with alpha 0.2 over A + I, an encoder for each view with the units, rate
and patience of DGI's, no head before the readout, one D for both directions. Decided: whole graphs,
or rows of them, instead of the subgraphs of 2000 nodes that the release draws because its S is
dense (ours is never built, so nodes keep all their neighbors); no bias; features in rows that add
up to one on all graphs; a limit on the epochs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from dgb.arrays import Array
from dgb.baselines.inputs import adj, as_dense, features, seeded
from dgb.baselines.learn import Schedule, embed, minimise
from dgb.data.graph import Graph
from dgb.model.encoder import GCNEncoder
from dgb.model.layers import glorot
from dgb.recipe import DiffusionRecipe, EncoderRecipe
from dgb.settings import setting
from dgb.views.operators import make_diff
from dgb.views.product import product, times
from dgb.views.view import View


@dataclass(frozen=True)
class Settings(Schedule):
    """Of DGI; the defaults are its paper's but for the limit on the epochs."""

    width: int = setting(512, "columns of a representation", low=1)
    batch_size: int = setting(0, "rows of H a step; 0 takes all at once", low=0)
    epochs: int = setting(150, "steps at most", low=0)
    patience: int = setting(20, "steps without a smaller loss; 0 takes all", low=0)


@dataclass(frozen=True)
class MVGRLSettings(Settings):
    """Of MVGRL; the defaults are its release's but for the limit on the epochs and the error."""

    alpha: float = setting(0.2, "teleport probability of PPR", low=1e-4, high=1)
    error: float = setting(1e-2, "of S, spectral norm", low=1e-6, high=0.5)
    epochs: int = setting(80, "steps at most", low=0)


Pair = Callable[[Any], tuple[Tensor, Tensor]]  # H of the graph and of the corrupted one


class Infomax(nn.Module):
    """An encoder for each view, the same for its corrupted graph, and M of the discriminator."""

    def __init__(self, num_features: int, width: int, num_views: int = 1) -> None:
        """Draw the weights from torch's own generator."""
        super().__init__()
        draw, recipe = torch.default_generator, EncoderRecipe(width, activation="prelu")
        encoders = (GCNEncoder(num_features, recipe, draw) for _ in range(num_views))
        self.encoders = nn.ModuleList(encoders)
        self.discriminator = glorot(width, width, draw)

    def loss(self, *encode: Pair) -> Tensor:
        """Return the loss of one step, the nodes of each of two views with the other's summary."""
        both = [pair(encoder) for pair, encoder in zip(encode, self.encoders, strict=True)]
        summaries = [summarise_graph(h) for h, _ in both]
        losses = []
        for i in reversed(range(len(both))):
            # Before the first view is the last one, which is the view itself where it is alone.
            logits = (h @ (self.discriminator @ summaries[i - 1]) for h in both[i])
            losses.append(contrast(*logits))
        return torch.stack(losses).mean()

    def forward(self, views: Sequence[View]) -> Tensor:
        """Return H, the sum over the views."""
        parts = [encode(view) for encode, view in zip(self.encoders, views, strict=True)]
        h: Tensor = reduce(torch.add, parts)
        return h


def draw_pairs(views: Sequence[View], batch_size: int) -> Iterator[list[Pair]]:
    """Yield a pair for each view at every step, corrupted alike; 0 takes all nodes at once."""
    num_nodes = views[0].x.shape[0]
    if 0 < batch_size < num_nodes:
        yield from _row_batches(views, round(num_nodes / batch_size))
    while True:
        order = torch.randperm(num_nodes)
        yield [partial(encode_both, view=view, order=order) for view in views]


def _row_batches(views: Sequence[View], count: int) -> Iterator[list[Pair]]:
    x = as_dense(views[0].x)
    clean = [view.propagate() for view in views]
    while True:
        order, nodes = torch.randperm(len(x)), torch.randperm(len(x))
        shuffled = x.index_select(0, order.to(x.device))
        corrupted = [View(shuffled, view.operator).propagate() for view in views]
        both = list(zip(clean, corrupted, strict=True))
        for batch in nodes.to(x.device).tensor_split(count):
            rows = [(a.rows(batch), b.rows(batch)) for a, b in both]
            yield [partial(GCNEncoder.encode_both, view1=a, view2=b) for a, b in rows]


def encode_both(encoder: GCNEncoder, view: View, order: Tensor) -> tuple[Tensor, Tensor]:
    """Return H of one convolution, and H of the graph whose features are X[order]."""
    inner, sigma = times(view.x, encoder.weights[0]), encoder.activations[0]
    corrupted = inner.index_select(0, order.to(inner.device))
    return sigma(product(view.operator, inner)), sigma(product(view.operator, corrupted))


def summarise_graph(h: Tensor) -> Tensor:
    """Return s = sigmoid(mean of the rows), [width]."""
    return h.mean(0).sigmoid()


def contrast(positives: Tensor, negatives: Tensor) -> Tensor:
    """Return the binary cross-entropy of logits, both kinds with the same weight."""
    return (softplus(-positives).mean() + softplus(negatives).mean()) / 2


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return the representations H of all nodes."""
    return learn_views([View(features(graph), adj(graph))], settings, seed)


def learn_views(views: Sequence[View], settings: Settings, seed: int) -> Array:
    """Return H, the sum over the views, after training on one or two of them."""
    x = views[0].x
    with seeded(seed):
        model = Infomax(x.shape[1], settings.width, len(views)).to(x.device)
        pairs = draw_pairs(views, settings.batch_size)
        minimise(model, lambda: model.loss(*next(pairs)), settings)
    return embed(model, views)


def make_view_pair(graph: Graph, settings: MVGRLSettings) -> tuple[View, View]:
    """Return the same features over the adjacency and over the diffusion."""
    x, p = features(graph), adj(graph)
    recipe = DiffusionRecipe(alpha=settings.alpha, error=settings.error, self_loops=True)
    return View(x, p), View(x, make_diff(graph.adjacency, recipe).to(p.values.device))


def represent_both(graph: Graph, settings: MVGRLSettings, seed: int) -> Array:
    """Return the representations H_a + H_d of all nodes."""
    return learn_views(make_view_pair(graph, settings), settings, seed)
