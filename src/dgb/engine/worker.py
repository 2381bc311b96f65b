"""One rank of a training on Ray: the epochs of the one loop, on this rank's rows."""

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ray
import torch
from ray import train
from torch import distributed

from dgb.engine.blocks import Blocks
from dgb.engine.ranks import ParallelModel, share_statistics, shared_loss
from dgb.engine.shares import rank_sampler
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap
from dgb.recipe import Recipe
from dgb.train.checkpoint import State, load_state, save_state
from dgb.train.loop import is_stale, make_state, train_epoch


@dataclass(frozen=True, eq=False)
class Job:
    """What every rank starts from."""

    model: Bootstrap
    generator_state: torch.Tensor  # of masks and batches
    recipe: Recipe
    blocks: Blocks
    epochs: Any  # the actor that draws epochs
    folder: Path  # of the run


def train_rank(config: dict[str, Any]) -> None:
    """Train one rank until all are done; what only the user can mend is told to the actor."""
    job: Job = config["job"]
    try:
        _train(job)
    except DGBError as error:  # the same again would not help
        ray.get(job.epochs.refuse.remote(str(error)))


def _train(job: Job) -> None:
    context, recipe = train.get_context(), job.recipe.train
    rank = context.get_world_rank()
    # Ray leaves one thread to a process that asks for less than one processor.
    here = (os.cpu_count() or 1) // context.get_local_world_size()
    torch.set_num_threads(recipe.threads or max(1, here))
    state = _begun(job)
    if rank == 0:
        ray.get(job.epochs.begin.remote(state.epoch))
    ranks = rank, context.get_world_size()
    sampler = rank_sampler(job.epochs, job.blocks, ranks, state.generator)
    shared: Any = ParallelModel(state.model)
    parallel = replace(state, model=shared)
    while parallel.epoch < recipe.epochs and not is_stale(parallel, recipe):
        line = train_epoch(parallel, sampler, recipe, shared_loss)
        _agree_on_best(parallel)
        if rank == 0:
            ray.get(job.epochs.log.remote(line))
        is_last = parallel.epoch == recipe.epochs or is_stale(parallel, recipe)
        if is_last or parallel.epoch % recipe.checkpoint_every == 0:
            _report(replace(parallel, model=state.model), rank)
    if parallel.epoch == state.epoch:  # nothing was left to train
        _report(state, rank)


def _begun(job: Job) -> State:
    """Return the state to go on from: Ray's checkpoint, one of a single process, or the start."""
    generator = torch.Generator()
    generator.set_state(job.generator_state)
    share_statistics(job.model)
    state = make_state(job.model, job.recipe.train, generator)
    checkpoint = train.get_checkpoint()
    if checkpoint is None:
        load_state(state, job.folder)
    else:
        with checkpoint.as_directory() as folder:
            load_state(state, Path(folder))
    return state


def _agree_on_best(state: State) -> None:
    """Take the first rank's word: the health of its rows is not quite that of another's."""
    if state.best is not None:
        best = torch.tensor([state.best, state.best_epoch], dtype=torch.float64)
        distributed.broadcast(best, 0)
        state.best, state.best_epoch = float(best[0]), int(best[1])


def _report(state: State, rank: int) -> None:
    """Hand a checkpoint to Ray Train, which all ranks have to call and the first one writes."""
    metrics = {"epoch": state.epoch}
    if rank > 0:
        train.report(metrics)
        return
    with tempfile.TemporaryDirectory() as folder:
        save_state(state, Path(folder))
        train.report(metrics, checkpoint=train.Checkpoint.from_directory(folder))
