"""Many linear heads on the same frozen rows, trained together: DGI's probe, and F1 scores."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from dgb.arrays import Array, row_parts
from dgb.data.graph import Split
from dgb.evaluate.labels import sample_split
from dgb.model.layers import Adam

HEADS = 50
STEPS, LEARNING_RATE = 100, 0.01  # of DGI's probe
RESPLIT_HEADS = 10  # their mean hardly moves, and what moves it are the draws


@dataclass(frozen=True, eq=False)
class LinearHeads:
    """Logistic regressions side by side: the classes of the first one, of the second, and so on."""

    weight: Tensor  # [width, heads · classes]: one product, which a batch of small ones is not
    bias: Tensor  # [heads · classes]
    count: int = field(default_factory=lambda: HEADS)

    @property
    def num_classes(self) -> int:
        """Number of classes that every head tells apart."""
        return len(self.bias) // self.count

    def logits(self, x: Tensor) -> Tensor:
        """Return [rows, heads, classes]."""
        return (x @ self.weight + self.bias).view(len(x), self.count, self.num_classes)


def draw_heads(width: int, num_classes: int, seed: int, count: int | None = None) -> LinearHeads:
    """Return untrained heads, 50 by default: weights drawn as Glorot and Bengio do, no bias."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.empty(count or HEADS, width, num_classes)
    for head in weight:
        nn.init.xavier_uniform_(head, generator=generator)
    joined = weight.transpose(0, 1).flatten(1).requires_grad_()
    bias = torch.zeros(len(weight) * num_classes, requires_grad=True)
    return LinearHeads(joined, bias, len(weight))


def train_steps(
    heads: LinearHeads, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> Iterator[int]:
    """Train by steps of Adam on all rows; yield the number of every step that is done."""
    optimizer = Adam((heads.weight, heads.bias), learning_rate)
    target = y.repeat_interleave(heads.count)
    for step in range(steps):
        optimizer.zero_grad()
        logits = heads.logits(x).flatten(0, 1)
        # Heads share no weight, so the sum of their mean losses trains each on its own.
        loss = nn.functional.cross_entropy(logits, target) * heads.count
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        yield step


def class_codes(labels: Array) -> tuple[Array, int]:
    """Return classes counted from 0, and how many there are: a label may be a year."""
    classes = np.unique(labels[labels >= 0])
    return np.searchsorted(classes, labels), len(classes)


def labelled_rows(
    z: Any, codes: Array, nodes: Array, num_classes: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield rows and classes of some nodes, as many at a time as memory has room for."""
    for part in row_parts(len(nodes), max(z.shape[1], HEADS * num_classes)):
        yield dense_rows(z, nodes[part]), torch.from_numpy(codes[nodes[part]])


def dense_rows(z: Any, nodes: Array) -> Tensor:
    """Return the rows of some nodes; z is dense, also in a file, or sparse."""
    rows = z[nodes].toarray() if sparse.issparse(z) else z[nodes]
    return torch.from_numpy(np.ascontiguousarray(rows, dtype=np.float32))


@torch.no_grad()
def count_classes(heads: LinearHeads, parts: Iterable[tuple[Tensor, Tensor]]) -> Tensor:
    """Count by class how often each head was right, predicted it, and should have.

    `parts` are rows and their classes. Returns [3, heads, classes].
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
    right, predicted, true = counts.double().unbind()
    f1 = 2 * right / (predicted + true).clamp_min(1)
    return f1.sum(dim=1) / (predicted + true > 0).sum(dim=1)


def micro_f1(counts: Tensor) -> Tensor:
    """Return the F1 of all classes taken together for every head [heads], which is accuracy."""
    right, _, true = counts.double().unbind()
    return right.sum(dim=1) / true.sum(dim=1)


def _count(predicted: Tensor, y: Tensor, num_classes: int) -> Tensor:
    places = predicted + num_classes * torch.arange(HEADS)  # of a head and a class, counted through
    length = HEADS * num_classes
    right = torch.bincount(places[predicted == y[:, None]], minlength=length)
    given = torch.bincount(places.flatten(), minlength=length)
    true = torch.bincount(y, minlength=num_classes).repeat(HEADS)
    return torch.stack([right, given, true]).view(3, HEADS, num_classes)


def dgi_accuracies(
    z: Any, labels: Array, split: Split, seed: int, heads: int | None = None
) -> tuple[Array, Array]:
    """Return the validation and the test accuracy of every head of DGI's probe: none is chosen."""
    split = sample_split(split, labels)
    codes, num_classes = class_codes(labels)
    trained = draw_heads(z.shape[1], num_classes, seed, heads)
    x, y = dense_rows(z, split.train), torch.from_numpy(codes[split.train])
    for _ in train_steps(trained, x, y, LEARNING_RATE, STEPS):
        pass  # no step is better than the last one
    validation, test = (
        _accuracies(trained, labelled_rows(z, codes, nodes, num_classes))
        for nodes in (split.validation, split.test)
    )
    return validation, test


def resplit_accuracy(z: Array, labels: Array, splits: list[Split]) -> float:
    """Return the mean accuracy of DGI's probe over resplits."""
    found = [dgi_accuracies(z, labels, s, i, RESPLIT_HEADS)[0] for i, s in enumerate(splits)]
    return float(np.mean(found))


@torch.no_grad()
def _accuracies(heads: LinearHeads, parts: Iterable[tuple[Tensor, Tensor]]) -> Array:
    right, count = np.zeros(heads.count), 0
    for x, y in parts:
        predicted = heads.logits(x).argmax(dim=2)
        right += (predicted == y[:, None]).sum(dim=0).numpy()
        count += len(y)
    return right / max(count, 1)
