"""Ranks that share the rows of a batch compute what one process computes on all of them."""

from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import distributed, nn

from dgb.cookbook import load_recipe
from dgb.model.bootstrap import Bootstrap
from dgb.model.loss import Loss, make_loss, weighted_sum
from dgb.ray.worker import (
    SharedBatchNorm,
    SharedBlockNorm,
    average_gradients,
    share_rows,
    share_statistics,
)
from dgb.train.checkpoint import State
from dgb.train.loop import make_state
from dgb.views.view import Rows
from tests.ranks import run_ranks

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


HOPS = ["encoder.hops=[0,1]", "encoder.norm=batch", "links.weight=1"]


def bootstrap(*sets: str) -> tuple[State, Loss]:
    sizes = ["encoder.width=8", "heads.hidden=8", "heads.width=8"]
    recipe, generator = load_recipe("paper", [*sizes, *sets]), torch.Generator().manual_seed(1)
    model = Bootstrap(3 if sets else 6, recipe, generator)
    loss = make_loss(recipe, model.encoder, generator)
    return make_state(model, recipe.train, generator, loss), loss  # the loss is learnt too


def views(begin: int, end: int) -> tuple[Rows, Rows]:
    x = data()
    # Pairs of the first rank alone: the other still has to wait for the decoder's gradients.
    pairs = torch.tensor([[0, 2], [1, 5]])[:, : 0 if begin else 2]
    return Rows(x[begin:end], pairs, pairs + 1), Rows(x.flip(0)[begin:end])


MODELS: dict[str, list[str]] = {"paper": [], "hops": HOPS}


def gradients(name: str, state: State, terms: Loss, both: tuple[Rows, Rows]) -> dict[str, Any]:
    """Return the loss and the gradients that a step takes, named by the recipe of the model."""
    loss = weighted_sum(terms, state.model(*both), both)
    loss.backward()  # type: ignore[no-untyped-call]
    state.optimizer.step()
    named = state.model.named_parameters()
    found = {f"{name}.{n}": p.grad for n, p in named if p.grad is not None}
    return found | {f"{name}.loss": loss.detach()}


def one_rank(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    store = f"file://{folder}/store"
    distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=2)
    begin, end = CUT[rank], CUT[rank + 1]
    kept = norm_of(SharedBatchNorm(6, track_running_stats=False), data(), begin, end)
    for name, sets in MODELS.items():
        state, terms = bootstrap(*sets)
        share_statistics(state.model)
        state.optimizer.register_step_pre_hook(average_gradients)
        kept |= gradients(name, state, share_rows(terms), views(begin, end))
    torch.save(kept, f"{folder}/{rank}.pt")
    distributed.destroy_process_group()


def test_two_ranks_of_unequal_rows_are_one_process(tmp_path: Path) -> None:
    run_ranks(one_rank, str(tmp_path))
    ranks = [torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2)]
    alone = norm_of(nn.BatchNorm1d(6, track_running_stats=False), data(), 0, ROWS)
    close = partial(torch.testing.assert_close, atol=1e-6, rtol=1e-5)
    for name in ("y", "x.grad"):
        close(torch.cat([r[name] for r in ranks]), alone[name])
    for name in ("weight.grad", "bias.grad"):  # before a step, which averages them
        close(ranks[0][name] + ranks[1][name], alone[name])
    for model, sets in MODELS.items():
        expected = gradients(model, *bootstrap(*sets), views(0, ROWS))
        for rank in ranks:
            for name, gradient in expected.items():
                close(rank[name], gradient)


def test_sharing_statistics_leaves_the_checkpoint_as_it_is() -> None:
    before, model = (bootstrap(*HOPS)[0].model for _ in range(2))
    share_statistics(model)
    kinds = (SharedBatchNorm, SharedBlockNorm)
    assert [sum(isinstance(m, kind) for m in model.modules()) for kind in kinds] == [3, 4]
    assert list(model.state_dict()) == list(before.state_dict())
