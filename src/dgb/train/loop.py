"""The training loop: draw two views, predict, step, move the target. It never sees a label."""

import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import nn

from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap
from dgb.model.layers import Adam
from dgb.model.loss import PAPER, Loss, rate_pairs, weighted_sum
from dgb.recipe import Train
from dgb.terminal import log, progress_bar
from dgb.train.checkpoint import State, describe_divergence, load_state, refuse_overflow, save_state
from dgb.train.monitor import (
    area_under_curve,
    describe_cures,
    health,
    is_collapsed,
    open_metrics,
    show_line,
)
from dgb.views.sampler import Epoch
from dgb.views.view import Rows, View

Draw = Callable[[], Epoch]
SMOOTHING = 0.8  # of the AUC: its mean over about five epochs


def fit(
    model: Bootstrap,
    draw_epoch: Draw,
    recipe: Train,
    generator: torch.Generator,
    *,
    folder: Path | None = None,
    loss: Loss = PAPER,
) -> list[dict[str, Any]]:
    """Train a model in place.

    Args:
        model: The networks to train.
        draw_epoch: Draws the two views of every step of an epoch.
        recipe: Epochs, learning rate, decay and the other settings of training.
        generator: Of the masks, saved with a checkpoint.
        folder: Where metrics and checkpoints are written, and resumed from if there are any.
        loss: Weights and terms, whose sum is minimised.

    Returns:
        A line of metrics for every epoch that this call trained.

    Example:
        >>> fit(model, epoch_sampler(inputs, recipe, generator), recipe.train, generator)
    """
    state = make_state(model, recipe, generator, loss)
    if folder and load_state(state, folder):
        log(f"resuming after epoch {state.epoch}")
    lines: list[dict[str, Any]] = []
    has_norm = any(isinstance(part, nn.BatchNorm1d) for part in model.modules())
    cures = describe_cures(recipe, has_norm=has_norm)
    with (
        defer_interrupt() as is_interrupted,
        open_metrics(folder, state.epoch) as file,
        progress_bar(None, "train", unit="epoch", initial=state.epoch, total=recipe.epochs) as bar,
    ):
        while state.epoch < recipe.epochs and not is_stale(state, recipe):
            line = train_epoch(state, draw_epoch, recipe, loss)
            show_line(bar, line, cures)
            cures = "" if is_collapsed(line) else cures  # said once
            lines.append(line)
            if file:
                file.write(json.dumps(line) + "\n")
            if folder and (state.epoch % recipe.checkpoint_every == 0 or is_interrupted()):
                save_state(state, folder)
            if is_interrupted():
                raise KeyboardInterrupt
    refuse_overflow(state)
    if folder and state.saved_epoch < state.epoch:  # what comes after training may be stopped too
        save_state(state, folder)
    return lines


def make_state(
    model: Bootstrap, recipe: Train, generator: torch.Generator, loss: Loss = PAPER
) -> State:
    """Return the state of a run before its first epoch; terms that are modules are learnt too."""
    model.terms = nn.ModuleList(term for _, term in loss if isinstance(term, nn.Module))
    online = [p for p in model.parameters() if p.requires_grad]
    optimizer = Adam(
        online,
        recipe.learning_rate,
        weight_decay=recipe.weight_decay,
        fused=online[0].device.type != "mps",  # there only in newer versions of torch
    )
    return State(model, optimizer, generator)


def train_epoch(
    state: State, draw_epoch: Draw, recipe: Train, loss: Loss = PAPER
) -> dict[str, Any]:
    """Take one step a batch, and one step of Eq. 7 an epoch, spread evenly over its batches."""
    start = time.perf_counter()
    steps = draw_epoch()
    total, rated = 0.0, []
    with progress_bar(steps, "steps", unit="step", delay=2) as bar:
        for view1, view2 in bar:
            with torch.autocast(state.generator.device.type, torch.bfloat16, enabled=recipe.bf16):
                outputs = state.model(view1, view2)
            value = weighted_sum(loss, outputs.float(), (view1, view2))
            state.optimizer.zero_grad()
            value.backward()  # type: ignore[no-untyped-call]
            state.optimizer.step()
            # B steps of p^(1/B) keep as much of the old target as one step of p.
            state.model.update_target(recipe.decay ** (1 / len(steps)))
            total += value.item() / len(steps)
            if isinstance(view1, View | Rows) and view1.held is not None:
                scores = rate_pairs(loss, outputs.representation1, view1.held[:2])
                rated.append(torch.stack([scores, view1.held[2]]))
    state.epoch += 1
    line: dict[str, Any] = {"epoch": state.epoch, "loss": total}
    if rated:
        line |= area_under_curve(*torch.cat(rated, dim=1))
    if not math.isfinite(total):
        raise DGBError(describe_divergence(state, f"the loss became {total} in"))
    is_watched = recipe.patience > 0 and recipe.stop_on == "effective_rank"
    if is_watched or state.epoch % recipe.monitor_every == 0 or state.epoch in (1, recipe.epochs):
        line |= health(outputs)
    _remember_best(state, line, recipe)
    return line | {"seconds": round(time.perf_counter() - start, 4)}


def _remember_best(state: State, line: dict[str, Any], recipe: Train) -> None:
    if recipe.stop_on not in line:
        return
    value = line["loss"] if recipe.stop_on == "loss" else -line[recipe.stop_on]
    if recipe.stop_on == "auc":  # of some hundred pairs at times, which jumps
        before = value if state.smooth is None else state.smooth
        value = state.smooth = SMOOTHING * before + (1 - SMOOTHING) * value
    if state.best is None or value < state.best:
        state.best, state.best_epoch = value, state.epoch


def is_stale(state: State, recipe: Train) -> bool:
    """Tell whether a run has gone on for too long without a better criterion."""
    return 0 < recipe.patience <= state.epoch - state.best_epoch


@contextmanager
def defer_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C was pressed; a second Ctrl-C ends at once."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread may set signal handlers
        return
    pressed: list[int] = []
    before = signal.getsignal(signal.SIGINT)

    def remember(signum: int, _frame: FrameType | None) -> None:
        pressed.append(signum)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, remember)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)
