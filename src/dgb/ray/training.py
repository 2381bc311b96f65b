"""Training on many machines: Ray Train keeps the ranks going, an actor draws their epochs."""

import threading
from pathlib import Path
from typing import Any

import torch
from ray.train.torch import TorchConfig, TorchTrainer
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import ray
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap
from dgb.model.loss import Loss
from dgb.ray.blocks import GraphBlocks
from dgb.ray.epochs import Epochs
from dgb.ray.worker import RankJob, train_rank
from dgb.recipe import Recipe
from dgb.terminal import progress_bar
from dgb.train.checkpoint import CHECKPOINTS, load_state
from dgb.train.loop import make_state
from dgb.train.monitor import describe_cures, is_collapsed, read_metrics, show_line
from dgb.views.rows import batch_sizes
from dgb.views.view import ONE_LAYER
from ray import train

FAILURES = 3  # that a run survives
# A rank waits while blocks are propagated and the other way round: both may use all processors.
RANK_SHARE = 0.001


def check_ranks(recipe: Recipe, num_nodes: int, ranks: int) -> None:
    """Refuse what ranks that share rows cannot do."""
    if recipe.encoder.layers > 1:
        raise DGBError(f"--engine ray needs {ONE_LAYER}")
    if recipe.train.keep == "disk" or recipe.train.device == "cuda":
        raise DGBError(
            "--engine ray keeps blocks in Ray's own store and trains on CPUs; leave out "
            "train.keep=disk and train.device=cuda"
        )
    if recipe.links.held_out:
        raise DGBError(
            "--engine ray trains on all edges: set links.held_out=0 and train.stop_on=loss"
        )
    least = min(batch_sizes(num_nodes, recipe.train.batch_size))
    if not 1 <= ranks <= least:
        raise DGBError(
            f"--workers must be from 1 to {least}, the rows of the smallest batch, not {ranks}"
        )


def fit_ranks(
    drawn: tuple[Bootstrap, Loss, torch.Generator],
    blocks: GraphBlocks,
    recipe: Recipe,
    *,
    folder: Path,
    ranks: int,
) -> None:
    """Train a model in place as `dgb.train.loop.fit` does, on ranks that share the rows.

    Ray Train keeps its checkpoints in the run folder, which all machines have to reach.
    """
    check_ranks(recipe, blocks.shape[0], ranks)
    model, loss, generator = drawn
    folder = folder.resolve()
    here = ray.get_runtime_context().get_node_id()
    actor = ray.remote(
        num_cpus=0,
        max_restarts=-1,
        max_task_retries=-1,
        scheduling_strategy=NodeAffinitySchedulingStrategy(here, soft=False),
    )(Epochs)
    epochs = actor.remote(recipe, folder)
    job = RankJob(model, loss, generator.get_state(), recipe, blocks, epochs, folder)
    result = _watch(_make_trainer(job, ranks), recipe, folder)
    if message := ray.get(epochs.refusal.remote()):
        raise DGBError(message)
    with result.checkpoint.as_directory() as written:
        load_state(make_state(model, recipe.train, generator, loss), Path(written))


def _make_trainer(job: RankJob, ranks: int) -> Any:
    return TorchTrainer(
        train_rank,
        train_loop_config={"job": job},
        torch_config=TorchConfig(backend="gloo"),
        scaling_config=train.ScalingConfig(
            num_workers=ranks,
            resources_per_worker={"CPU": RANK_SHARE},
            placement_strategy="SPREAD",
        ),
        # Ray Train resumes from the checkpoints that it finds in a folder of this name.
        run_config=train.RunConfig(
            name="train",
            storage_path=str(job.folder / CHECKPOINTS),
            failure_config=train.FailureConfig(max_failures=FAILURES),
            checkpoint_config=train.CheckpointConfig(num_to_keep=2),
        ),
    )


def _watch(trainer: Any, recipe: Recipe, folder: Path) -> Any:
    """Run the trainer next to a bar of its epochs, in a thread: Ctrl-C stays with this one."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(trainer.fit())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    cures = describe_cures(recipe.train, has_norm=recipe.heads.batch_norm)
    with progress_bar(None, "train", unit="epoch", total=recipe.train.epochs) as bar:
        while thread.is_alive():
            thread.join(0.5)
            lines = read_metrics(folder)
            for number, line in enumerate(lines):
                if line["epoch"] > bar.n:
                    show_line(bar, line, "" if any(map(is_collapsed, lines[:number])) else cures)
    if isinstance(outcome[0], Exception):
        raise DGBError(
            f"training on Ray failed: {outcome[0]}; resume from its last checkpoint with "
            f"`dgb train --resume {folder} --engine ray` and the same --address"
        ) from outcome[0]
    return outcome[0]
