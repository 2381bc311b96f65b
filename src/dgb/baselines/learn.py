"""The loops of the methods: Adam on a loss, and from labels, where validation nodes choose."""

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from dgb.arrays import Array
from dgb.baselines.inputs import features, seeded
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.model.layers import Adam
from dgb.settings import setting
from dgb.terminal import progress_bar
from dgb.views.augment import Features


@dataclass(frozen=True)
class Schedule:
    """The settings that every method with a loop has; many have defaults of their own."""

    epochs: int = setting(100, "steps at most", low=0)
    learning_rate: float = setting(1e-3, "of Adam", low=0)
    weight_decay: float = setting(0.0, "of Adam", low=0)
    patience: int = setting(0, "steps without a smaller loss; 0 takes all", low=0)


def minimise(
    model: nn.Module,
    loss: Callable[[], Tensor],
    schedule: Schedule,
    after_step: Callable[[int], None] = lambda _: None,
) -> None:
    """Train the model in place; with patience, its weights end at the smallest loss."""
    learnt = [p for p in model.parameters() if p.requires_grad]
    decay = schedule.weight_decay
    adam = Adam(learnt, schedule.learning_rate, weight_decay=decay, fused=True)
    best, best_epoch, kept = math.inf, 0, model.state_dict()
    model.train()
    for epoch in progress_bar(range(schedule.epochs), "train", unit="epoch"):
        value = loss()
        if schedule.patience and value.item() < best:  # kept before the step, with this loss
            best, best_epoch, kept = value.item(), epoch, deepcopy(model.state_dict())
        step(adam, value)
        after_step(epoch)
        if 0 < schedule.patience <= epoch - best_epoch:
            break
    model.load_state_dict(kept)
    model.eval()


def step(optimizer: Any, loss: Tensor) -> None:
    """Take one step, refusing a loss that is not a number any more."""
    if not math.isfinite(loss.item()):
        raise DGBError(f"the loss became {loss.item()}; lower the method's learning_rate")
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()


@torch.no_grad()
def embed(encode: Callable[..., Tensor], *inputs: Any) -> Array:
    """Return what a trained encoder makes of the whole graph."""
    rows: Array = encode(*inputs).cpu().numpy()
    return rows


@dataclass(frozen=True, eq=False)
class Labels:
    """Train and validation nodes, and their classes counted from 0."""

    train: Tensor
    validation: Tensor
    y: Tensor  # [num_nodes], -1 where no train node has the class or it is not known
    classes: Array  # what the graph calls class 0, 1, …

    @property
    def num_classes(self) -> int:
        """Classes that the train nodes have."""
        return len(self.classes)

    def names(self, scores: Tensor) -> Array:
        """Return what the graph calls the class with the highest score, a node a row."""
        named: Array = self.classes[scores.argmax(1).cpu().numpy()]
        return named


def labelled_nodes(graph: Graph, device: torch.device) -> Labels:
    """Return the labels of the graph's split; its test nodes have none to give."""
    assert graph.labels is not None
    split = graph.splits[0]
    classes = np.unique(graph.labels[split.train])
    place = np.searchsorted(classes, graph.labels).clip(max=len(classes) - 1)
    y = torch.from_numpy(np.where(classes[place] == graph.labels, place, -1))
    train, validation = (torch.from_numpy(part) for part in (split.train, split.validation))
    return Labels(train.to(device), validation.to(device), y.to(device), classes)


@dataclass(frozen=True)
class TwoLayerSettings(Schedule):
    """The settings of two layers that learn from labels; the defaults are Kipf and Welling's."""

    hidden: int = setting(16, "units of the hidden layer", low=1)
    dropout: float = setting(0.5, "of the input of each layer", low=0, high=0.95)
    epochs: int = setting(200, "at most", low=0)
    learning_rate: float = setting(0.01, "of Adam", low=0)
    weight_decay: float = setting(5e-4, "of the first layer", low=0)


class TwoLayers(nn.Module):
    """Two layers over the same operator, with what comes between them."""

    def __init__(self, first: nn.Module, between: nn.Module, second: nn.Module) -> None:
        """Take layers whose weights are drawn."""
        super().__init__()
        self.first, self.between, self.second = first, between, second

    def forward(self, x: Features, operator: Any) -> Tensor:
        """Return the logits of all nodes, [num_nodes, num_classes]."""
        out: Tensor = self.second(self.between(self.first(x, operator)), operator)
        return out


def train_classifier(
    graph: Graph,
    schedule: Schedule,
    seed: int,
    draw: Callable[[int, int, Any], Any],
    operator: Any,
) -> Array:
    """Return a class for every node by a network over its features and an operator.

    `draw` makes it from the number of features, that of classes and the settings. Weight decay is
    for the first layer of TwoLayers, as Kipf and Welling have it, and for all of another network.
    """
    inputs = (features(graph), operator)
    device = inputs[0].device
    labels = labelled_nodes(graph, device)
    with seeded(seed):
        model = draw(graph.num_features, labels.num_classes, schedule).to(device)
        decayed, *rest = model.children() if isinstance(model, TwoLayers) else [model]
        groups = [{"params": decayed.parameters(), "weight_decay": schedule.weight_decay}]
        groups += [{"params": layer.parameters()} for layer in rest]
        adam = Adam(groups, schedule.learning_rate, fused=True)

        def take_step() -> None:
            logits = model(*inputs)
            step(adam, cross_entropy(logits[labels.train], labels.y[labels.train]))

        return labels.names(keep_best(model, inputs, take_step, labels, schedule))


def keep_best(
    model: nn.Module,
    inputs: tuple[Any, ...],
    take_step: Callable[[], None],
    labels: Labels,
    schedule: Schedule,
) -> Tensor:
    """Take steps; keep the weights with the best validation accuracy, ties by loss.

    Returns the logits of all nodes by these weights.
    """
    best, best_epoch, kept = (-1.0, 0.0), 0, model.state_dict()
    truth = labels.y[labels.validation]
    for epoch in progress_bar(range(schedule.epochs), "train", unit="epoch"):
        model.train()
        take_step()
        logits = predict_logits(model, inputs)[labels.validation]
        right = float((logits.argmax(1) == truth).float().mean())
        score = (right, -float(cross_entropy(logits, truth, ignore_index=-1)))
        if score > best:
            best, best_epoch, kept = score, epoch, deepcopy(model.state_dict())
        if 0 < schedule.patience <= epoch - best_epoch:
            break
    model.load_state_dict(kept)
    return predict_logits(model, inputs)


@torch.no_grad()
def predict_logits(model: nn.Module, inputs: tuple[Any, ...]) -> Tensor:
    """Return the logits of all nodes without dropout."""
    logits: Tensor = model.eval()(*inputs)
    return logits
