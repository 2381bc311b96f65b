"""One training looked at after several numbers of epochs, and resumed where it stopped."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dgb.model.bootstrap import Bootstrap
from dgb.recipe import Recipe
from dgb.run.machine import choose_device, generators
from dgb.run.setup import Setup
from dgb.train.checkpoint import load_state, save_state
from dgb.train.loop import make_state, train_epoch

KEPT_EVERY = 100  # epochs: what a stop loses at most


def train_lengths(
    setup: Setup, recipe: Recipe, lengths: Sequence[int], folder: Path | None = None
) -> Iterator[tuple[int, Any]]:
    """Train with the recipe's seed; yield the encoder after each of some numbers of epochs.

    What is yielded after L epochs has the bits of a training whose `train.epochs` is L. With a
    folder, a training that stopped resumes after its last checkpoint, and does not yield again what
    was yielded before that.
    """
    device = choose_device(recipe.train.device)
    for_weights, for_masks = generators(recipe.train.seed, device)
    model = Bootstrap(setup.draw_encoder, recipe, for_weights).to(device)
    state = make_state(model, recipe.train, for_masks)
    draw_epoch = setup.sampler(for_masks)
    is_resumed = folder is not None and load_state(state, folder)
    if 0 in lengths and not is_resumed:
        yield 0, model.encoder
    while state.epoch < max(lengths):
        train_epoch(state, draw_epoch, recipe.train)
        if state.epoch in lengths:
            yield state.epoch, model.encoder
        # After the yield: what a checkpoint holds has been looked at.
        if folder and (state.epoch in lengths or state.epoch % KEPT_EVERY == 0):
            save_state(state, folder)
