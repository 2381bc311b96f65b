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
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from dgb.arrays import Array
from dgb.baselines.inputs import adj, as_dense, features, seeded
from dgb.baselines.learn import minimise
from dgb.data.graph import Graph
from dgb.model.encoder import GCNEncoder
from dgb.model.layers import glorot
from dgb.recipe import EncoderRecipe
from dgb.settings import setting
from dgb.views.product import product, times
from dgb.views.view import Rows, View


@dataclass(frozen=True)
class Settings:
    """Of DGI; the defaults are its paper's but for the limit on the epochs."""

    width: int = setting(512, "columns of a representation", low=1)
    batch_size: int = setting(0, "rows of H a step; 0 takes all at once", low=0)
    epochs: int = setting(150, "steps at most", low=0)
    learning_rate: float = setting(1e-3, "of Adam", low=0)
    weight_decay: float = setting(0.0, "of Adam", low=0)
    patience: int = setting(20, "steps without a smaller loss; 0 takes all", low=0)


class Discriminator(nn.Module):
    """D(h, s) = sigmoid(hᵀ M s), the probability that node and summary are of one graph."""

    def __init__(self, width: int) -> None:
        """Draw a Glorot weight."""
        super().__init__()
        self.weight = glorot(width, width, torch.default_generator)

    def forward(self, h: Tensor, summary: Tensor) -> Tensor:
        """Return a logit for every row of h."""
        return h @ (self.weight @ summary)


class DGI(nn.Module):
    """One encoder for both graphs, and the discriminator."""

    def __init__(self, num_features: int, width: int) -> None:
        """Draw the weights."""
        super().__init__()
        self.encoder = one_layer(num_features, width)
        self.discriminator = Discriminator(width)

    def loss(self, encode: "Pair") -> Tensor:
        """Return the loss of one step."""
        h, corrupted = encode(self.encoder)
        s = summarise_graph(h)
        return contrast(self.discriminator(h, s), self.discriminator(corrupted, s))


Pair = Callable[[GCNEncoder], tuple[Tensor, Tensor]]  # H of the graph and of the corrupted one


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
            yield [partial(_encode_rows, views=(a.rows(batch), b.rows(batch))) for a, b in both]


def encode_both(encoder: GCNEncoder, view: View, order: Tensor) -> tuple[Tensor, Tensor]:
    """Return H of one convolution, and H of the graph whose features are X[order]."""
    x, weight, sigma = view.x, encoder.weights[0], encoder.activations[0]
    inner = times(x, weight)
    corrupted = inner.index_select(0, order.to(inner.device))
    return sigma(product(view.operator, inner)), sigma(product(view.operator, corrupted))


def _encode_rows(
    encoder: GCNEncoder, views: tuple[View | Rows, View | Rows]
) -> tuple[Tensor, Tensor]:
    return encoder(views[0]), encoder(views[1])


def one_layer(num_features: int, width: int) -> GCNEncoder:
    """Return σ(P X W) with PReLU, drawn from torch's own generator."""
    return GCNEncoder(num_features, EncoderRecipe(width=width), torch.default_generator)


def summarise_graph(h: Tensor) -> Tensor:
    """Return s = sigmoid(mean of the rows), [width]."""
    return h.mean(0).sigmoid()


def contrast(positives: Tensor, negatives: Tensor) -> Tensor:
    """Return the binary cross-entropy of logits, both kinds with the same weight."""
    return (softplus(-positives).mean() + softplus(negatives).mean()) / 2


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return the representations H of all nodes."""
    p = adj(graph)
    view = View(features(graph), p)
    with seeded(seed):
        model = DGI(graph.num_features, settings.width).to(p.values.device)
        pairs = draw_pairs([view], settings.batch_size)
        minimise(model, lambda: model.loss(*next(pairs)), settings)
    with torch.no_grad():
        h: Array = model.encoder(view).cpu().numpy()
    return h
