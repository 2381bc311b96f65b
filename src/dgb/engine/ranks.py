"""What ranks that share the rows of a batch compute together: sums, BatchNorm and the loss."""

from typing import Any

import torch
from torch import Tensor, distributed, nn

from dgb.model.bootstrap import Bootstrap, Outputs
from dgb.model.loss import symmetric_loss


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


class SharedBatchNorm(nn.BatchNorm1d):
    """BatchNorm with the statistics of all ranks' rows; nn.SyncBatchNorm refuses the CPU."""

    def forward(self, x: Tensor) -> Tensor:
        """Normalise with the mean and the variance over the rows of all ranks."""
        rows = x.float()  # sums need the digits that bfloat16 lacks
        count = sum_over_ranks(rows.new_tensor([len(rows)]))
        # Two sums one after the other: E[x²] − E[x]² would lose the digits that they share.
        centred = rows - sum_over_ranks(rows.sum(dim=0)) / count
        variance = sum_over_ranks(centred.square().sum(dim=0)) / count
        return (centred * (variance + self.eps).rsqrt() * self.weight + self.bias).to(x.dtype)


def share_statistics(model: Bootstrap) -> None:
    """Let every BatchNorm of the model see the rows of all ranks; weights stay as they are."""
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm1d):
            layer.__class__ = SharedBatchNorm


def shared_loss(outputs: Outputs) -> Tensor:
    """Return the mean loss over the rows of all ranks, whose counts may differ.

    DDP averages gradients over ranks and the sum's gradient is the sum over ranks: together they
    give each row the same weight, whichever rank holds it.
    """
    rows = len(outputs.prediction1)
    loss = symmetric_loss(outputs)
    total = sum_over_ranks(torch.stack([loss * rows, loss.new_tensor(float(rows))]))
    return total[0] / total[1]


class ParallelModel(nn.parallel.DistributedDataParallel):
    """The model of one rank: DDP averages its gradients with those of the others."""

    def update_target(self, decay: float) -> None:
        """Move the target towards the online network, Eq. 7: the same on every rank."""
        self.module.update_target(decay)
