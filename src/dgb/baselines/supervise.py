"""The loop of the methods that learn from labels: train nodes teach, validation nodes choose."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from dgb.arrays import Array
from dgb.baselines.learn import Schedule, step
from dgb.data.graph import Graph
from dgb.terminal import progress_bar


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


def fit_classifier(
    model: nn.Module,
    forward: Callable[[], Tensor],
    labels: Labels,
    schedule: Schedule,
    decayed: list[nn.Parameter] | None = None,
) -> Tensor:
    """Train in place and return the logits at the best validation accuracy, ties by loss.

    Weight decay is for the parameters `decayed`, which by default are all.
    """
    adam = _adam(model, schedule, decayed)

    def take_step() -> None:
        logits = forward()
        step(adam, cross_entropy(logits[labels.train], labels.y[labels.train]))

    return keep_best(model, take_step, forward, labels, schedule)


def keep_best(
    model: nn.Module,
    take_step: Callable[[], None],
    forward: Callable[[], Tensor],
    labels: Labels,
    schedule: Schedule,
) -> Tensor:
    """Take steps; return the logits at the best validation accuracy, whose weights are kept."""
    best, best_epoch, kept = (-1.0, 0.0), 0, model.state_dict()
    for epoch in progress_bar(range(schedule.epochs), "train", unit="epoch"):
        model.train()
        take_step()
        score = validate(model, forward, labels)
        if score > best:
            best, best_epoch, kept = score, epoch, deepcopy(model.state_dict())
        if 0 < schedule.patience <= epoch - best_epoch:
            break
    model.load_state_dict(kept)
    return predict_logits(model, forward)


def validate(
    model: nn.Module, forward: Callable[[], Tensor], labels: Labels
) -> tuple[float, float]:
    """Return the accuracy and the negative loss on the validation nodes."""
    logits = predict_logits(model, forward)[labels.validation]
    truth = labels.y[labels.validation]
    right = (logits.argmax(1) == truth).float().mean()
    return float(right), -float(cross_entropy(logits, truth, ignore_index=-1))


@torch.no_grad()
def predict_logits(model: nn.Module, forward: Callable[[], Tensor]) -> Tensor:
    """Return the logits of all nodes without dropout."""
    model.eval()
    return forward()


def _adam(
    model: nn.Module, schedule: Schedule, decayed: list[nn.Parameter] | None
) -> torch.optim.Adam:
    everything = list(model.parameters())
    first = everything if decayed is None else decayed
    rest = [p for p in everything if all(p is not other for other in first)]
    groups: list[dict[str, Any]] = [{"params": first, "weight_decay": schedule.weight_decay}]
    groups.append({"params": rest})
    return torch.optim.Adam(groups, schedule.learning_rate, fused=True)
