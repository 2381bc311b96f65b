"""The probe as DGI (Veličković 2019) defines it: 50 linear heads, 100 steps of Adam, averaged.

Its deviation is over heads on one encoder, not over trainings: it says nothing about the encoder.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dgb.data.graph import Array, Split
from dgb.evaluate.linear_heads import (
    HEADS,
    LinearHeads,
    class_codes,
    dense_rows,
    draw_heads,
    labelled_rows,
    train_steps,
)
from dgb.evaluate.sample import sample_split

STEPS, LEARNING_RATE = 100, 0.01


def dgi_accuracies(z: Any, labels: Array, split: Split, seed: int) -> tuple[Array, Array]:
    """Return the validation and the test accuracy of every head; nothing is chosen."""
    split = sample_split(split, labels)
    codes, num_classes = class_codes(labels)
    heads = draw_heads(z.shape[1], num_classes, seed)
    x, y = dense_rows(z, split.train), torch.from_numpy(codes[split.train])
    for _ in train_steps(heads, x, y, LEARNING_RATE, STEPS):
        pass  # no step is better than the last one
    validation, test = (
        _accuracies(heads, labelled_rows(z, codes, nodes, num_classes))
        for nodes in (split.validation, split.test)
    )
    return validation, test


@torch.no_grad()
def _accuracies(heads: LinearHeads, parts: Iterable[tuple[Tensor, Tensor]]) -> Array:
    right, count = np.zeros(HEADS), 0
    for x, y in parts:
        predicted = heads.logits(x).argmax(dim=2)
        right += (predicted == y[:, None]).sum(dim=0).numpy()
        count += len(y)
    return right / count
