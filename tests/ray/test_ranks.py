"""Ranks that share the rows of a batch compute what one process computes on all of them."""

from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import distributed, nn
from torch.multiprocessing.spawn import spawn

from dgb.cookbook import load_recipe
from dgb.model.bootstrap import Bootstrap
from dgb.model.loss import PAPER, symmetric_loss, weighted_sum
from dgb.ray.worker import ParallelModel, SharedBatchNorm, share_rows, share_statistics
from dgb.views.view import View

ROWS = 23
CUT = (0, 15, ROWS)  # of different size, as the last rank's rows are


def data() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return 3 + 2 * torch.randn(ROWS, 6, generator=generator)


def norm_of(layer: nn.Module, x: torch.Tensor, begin: int, end: int) -> dict[str, torch.Tensor]:
    x = x[begin:end].clone().requires_grad_()
    torch.manual_seed(0)
    weights = torch.randn(ROWS, 6)[begin:end]
    y = layer(x)
    (y.sin() * weights).sum().backward()
    assert x.grad is not None
    return {"y": y.detach(), "x.grad": x.grad} | {
        f"{name}.grad": p.grad for name, p in layer.named_parameters() if p.grad is not None
    }


def bootstrap() -> Bootstrap:
    sets = ["encoder.width=8", "heads.hidden=8", "heads.width=8"]
    return Bootstrap(6, load_recipe("default", sets), torch.Generator().manual_seed(1))


def views(begin: int, end: int) -> tuple[View, View]:
    x, nowhere = data(), None
    first, second = x[begin:end], x.flip(0)[begin:end]
    operator: Any = nowhere  # rows are propagated already
    return View(first, operator, first), View(second, operator, second)


def one_rank(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    store = f"file://{folder}/store"
    distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=2)
    begin, end = CUT[rank], CUT[rank + 1]
    kept = norm_of(SharedBatchNorm(6, track_running_stats=False), data(), begin, end)
    model = bootstrap()
    share_statistics(model)
    parallel = ParallelModel(model)
    loss = weighted_sum(share_rows(PAPER), parallel(*views(begin, end)), views(begin, end))
    loss.backward()  # type: ignore[no-untyped-call]
    kept |= {n: p.grad for n, p in model.named_parameters() if p.grad is not None}
    torch.save(kept | {"loss": loss.detach()}, f"{folder}/{rank}.pt")
    distributed.destroy_process_group()


def test_two_ranks_of_unequal_rows_are_one_process(tmp_path: Path) -> None:
    spawn(one_rank, (str(tmp_path),), nprocs=2)  # type: ignore[no-untyped-call]
    ranks = [torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2)]
    alone = norm_of(nn.BatchNorm1d(6, track_running_stats=False), data(), 0, ROWS)
    close = partial(torch.testing.assert_close, atol=1e-6, rtol=1e-5)
    for name in ("y", "x.grad"):
        close(torch.cat([r[name] for r in ranks]), alone[name])
    for name in ("weight.grad", "bias.grad"):  # DDP adds these up
        close(ranks[0][name] + ranks[1][name], alone[name])
    model = bootstrap()
    loss = symmetric_loss(model(*views(0, ROWS)))
    loss.backward()  # type: ignore[no-untyped-call]
    for rank in ranks:
        close(rank["loss"], loss.detach())
        for name, p in model.named_parameters():
            if p.grad is not None:
                close(rank[name], p.grad)


def test_sharing_statistics_leaves_the_checkpoint_as_it_is() -> None:
    before, model = bootstrap().state_dict(), bootstrap()
    share_statistics(model)
    assert sum(isinstance(m, SharedBatchNorm) for m in model.modules()) == 3
    assert list(model.state_dict()) == list(before)
