"""F1 scores of many heads at once, of counts that are summed over parts of the nodes."""

from collections.abc import Iterable

import torch
from torch import Tensor

from dgb.evaluate.linear_heads import HEADS, LinearHeads


@torch.no_grad()
def count_classes(heads: LinearHeads, parts: Iterable[tuple[Tensor, Tensor]]) -> Tensor:
    """Return how often each head was right by class, told it, and should have [3, heads, classes].

    `parts` are rows and their classes.
    """
    total = torch.zeros(3, HEADS, heads.num_classes, dtype=torch.int64)
    for x, y in parts:
        total += _count(heads.logits(x).argmax(dim=2), y, heads.num_classes)
    return total


def macro_f1(counts: Tensor) -> Tensor:
    """Return the mean F1 over classes for every head [heads].

    As in scikit-learn, a class that no node has and no node was given is left out of the mean; one
    that was given though no node has it counts as 0.
    """
    right, told, true = counts.double().unbind()
    f1 = 2 * right / (told + true).clamp_min(1)
    return f1.sum(dim=1) / (told + true > 0).sum(dim=1)


def micro_f1(counts: Tensor) -> Tensor:
    """Return the F1 of all classes taken together for every head [heads], which is accuracy."""
    right, _, true = counts.double().unbind()
    return right.sum(dim=1) / true.sum(dim=1)


def _count(told: Tensor, y: Tensor, num_classes: int) -> Tensor:
    places = told + num_classes * torch.arange(HEADS)  # of a head and a class, counted through
    length = HEADS * num_classes
    right = torch.bincount(places[told == y[:, None]], minlength=length)
    given = torch.bincount(places.flatten(), minlength=length)
    true = torch.bincount(y, minlength=num_classes).repeat(HEADS)
    return torch.stack([right, given, true]).view(3, HEADS, num_classes)
