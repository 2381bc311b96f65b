"""The loop of the methods that learn without labels: Adam on a loss, and nothing else."""

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from dgb.arrays import Array
from dgb.errors import DGBError
from dgb.model.layers import Adam
from dgb.settings import setting
from dgb.terminal import progress_bar


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
