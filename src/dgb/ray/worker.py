"""One rank of a training on Ray: the epochs of the one loop, on this rank's rows."""

import os
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn

import ray
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap, Outputs
from dgb.model.encoder import BlockNorm
from dgb.model.loss import LinkTerm, Loss, Term
from dgb.ray.blocks import GraphBlocks
from dgb.ray.epochs import rank_sampler
from dgb.recipe import Recipe
from dgb.train.checkpoint import State, load_state, save_state
from dgb.train.loop import is_stale, make_state, train_epoch
from ray import train


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(_ctx: Any, value: Tensor) -> Tensor:
        total = value.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(_ctx: Any, grad: Tensor) -> Tensor:
        # Every rank's result depends on every rank's value, so the gradients add up as well.
        total = grad.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(total)
        return total


def sum_over_ranks(value: Tensor) -> Tensor:
    """Return the sum of a tensor over all ranks; gradients flow back to each of them."""
    total: Tensor = _Sum.apply(value)  # type: ignore[no-untyped-call]
    return total


class _Shared:
    """BatchNorm with the statistics of all ranks' rows; nn.SyncBatchNorm needs CUDA."""

    def forward(self: Any, x: Tensor) -> Tensor:
        """Normalise by the mean and the variance over the rows of all ranks, which only train."""
        rows = x.float()  # sums need the digits that bfloat16 lacks
        count = sum_over_ranks(rows.new_tensor([len(rows)]))
        # Two sums one after the other: E[x²] − E[x]² would lose the digits that they share.
        centred = rows - sum_over_ranks(rows.sum(dim=0)) / count
        variance = sum_over_ranks(centred.square().sum(dim=0)) / count
        scaled: Tensor = centred * (variance + self.eps).rsqrt() * self.weight + self.bias
        return scaled.to(x.dtype)


class SharedBatchNorm(_Shared, nn.BatchNorm1d):
    """That of a head."""


class SharedBlockNorm(_Shared, BlockNorm):
    """That of a block of the encoder."""


def share_statistics(model: Bootstrap) -> None:
    """Let every BatchNorm of the model see the rows of all ranks; weights stay as they are."""
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm1d):
            layer.__class__ = SharedBatchNorm
        elif isinstance(layer, BlockNorm):
            layer.__class__ = SharedBlockNorm


def share_rows(loss: Loss) -> Loss:
    """Return terms that are means over the rows, or pairs, of all ranks, whose counts may differ.

    A step takes the mean of the ranks' gradients, and the sum's gradient is the sum over ranks:
    together they give each row the same weight, whichever rank holds it. A term has to be a mean
    over rows, or one over pairs of rows.
    """
    return [(weight, partial(_mean_over_ranks, term)) for weight, term in loss]


def _mean_over_ranks(term: Term, outputs: Outputs, views: tuple[Any, Any]) -> Tensor:
    count, value = len(outputs.representation1), term(outputs, views)
    if isinstance(term, LinkTerm):
        count = views[0].hidden.shape[1] + views[0].absent.shape[1]
        # All ranks have the same gradients to average, also where one has no pairs.
        value = value + 0 * torch.stack([p.sum() for p in term.parameters()]).sum()
    total = sum_over_ranks(torch.stack([value * count, value.new_tensor(float(count))]))
    return total[0] / total[1].clamp_min(1)


def average_gradients(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    """Give the learnt weights the mean of all ranks' gradients; called before every step.

    All at once: the weights are few, and DDP would bring torch's compiler into every rank.
    """
    learnt = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
    total = torch.cat([p.grad.flatten() for p in learnt])
    distributed.all_reduce(total)
    total /= distributed.get_world_size()
    for p, part in zip(learnt, torch.split(total, [p.numel() for p in learnt]), strict=True):
        p.grad = part.view_as(p)


@dataclass(frozen=True, eq=False)
class RankJob:
    """What every rank starts from."""

    model: Bootstrap
    loss: Loss
    generator_state: torch.Tensor  # of masks and batches
    recipe: Recipe
    blocks: GraphBlocks
    epochs: Any  # the actor that draws epochs
    folder: Path  # of the run


def train_rank(config: dict[str, Any]) -> None:
    """Train one rank until all are done; what only the user can fix is reported to the actor."""
    job: RankJob = config["job"]
    try:
        _train(job)
    except DGBError as error:  # the same again would not help
        ray.get(job.epochs.refuse.remote(str(error)))


def _train(job: RankJob) -> None:
    context, recipe = train.get_context(), job.recipe.train
    rank = context.get_world_rank()
    # Ray leaves one thread to a process that asks for less than one processor.
    here = (os.cpu_count() or 1) // context.get_local_world_size()
    torch.set_num_threads(recipe.threads or max(1, here))
    state = _restore_state(job)
    if rank == 0:
        ray.get(job.epochs.begin.remote(state.epoch))
    ranks = rank, context.get_world_size()
    sampler = rank_sampler(job.epochs, job.blocks, ranks, state.generator)
    state.optimizer.register_step_pre_hook(average_gradients)
    begun, loss = state.epoch, share_rows(job.loss)
    while state.epoch < recipe.epochs and not is_stale(state, recipe):
        line = train_epoch(state, sampler, recipe, loss)
        _agree_on_best(state)
        if rank == 0:
            ray.get(job.epochs.log.remote(line))
        is_last = state.epoch == recipe.epochs or is_stale(state, recipe)
        if is_last or state.epoch % recipe.checkpoint_every == 0:
            _report(state, rank)
    if state.epoch == begun:  # nothing was left to train
        _report(state, rank)


def _restore_state(job: RankJob) -> State:
    """Return the state to resume from: Ray's checkpoint, one of a single process, or the start."""
    generator = torch.Generator()
    generator.set_state(job.generator_state)
    share_statistics(job.model)
    state = make_state(job.model, job.recipe.train, generator, job.loss)
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
