"""Two processes that share the rows take the gradient of one process that has them all."""

from pathlib import Path
from typing import Any

import torch
from torch import distributed

from dgb.cookbook import load_recipe
from dgb.model.bootstrap import Bootstrap
from dgb.model.loss import symmetric_loss
from dgb.run.machine import generators
from dgb.views.inputs import make_inputs
from tests.conftest import draw_views, make_blocks
from tests.ranks import run_ranks

# Without BatchNorm: its statistics would have to travel between the processes.
SETS = ["heads.batch_norm=false", "train.order=propagate", "encoder.width=8", "heads.hidden=8"]


def gradient(rank: int, size: int, folder: str) -> None:
    """Write the gradient of the rows rank, rank + size, …, averaged over all processes."""
    torch.set_num_threads(1)
    graph = make_blocks(60)
    recipe = load_recipe("paper", SETS)
    for_weights, for_masks = generators(0, torch.device("cpu"))
    inputs = make_inputs(graph, recipe, torch.device("cpu"))
    views = draw_views(inputs, recipe, for_masks)
    model = Bootstrap(graph.num_features, recipe, for_weights)
    learnt = [p for p in model.parameters() if p.requires_grad]
    rows = torch.arange(rank, 60, size)
    symmetric_loss(model(*(view.rows(rows) for view in views))).backward()  # type: ignore[no-untyped-call]
    grads: list[Any] = [p.grad for p in learnt]
    if size > 1:
        # Not by DistributedDataParallel: freed after its group, it may wait for a thread for ever
        # that waits for it.
        store = f"file://{folder}/store"
        distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=size)
        for grad in grads:
            distributed.all_reduce(grad)
            grad /= size
        distributed.destroy_process_group()
    torch.save(grads, f"{folder}/{size}-{rank}.pt")


def test_two_processes_are_one_process(tmp_path: Path) -> None:
    gradient(0, 1, str(tmp_path))
    run_ranks(gradient, 2, str(tmp_path))
    alone = torch.load(tmp_path / "1-0.pt", weights_only=True)
    for rank in range(2):
        together = torch.load(tmp_path / f"2-{rank}.pt", weights_only=True)
        torch.testing.assert_close(together, alone, atol=1e-6, rtol=1e-4)
