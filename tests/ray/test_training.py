"""Two ranks on two machines train as one process does, also when a machine dies."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from dgb.cookbook import load_recipe
from dgb.data.load import load_graph
from dgb.model.bootstrap import Bootstrap
from dgb.model.loss import PAPER
from dgb.recipe import Recipe
from dgb.run.machine import generators
from dgb.train import loop
from dgb.train.monitor import METRICS, read_metrics
from dgb.views.inputs import make_inputs
from dgb.views.sampler import epoch_sampler
from tests.ray.conftest import living

pytest.importorskip("ray")

CPU = torch.device("cpu")
SMALL = ["encoder.width=64", "heads.hidden=64", "heads.width=64", "train.threads=1"]


EPOCHS = 6
SMALL += [f"train.epochs={EPOCHS}", "train.checkpoint_every=2"]


@dataclass
class Run:
    """One recipe, trained alone and by two ranks."""

    recipe: Recipe
    alone: Bootstrap
    together: Bootstrap
    expected: list[float]
    found: list[float]


def recipe_with(*sets: str) -> Recipe:
    return load_recipe("paper-cora", [*SMALL, *sets])


def start(recipe: Recipe) -> tuple[Any, Any, Bootstrap, torch.Generator]:
    graph = load_graph("cora")
    inputs = make_inputs(graph, recipe, CPU)
    weights, masks = generators(recipe.train.seed, CPU)
    model = Bootstrap(graph.num_features, recipe, weights)
    # The predictor's BatchNorm takes this bias away again: its gradient is nothing but rounding,
    # of which Adam makes full steps. Left to learn, it parts any two orders of the same sums.
    dict(model.named_parameters())["projector.3.bias"].requires_grad_(False)
    return graph, inputs, model, masks


def train_alone(recipe: Recipe, folder: Path) -> Bootstrap:
    _, inputs, model, masks = start(recipe)
    folder.mkdir()
    sampler = epoch_sampler(inputs, recipe, masks)
    loop.fit(model, sampler, recipe.train, masks, folder=folder)
    return model


def train_together(recipe: Recipe, folder: Path, machines: list[dict[str, Any]]) -> Bootstrap:
    from dgb.ray import training
    from dgb.ray.blocks import make_layout, put_blocks

    graph, inputs, model, masks = start(recipe)
    folder.mkdir()
    layout = make_layout((graph.num_nodes, graph.num_features), machines)
    assert len(layout.columns) - 1 == len(machines) == 2
    blocks = put_blocks(inputs, layout)
    training.fit_ranks((model, PAPER, masks), blocks, recipe, folder=folder, ranks=2)
    return model


def losses(folder: Path) -> list[float]:
    return [line["loss"] for line in read_metrics(folder)]


@pytest.fixture(scope="module")
def runs(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """Return a function that trains by rows in batches of a size, once alone and once together."""
    folder, made = tmp_path_factory.mktemp("runs"), {}
    assert len(cluster.list_all_nodes()) == 2

    def run(size: str) -> Run:
        if size not in made:
            recipe = recipe_with(f"train.batch_size={size}")
            alone = train_alone(recipe, folder / f"alone-{size}")
            together = train_together(recipe, folder / f"together-{size}", living())
            found = losses(folder / f"together-{size}")
            made[size] = Run(recipe, alone, together, losses(folder / f"alone-{size}"), found)
        return made[size]

    return run


@pytest.mark.slow  # the default suite has one training on Ray, by the command: test_on_ray.py
@pytest.mark.parametrize("size", ["700", "0"])
def test_two_ranks_train_as_one_process(size: str, runs: Callable[[str], Run]) -> None:
    run = runs(size)
    assert len(run.found) == EPOCHS and run.found == pytest.approx(run.expected, abs=1e-4)
    assert run.expected[0] - run.expected[-1] > 0.1  # something was learnt
    difference = run.together.encoder.weights[0] - run.alone.encoder.weights[0]
    assert difference.abs().mean() < 1e-4  # Adam has moved each by up to 24 steps of 1e-3


@pytest.mark.slow
def test_a_machine_that_dies_within_an_epoch_changes_nothing(
    cluster: Any, runs: Callable[[str], Run], tmp_path: Path
) -> None:
    run, folder = runs("700"), tmp_path / "run"
    victim = [node for node in cluster.list_all_nodes() if not node.is_head()][-1]
    before = living()
    journals: list[int] = []

    def kill() -> None:
        while len(read_metrics(folder)) < 3 if folder.exists() else True:
            time.sleep(0.05)
        journals.append((folder / METRICS).stat().st_ino)
        cluster.remove_node(victim, allow_graceful=False)

    thread = threading.Thread(target=kill)
    thread.start()
    survivor = train_together(run.recipe, folder, before)
    thread.join()
    assert len(living()) == len(before) - 1
    assert (folder / METRICS).stat().st_ino != journals[0]  # ranks that begin again write another
    assert [line["epoch"] for line in read_metrics(folder)] == list(range(1, EPOCHS + 1))
    assert losses(folder) == pytest.approx(run.found, abs=1e-6)
    pairs = zip(survivor.parameters(), run.together.parameters(), strict=True)
    for ours, unkilled in pairs:
        torch.testing.assert_close(ours, unkilled, atol=1e-5, rtol=0)
