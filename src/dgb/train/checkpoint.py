"""Checkpoints without pickle: one safetensors file with weights, optimiser, generator and epoch."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap
from dgb.whole_file import whole_file

FILE = "checkpoint.safetensors"


@dataclass
class State:
    """Everything that decides how training goes on."""

    model: Bootstrap
    optimizer: torch.optim.Optimizer
    generator: torch.Generator
    epoch: int = 0  # epochs finished
    best: float | None = None  # of the early-stopping criterion, smaller is better
    best_epoch: int = 0


def save_state(state: State, folder: Path) -> None:
    """Write the checkpoint atomically: a reader finds the old one or the new one, never half."""
    tensors = {f"model.{name}": value for name, value in state.model.state_dict().items()}
    for index, slots in state.optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{index}.{slot}": value for slot, value in slots.items()}
    tensors["generator"] = state.generator.get_state()
    numbers = {"epoch": state.epoch, "best": state.best, "best_epoch": state.best_epoch}
    write_tensors(folder / FILE, tensors, {"numbers": json.dumps(numbers)})


def load_state(state: State, folder: Path) -> bool:
    """Put the folder's checkpoint into `state`; False where there is none."""
    path = folder / FILE
    if not path.exists():
        return False
    tensors, metadata = read_tensors(path)
    try:
        state.model.load_state_dict(_strip(tensors, "model."))
        _load_adam(state.optimizer, _strip(tensors, "adam."))
        state.generator.set_state(tensors["generator"])
        numbers = json.loads(metadata["numbers"])
        state.epoch, state.best = numbers["epoch"], numbers["best"]
        state.best_epoch = numbers["best_epoch"]
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        raise DGBError(
            f"{path} belongs to another recipe or graph; give this run a folder of its own (--out)"
        ) from error
    return True


def write_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    """Write a safetensors file atomically."""
    content = save({k: v.detach().cpu().contiguous() for k, v in tensors.items()}, metadata)
    with whole_file(path) as part, part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read a safetensors file, with one clear sentence when it is missing or broken."""
    try:
        with safe_open(path, "pt") as file:
            return {key: file.get_tensor(key) for key in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise DGBError(f"cannot read {path}: {error}; train the run again") from error


def _strip(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def _load_adam(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    slots: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        index, slot = name.split(".", 1)
        slots.setdefault(int(index), {})[slot] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": slots})
