"""The probe as DGI (Veličković 2019) defines it: 50 linear heads, 100 steps of Adam, averaged.

Its deviation is over heads on one encoder, not over trainings: it says nothing about the encoder.
"""

from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from dgb.data.graph import Array, Split
from dgb.data.parts import row_parts
from dgb.evaluate.sample import sample_split

HEADS, STEPS, LEARNING_RATE = 50, 100, 0.01


def dgi_accuracies(z: Any, labels: Array, split: Split, seed: int) -> tuple[Array, Array]:
    """Return the validation and the test accuracy of every head; nothing is chosen."""
    split = sample_split(split, labels)
    generator = torch.Generator().manual_seed(seed)
    # By what occurs: a label may be any number, such as a year.
    classes = np.unique(labels[labels >= 0])
    labels, num_classes = np.searchsorted(classes, labels), len(classes)
    weight = torch.empty(HEADS, z.shape[1], num_classes)
    for head in weight:
        nn.init.xavier_uniform_(head, generator=generator)
    heads = (weight.requires_grad_(), torch.zeros(HEADS, 1, num_classes, requires_grad=True))
    _train(heads, _rows(z, split.train), torch.from_numpy(labels[split.train]))
    validation, test = (
        _accuracies(heads, z, labels, part) for part in (split.validation, split.test)
    )
    return validation, test


def _train(heads: tuple[Tensor, Tensor], x: Tensor, y: Tensor) -> None:
    optimizer = torch.optim.Adam(heads, LEARNING_RATE)
    target = y.repeat(HEADS)
    for _ in range(STEPS):
        optimizer.zero_grad()
        logits = (x @ heads[0] + heads[1]).flatten(0, 1)
        # Heads share no weight, so the sum of their mean losses trains each on its own.
        loss = nn.functional.cross_entropy(logits, target) * HEADS
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


@torch.no_grad()
def _accuracies(heads: tuple[Tensor, Tensor], z: Any, labels: Array, nodes: Array) -> Array:
    right = np.zeros(HEADS)
    for part in row_parts(len(nodes), HEADS * heads[1].shape[2]):
        predicted = (_rows(z, nodes[part]) @ heads[0] + heads[1]).argmax(dim=2)
        right += (predicted.numpy() == labels[nodes[part]]).sum(axis=1)
    return right / len(nodes)


def _rows(z: Any, part: Array) -> Tensor:
    rows = z[part].toarray() if sparse.issparse(z) else z[part]
    return torch.from_numpy(np.ascontiguousarray(rows, dtype=np.float32))
