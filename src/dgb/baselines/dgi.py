"""DGI (Veličković et al. 2019): nodes tell their own graph from one with exchanged features.

    H = σ(P X W),  H̃ = σ(P Π X W),  s = sigmoid(mean of the rows of H)
    D(h, s) = sigmoid(hᵀ M s),  loss = −½ (mean of log D(h, s) + mean of log(1 − D(h̃, s)))

where Π exchanges rows at random, again at every step. Taken from the paper: one convolution of 512
units with PReLU, Adam 1e-3, patience 20 on the loss, the weights with the smallest loss.
Decided: no bias, in the encoder and in D, as the equations have it (the release has both), and a
limit on the epochs; with `batch_size`, steps over batches of rows of P X and P Π X, with s
the summary of the batch and Π drawn again at every pass over the nodes: a step on Pubmed then costs
a tenth. On the whole graph X W is taken once: Π X W are its rows in another order.
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
from dgb.recipe import EncoderRecipe
from dgb.settings import setting
from dgb.views.product import product, times
from dgb.views.view import View


@dataclass(frozen=True)
class Settings(Schedule):
    """Of DGI; the defaults are its paper's but for the limit on the epochs."""

    width: int = setting(512, "columns of a representation", low=1)
    batch_size: int = setting(0, "rows of H a step; 0 takes all at once", low=0)
    epochs: int = setting(150, "steps at most", low=0)
    patience: int = setting(20, "steps without a smaller loss; 0 takes all", low=0)


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
