"""Planetoid-T (Yang, Cohen and Salakhutdinov 2016): features and an embedding that knows contexts.

    p(y | x_i, e_i) = softmax([h(x_i), h(e_i)] W_y),    L_u = −Σ log σ(γ w_c · e_i)
A context c of node i is (γ = 1) a node of a walk at most `window` steps from i, or a train node of
the class of i; or (γ = −1) any node, or a train node of another class.
Taken: the losses; embedding 50, window 3, walks of 10 nodes. From its release: contexts by label
first, then by graph, both with SGD on a sum, so that the classes spread from the train nodes into
vectors that are still near zero; h is a layer with softmax and a unit per class; h(x) and h(e) have
a loss of their own, or the features learn nothing once embeddings tell the train nodes apart.
Decided: negative sampling as in the paper, where the release's default is a full softmax, with
negatives shared by a batch of walks; a place of a walk is not a context of itself, but a node that
the walk comes back to is; Adam for the layers; dropout; feature rows of length one; supervised
steps leave the embeddings as they are, where the release moves them: with Adam on contexts that
lost 9 and 12 points of validation accuracy on Cora and Citeseer (one seed; not tried again with
SGD). Weights with the best validation accuracy are kept.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.preprocessing import normalize
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, embedding, logsigmoid, softmax

from dgb.arrays import Array
from dgb.baselines.deepwalk import SkipGram, batch_size, draw_walks, pair_weights
from dgb.baselines.inputs import FeatureLinear, seeded
from dgb.baselines.learn import Labels, Schedule, keep_best, labelled_nodes, step
from dgb.data.graph import Graph
from dgb.model.layers import Adam
from dgb.run.machine import choose_device
from dgb.settings import setting
from dgb.terminal import progress_bar
from dgb.views.augment import Features
from dgb.views.features import to_features

SHARED_NEGATIVES = 256  # few would each take the steps of all pairs of a batch, and diverge
LABEL_PAIRS = 1000  # of a step


@dataclass(frozen=True)
class Settings(Schedule):
    """Of Planetoid-T."""

    dim: int = setting(50, "of an embedding", low=1)
    window: int = setting(3, "steps between a node and its context at most", low=1)
    length: int = setting(10, "nodes of a walk", low=2)
    negatives: int = setting(5, "per pair, in expectation", low=1)
    batch_size: int = setting(100, "walks of a step", low=1)
    label_steps: int = setting(200, "by label contexts, before all others", low=0)
    walks: int = setting(10, "per node before the first supervised step", low=0)
    context_rate: float = setting(0.01, "of SGD on contexts", low=0)
    dropout: float = setting(0.5, "of features and embeddings", low=0, high=0.95)
    epochs: int = setting(150, "a supervised step and one by graph contexts each, at most", low=0)
    learning_rate: float = setting(0.05, "of Adam in supervised steps", low=0)
    weight_decay: float = setting(1e-4, "of the layers", low=0)
    patience: int = setting(50, "epochs without a better validation; 0 takes all", low=0)


def classify(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return a class for every node; both losses are learnt in turn."""
    labels = labelled_nodes(graph, choose_device("auto"))
    device, truth = labels.y.device, labels.y[labels.train]
    x = to_features(normalize(graph.x)).to(device)
    with seeded(seed) as rng:
        model = Planetoid(graph, labels.num_classes, settings).to(device)
        learn_contexts = learn_labels_first(model, graph, labels, rng)
        learnt = [p for layer in (model.h_x, model.h_e, model.w_y) for p in layer.parameters()]
        rate, decay = settings.learning_rate, settings.weight_decay
        adam = Adam(learnt, rate, weight_decay=decay, fused=True)

        def take_step() -> None:
            learn_contexts()
            losses = [cross_entropy(z[labels.train], truth) for z in model.logits(x)]
            step(adam, torch.stack(losses).sum())

        return labels.names(keep_best(model, (x,), take_step, labels, settings))


class Planetoid(nn.Module):
    """A classifier over features and embeddings, and the context vectors of these."""

    def __init__(self, graph: Graph, num_classes: int, settings: Settings) -> None:
        """Draw the weights."""
        super().__init__()
        self.settings = settings
        weights = (pair_weights(settings.length, settings.window) > 0).float()  # all pairs alike
        self.skip_gram = SkipGram(graph.num_nodes, settings.dim, weights, settings.negatives)
        self.h_x = FeatureLinear(graph.num_features, num_classes, settings.dropout, bias=True)
        self.h_e = nn.Linear(settings.dim, num_classes)
        self.w_y = nn.Linear(2 * num_classes, num_classes)

    def forward(self, x: Features) -> Tensor:
        """Return the logits of all nodes, [num_nodes, num_classes]."""
        return self.logits(x)[0]

    def logits(self, x: Features) -> tuple[Tensor, Tensor, Tensor]:
        """Return the logits, and those by the features and by the embeddings alone."""
        e = dropout(self.skip_gram.centre.detach(), self.settings.dropout, self.training)
        by_x, by_e = self.h_x(x), self.h_e(e)
        return self.w_y(torch.cat([softmax(by_x, 1), softmax(by_e, 1)], 1)), by_x, by_e

    def graph_loss(self, walks: Tensor, negatives: Tensor) -> Tensor:
        """Return L_u of all pairs within the window of walks."""
        weights = self.skip_gram.get_buffer("weights")
        mean: Tensor = self.skip_gram(walks, negatives)
        return mean * len(walks) * weights.sum()

    def label_loss(self, node: Tensor, context: Tensor, sign: Tensor) -> Tensor:
        """Return L_u of pairs of train nodes."""
        e, w = embedding(node, self.skip_gram.centre), embedding(context, self.skip_gram.context)
        return -logsigmoid(sign * (e * w).sum(1)).sum()


def learn_labels_first(
    model: Planetoid, graph: Graph, labels: Labels, rng: np.random.Generator
) -> Callable[[], None]:
    """Learn contexts by label, then by graph; return what takes another step by graph."""
    settings, device = model.settings, labels.y.device
    size = batch_size(settings.walks * graph.num_nodes, settings.batch_size)
    sgd = torch.optim.SGD(model.skip_gram.parameters(), settings.context_rate)
    train, y = labels.train.cpu().numpy(), labels.y[labels.train].cpu().numpy()
    for _ in range(settings.label_steps):
        pairs = label_pairs(train, y, LABEL_PAIRS, rng)
        step(sgd, model.label_loss(*(torch.from_numpy(part).to(device) for part in pairs)))

    def by_graph() -> None:
        starts = rng.integers(graph.num_nodes, size=size)
        walks = draw_walks(graph.adjacency, starts, settings.length, rng)
        others = torch.from_numpy(rng.integers(graph.num_nodes, size=SHARED_NEGATIVES))
        step(sgd, model.graph_loss(torch.from_numpy(walks).to(device), others.to(device)))

    steps = settings.walks * graph.num_nodes // size
    for _ in progress_bar(range(steps), "contexts", unit="step"):
        by_graph()
    return by_graph


def label_pairs(
    train: Array, y: Array, size: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Return pairs of train nodes, every second one of the same class and others of two classes."""
    order = np.argsort(y, kind="stable")
    count = np.bincount(y)
    start = np.cumsum(count) - count
    i = rng.integers(len(y), size=size)
    sign = np.where(np.arange(size) % 2, -1, 1)
    same, own = sign > 0, count[y[i]]
    # Sorted by class, and read as a circle, the other classes follow a node's own.
    room = np.where(same, own, len(y) - own)
    place = start[y[i]] + np.where(same, 0, own) + rng.integers(room)
    return train[i], train[order[place % len(y)]], sign
