"""The loop of the methods that learn without labels: Adam on a loss, and nothing else."""

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from dgb.errors import DGBError
from dgb.terminal import progress_bar


class Schedule(Protocol):
    """The settings that every method with this loop has."""

    @property
    def epochs(self) -> int:
        """Steps at most."""

    @property
    def learning_rate(self) -> float:
        """Step size of Adam."""

    @property
    def weight_decay(self) -> float:
        """Weight decay of Adam."""

    @property
    def patience(self) -> int:
        """Steps without a smaller loss before it stops; 0 takes all."""


def minimise(
    model: nn.Module,
    loss: Callable[[], Tensor],
    schedule: Schedule,
    after_step: Callable[[], None] = lambda: None,
) -> None:
    """Train the model in place; with patience, its weights end at the smallest loss."""
    learnt = [p for p in model.parameters() if p.requires_grad]
    decay = schedule.weight_decay
    adam = torch.optim.Adam(learnt, schedule.learning_rate, weight_decay=decay, fused=True)
    best, best_epoch, kept = math.inf, 0, model.state_dict()
    model.train()
    for epoch in progress_bar(range(schedule.epochs), "train", unit="epoch"):
        value = loss()
        if schedule.patience and value.item() < best:  # kept before the step, with this loss
            best, best_epoch, kept = value.item(), epoch, deepcopy(model.state_dict())
        step(adam, value)
        after_step()
        if 0 < schedule.patience <= epoch - best_epoch:
            break
    model.load_state_dict(kept)
    model.eval()


def step(optimizer: Any, loss: Tensor) -> None:
    """Take one step, refusing a loss that is no number any more."""
    if not math.isfinite(loss.item()):
        raise DGBError(f"the loss became {loss.item()}; lower the method's learning_rate")
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
