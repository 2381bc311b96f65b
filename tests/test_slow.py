"""Checks that train for minutes on the bundled Cora: `make test-slow`."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dgb.cookbook import load_recipe
from dgb.data.load import load_graph
from dgb.measure.repeat import score_training
from dgb.run.train import train

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent


def test_cora_is_far_above_the_untrained_encoder_and_raw_features() -> None:
    scores = score_training(load_graph("cora"), load_recipe("paper-cora"))
    dgb, random, raw = (scores[name]["probe"]["test"] for name in ("dgb", "random", "raw"))
    assert dgb > 0.79
    assert dgb > random + 0.05
    assert random > raw + 0.05
    assert scores["dgb"]["cluster"]["nmi"] > scores["random"]["cluster"]["nmi"]


def test_resuming_on_cora_gives_the_bits_of_never_stopping(tmp_path: Path) -> None:
    graph = load_graph("cora")
    recipe = load_recipe("paper-cora", ["train.epochs=12", "train.checkpoint_every=5"])
    whole = train(graph, recipe).embeddings()
    train(graph, replace(recipe, train=replace(recipe.train, epochs=7)), tmp_path)
    np.testing.assert_array_equal(train(graph, recipe, tmp_path).embeddings(), whole)


def test_the_example_of_loose_parts_runs() -> None:
    command = [sys.executable, str(ROOT / "examples" / "from_parts.py")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert float(printed.split("test accuracy:")[1]) > 0.75


def test_held_out_nodes_are_embedded_within_two_points_of_retraining() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "new_nodes.py"), "--runs", "3"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert float(printed.split("difference")[1].split("±")[0]) > -2
