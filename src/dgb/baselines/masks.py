"""Which nodes a masked autoencoder hides in one epoch, and rows of features by node."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from dgb.views.augment import Features
from dgb.views.sparse import SparseMatrix


@dataclass(frozen=True, eq=False)
class Mask:
    """Which nodes are masked in one epoch, and what stands in their place."""

    kept: Tensor  # nodes that show their features
    targets: Tensor  # masked nodes to reconstruct
    source: Tensor  # [num_nodes], the node whose features stand there; num_nodes is the token


class Rates(Protocol):
    """The settings that say how much is masked."""

    @property
    def mask_rate(self) -> float:
        """Share of the nodes that are masked."""

    @property
    def replace_rate(self) -> float:
        """Share of these that get the features of another node."""

    @property
    def targets(self) -> int:
        """Masked nodes to reconstruct; 0 takes all."""


def draw_mask(num_nodes: int, settings: Rates, device: torch.device) -> Mask:
    """Draw the masked nodes, and those of them that get the features of another node."""
    order = torch.randperm(num_nodes, device=device)
    masked, kept = order.tensor_split([max(1, round(settings.mask_rate * num_nodes))])
    replaced, hidden = masked.tensor_split([round(settings.replace_rate * len(masked))])
    source = torch.arange(num_nodes, device=device)
    source[hidden] = num_nodes
    source[replaced] = torch.randperm(num_nodes, device=device)[: len(replaced)]
    targets = masked[torch.randperm(len(masked), device=device)]
    return Mask(kept, targets[: settings.targets or None], source)


def rows(x: Features, wanted: Tensor) -> Features:
    """Return X with all rows but the wanted ones set to zero."""
    keep = torch.zeros(x.shape[0], device=wanted.device)
    keep[wanted] = 1
    if isinstance(x, SparseMatrix):
        return x.with_values(x.values * keep[x.pattern.row]).without_zeros()
    return x * keep[:, None]


def squared_length(x: Features) -> Tensor:
    """Return |x_i|² of every row."""
    if isinstance(x, SparseMatrix):
        return x.values.new_zeros(x.shape[0]).index_add(0, x.pattern.row, x.values.square())
    return x.square().sum(1)
