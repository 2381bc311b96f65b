"""A training looked at in its middle: the bits of shorter trainings, also after a stop."""

from pathlib import Path

import numpy as np
import torch

from dgb.arrays import Array
from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.measure.measure import train_lengths
from dgb.run.setup import Setup, make_setup
from dgb.run.train import train

RECIPE = load_recipe(
    "paper", ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=6"]
)
LENGTHS = (0, 2, 3, 6)


def _embeddings(setup: Setup, folder: Path | None = None, stop_at: int = 7) -> dict[int, Array]:
    found = {}
    for epochs, encoder, _ in train_lengths(setup, RECIPE, LENGTHS, folder):
        found[epochs] = setup.embed(encoder, "embeddings")
        if epochs == stop_at:
            break
    return found


def test_every_length_has_the_bits_of_a_training_of_that_length(blocks: Graph) -> None:
    found = _embeddings(make_setup(blocks, RECIPE, torch.device("cpu")))
    assert list(found) == list(LENGTHS)
    np.testing.assert_array_equal(found[0], train(blocks, RECIPE).first_embeddings())
    for length in LENGTHS[1:]:
        whole = train(blocks, load_recipe(RECIPE, [f"train.epochs={length}"]))
        np.testing.assert_array_equal(found[length], whole.embeddings())


def test_a_stopped_training_resumes_to_the_same_bits(blocks: Graph, tmp_path: Path) -> None:
    setup = make_setup(blocks, RECIPE, torch.device("cpu"))
    whole = _embeddings(setup)
    before = _embeddings(setup, tmp_path, stop_at=3)  # before the checkpoint of epoch 3 is written
    after = _embeddings(setup, tmp_path)
    assert (list(before), list(after)) == ([0, 2, 3], [3, 6])
    for length, z in {**before, **after}.items():
        np.testing.assert_array_equal(z, whole[length])


def test_trainings_that_share_a_setup_do_not_touch_each_other(blocks: Graph) -> None:
    setup = make_setup(blocks, RECIPE, torch.device("cpu"))
    first = _embeddings(setup)
    other = load_recipe(RECIPE, ["train.seed=1"])
    seeds = [setup.embed(found.encoder, "embeddings") for found in train_lengths(setup, other, [6])]
    assert not np.array_equal(seeds[0], first[6])
    np.testing.assert_array_equal(_embeddings(setup)[6], first[6])
