"""Checkpoints without pickle: weights, optimiser, generator and epoch, in the newest two files."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from dgb.errors import DGBError
from dgb.files.tensors import Metadata, Tensors, read_tensors, write_tensors
from dgb.model.bootstrap import Bootstrap
from dgb.terminal import log

FILE, PREVIOUS = "checkpoint.safetensors", "checkpoint.previous.safetensors"
NUMBERS = ("epoch", "best", "best_epoch", "smooth")
CHECKPOINTS = "ray"  # folder of Ray Train's own


@dataclass
class State:
    """Everything that decides how training continues."""

    model: Bootstrap
    optimizer: torch.optim.Optimizer
    generator: torch.Generator
    epoch: int = 0  # epochs finished
    best: float | None = None  # of the early-stopping criterion, smaller is better
    best_epoch: int = 0
    smooth: float | None = None  # of that criterion, where it is one that jumps
    saved_epoch: int = 0  # of the newest checkpoint, 0 where there is none


def save_state(state: State, folder: Path) -> None:
    """Write a checkpoint of finite numbers atomically, and keep the one before it."""
    refuse_overflow(state)
    tensors = {f"model.{name}": value for name, value in state.model.state_dict().items()}
    for index, slots in state.optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{index}.{slot}": value for slot, value in slots.items()}
    tensors["generator"] = state.generator.get_state()
    numbers = {name: getattr(state, name) for name in NUMBERS}
    metadata = {"numbers": json.dumps(numbers)}
    write_tensors(folder / FILE, tensors, metadata, previous=folder / PREVIOUS)
    state.saved_epoch = state.epoch


def load_state(state: State, folder: Path) -> bool:
    """Put the newest checkpoint that is whole into `state`; False where there is none."""
    damaged: list[str] = []
    for path in (folder / FILE, folder / PREVIOUS):
        if not path.exists():
            continue
        try:
            tensors, metadata = read_tensors(path)
        except DGBError as error:
            damaged.append(str(error))
            continue
        _restore(state, path, tensors, metadata)
        if damaged:
            log(f"warning: {damaged[0]}; resuming from the checkpoint before it")
            (folder / FILE).unlink()  # it must not become the previous one
        return True
    if damaged:
        which = "it" if len(damaged) == 1 else "them"
        raise DGBError(f"{'; '.join(damaged)}; remove {which} to begin again with epoch 1")
    return False


def remove_states(folder: Path) -> None:
    """Remove the checkpoints of a run, which only an unfinished one needs."""
    for name in (FILE, PREVIOUS):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


def refuse_overflow(state: State) -> None:
    """Refuse weights that are not finite, which a last finite loss may leave behind."""
    if not all(bool(torch.isfinite(p).all()) for p in state.model.parameters()):
        raise DGBError(describe_divergence(state, "the weights are not finite after"))


def describe_divergence(state: State, what: str) -> str:
    """Return what went wrong in an epoch, which checkpoint is left, and what to do."""
    kept = f"; the checkpoint of epoch {state.saved_epoch} is kept" if state.saved_epoch else ""
    # Before the first step, it can only be the numbers of the graph that are too large.
    scale = ", or scale the features (data.normalise=row)" if state.epoch == 1 else ""
    return f"{what} epoch {state.epoch}{kept}; lower train.learning_rate and train again{scale}"


def _restore(state: State, path: Path, tensors: Tensors, metadata: Metadata) -> None:
    weights = {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")}
    slots: dict[int, dict[str, Tensor]] = {}
    try:
        for _, index, slot in (name.split(".", 2) for name in tensors if name.startswith("adam.")):
            slots.setdefault(int(index), {})[slot] = tensors[f"adam.{index}.{slot}"]
        state.model.load_state_dict(weights)
        state.optimizer.load_state_dict({**state.optimizer.state_dict(), "state": slots})
        state.generator.set_state(tensors["generator"])
        numbers = json.loads(metadata["numbers"])
        state.epoch = state.saved_epoch = _check_epoch(numbers["epoch"])
        state.best_epoch = _check_epoch(numbers["best_epoch"])
        best, smooth = numbers["best"], numbers.get("smooth")
        state.best = None if best is None else float(best)
        state.smooth = None if smooth is None else float(smooth)
    except (KeyError, OverflowError, RecursionError, RuntimeError, TypeError, ValueError) as error:
        raise DGBError(
            f"{path} belongs to another recipe or graph; give this run a folder of its own (--out)"
        ) from error


def _check_epoch(number: object) -> int:
    if not isinstance(number, int) or number < 0:
        raise ValueError(f"{number!r} is not a number of epochs")
    return number
