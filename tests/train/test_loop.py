"""The loop: it learns, repeats itself bit for bit, resumes bit for bit, and stops when told."""

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap, Outputs
from dgb.model.loss import Loss, symmetric_loss
from dgb.recipe import Recipe
from dgb.run.machine import generators
from dgb.train import checkpoint, loop
from dgb.train.monitor import read_metrics
from dgb.views.inputs import make_inputs
from dgb.views.sampler import epoch_sampler

SMALL = ["encoder.width=8", "heads.hidden=10", "heads.width=6", "train.epochs=12"]
SMALL += ["train.monitor_every=3", "train.checkpoint_every=5"]


def recipe_with(*sets: str) -> Recipe:
    return load_recipe("paper", [*SMALL, *sets])


def train(graph: Graph, recipe: Recipe, folder: Path | None = None) -> Bootstrap:
    inputs = make_inputs(graph, recipe, torch.device("cpu"))
    for_weights, for_masks = generators(recipe.train.seed, torch.device("cpu"))
    model = Bootstrap(graph.num_features, recipe, for_weights)
    views = epoch_sampler(inputs, recipe, for_masks)
    loop.fit(model, views, recipe.train, for_masks, folder=folder)
    return model


def same(a: Bootstrap, b: Bootstrap) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))


def test_loss_falls(blocks: Graph, tmp_path: Path) -> None:
    train(blocks, recipe_with("train.epochs=40", "train.learning_rate=0.01"), tmp_path)
    losses = [line["loss"] for line in read_metrics(tmp_path)]
    assert len(losses) == 40
    assert sum(losses[-5:]) < 0.7 * sum(losses[:5])


@pytest.mark.parametrize("sets", [[], ["train.batch_size=20"], ["diffusion.top_k=5"]])
def test_same_seed_same_bits(blocks: Graph, sets: list[str]) -> None:
    recipe = recipe_with(*sets)
    torch.manual_seed(1)
    first = train(blocks, recipe)
    torch.manual_seed(2)
    assert same(first, train(blocks, recipe))
    assert not same(first, train(blocks, recipe_with(*sets, "train.seed=1")))


@pytest.mark.parametrize("sets", [[], ["train.batch_size=20"], ["train.weight_decay=0.01"]])
@pytest.mark.parametrize("stop", [5, 10])
def test_resuming_gives_the_bits_of_never_stopping(
    blocks: Graph, tmp_path: Path, sets: list[str], stop: int
) -> None:
    recipe = recipe_with(*sets)
    whole = train(blocks, recipe)
    train(blocks, replace(recipe, train=replace(recipe.train, epochs=stop)), tmp_path)
    resumed = train(blocks, recipe, tmp_path)
    assert same(whole, resumed)
    assert [line["epoch"] for line in read_metrics(tmp_path)] == list(range(1, 13))


def test_metrics_after_the_checkpoint_are_trained_again(blocks: Graph, tmp_path: Path) -> None:
    recipe = recipe_with()
    train(blocks, replace(recipe, train=replace(recipe.train, epochs=7)), tmp_path)
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"epoch": 8, "los')  # killed while writing
    assert same(train(blocks, recipe, tmp_path), train(blocks, recipe))
    assert [line["epoch"] for line in read_metrics(tmp_path)] == list(range(1, 13))


@pytest.mark.usefixtures("ctrl_c_in_epoch_3")
def test_ctrl_c_finishes_the_epoch_and_can_be_resumed(blocks: Graph, tmp_path: Path) -> None:
    recipe = recipe_with()
    with pytest.raises(KeyboardInterrupt):
        train(blocks, recipe, tmp_path)
    assert [line["epoch"] for line in read_metrics(tmp_path)] == [1, 2, 3]
    assert same(train(blocks, recipe, tmp_path), train(blocks, recipe))


def test_training_works_outside_the_main_thread(blocks: Graph) -> None:
    done: list[Bootstrap] = []
    thread = threading.Thread(target=lambda: done.append(train(blocks, recipe_with())))
    thread.start()
    thread.join()
    assert same(done[0], train(blocks, recipe_with()))


def test_checkpoint_of_another_model_is_refused(blocks: Graph, tmp_path: Path) -> None:
    train(blocks, recipe_with(), tmp_path)
    with pytest.raises(DGBError, match="another recipe"):
        train(blocks, recipe_with("encoder.width=9"), tmp_path)


def test_broken_checkpoint_is_one_clear_sentence(blocks: Graph, tmp_path: Path) -> None:
    (tmp_path / checkpoint.FILE).write_bytes(b"no tensors here")
    with pytest.raises(DGBError, match="cannot read"):
        train(blocks, recipe_with(), tmp_path)


def test_patience_stops_without_labels(blocks: Graph, tmp_path: Path) -> None:
    frozen = recipe_with("train.learning_rate=0", "train.epochs=50", "train.patience=4")
    still = replace(frozen, view1=replace(frozen.view1, augment="in+adj"))
    still = replace(still, view2=replace(still.view2, augment="in+adj"))
    train(blocks, still, tmp_path)  # nothing is drawn and nothing learnt: the loss stands still
    assert len(read_metrics(tmp_path)) == 5


def test_patience_on_effective_rank_measures_every_epoch(blocks: Graph, tmp_path: Path) -> None:
    sets = ["train.epochs=40", "train.patience=3", "train.stop_on=effective_rank"]
    train(blocks, recipe_with(*sets), tmp_path)
    lines = read_metrics(tmp_path)
    assert all("effective_rank" in line for line in lines)
    best = max(range(len(lines)), key=lambda i: lines[i]["effective_rank"])
    assert len(lines) == best + 1 + 3 < 40


def test_a_loss_that_is_no_number_stops_with_the_epoch(blocks: Graph) -> None:
    recipe = recipe_with()
    inputs = make_inputs(blocks, recipe, torch.device("cpu"))
    weights, masks = generators(0, torch.device("cpu"))
    model = Bootstrap(blocks.num_features, recipe, weights)
    with pytest.raises(DGBError, match=r"epoch 1; lower train\.learning_rate"):
        loop.fit(
            model,
            epoch_sampler(inputs, recipe, masks),
            recipe.train,
            masks,
            loss=[(float("nan"), symmetric_loss)],
        )


def test_metrics_are_json_lines_with_health(blocks: Graph, tmp_path: Path) -> None:
    train(blocks, recipe_with(), tmp_path)
    lines = [json.loads(text) for text in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines if "spread" in line] == [1, 3, 6, 9, 12]
    assert all(1 <= line["effective_rank"] <= 8 for line in lines if "spread" in line)


class Decoder(torch.nn.Module):
    """A term with a weight of its own: pairs of rows from two views, told apart by a number."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))

    def forward(self, outputs: Outputs, _views: Any) -> torch.Tensor:
        products = outputs.representation1 * outputs.representation2
        return (self.scale * products.mean() - 1).square()


def test_a_term_of_the_loss_is_trained_and_resumed_with_the_model(
    blocks: Graph, tmp_path: Path
) -> None:
    def run(folder: Path, epochs: int) -> tuple[Decoder, list[dict[str, Any]]]:
        recipe, cpu = recipe_with(f"train.epochs={epochs}"), torch.device("cpu")
        for_weights, for_masks = generators(0, cpu)
        model, decoder = Bootstrap(blocks.num_features, recipe, for_weights), Decoder()
        draw = epoch_sampler(make_inputs(blocks, recipe, cpu), recipe, for_masks)
        folder.mkdir(exist_ok=True)
        loss: Loss = [(1.0, symmetric_loss), (0.3, decoder)]
        return decoder, loop.fit(model, draw, recipe.train, for_masks, folder=folder, loss=loss)

    whole, lines = run(tmp_path / "whole", 6)
    run(tmp_path / "parts", 3)
    resumed, rest = run(tmp_path / "parts", 6)
    assert whole.scale.item() != 1 and torch.equal(resumed.scale, whole.scale)
    assert [line["loss"] for line in rest] == [line["loss"] for line in lines[3:]]
