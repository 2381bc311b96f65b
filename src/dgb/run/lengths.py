"""One training looked at after several numbers of epochs, and resumed where it stopped."""

from collections.abc import Collection, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from dgb.recipe import Recipe
from dgb.run.machine import choose_device
from dgb.run.setup import Setup, draw_model
from dgb.train.checkpoint import load_state, save_state
from dgb.train.loop import make_state, train_epoch

KEPT_EVERY = 100  # epochs: what a stop loses at most


class Length(NamedTuple):
    """A training after some epochs."""

    epochs: int
    encoder: Any
    auc: float | None = None  # of links.held_out, the mean over epochs since the length before


def train_lengths(
    setup: Setup, recipe: Recipe, lengths: Collection[int], folder: Path | None = None
) -> Iterator[Length]:
    """Train with the recipe's seed; yield the encoder after each of some numbers of epochs.

    What is yielded after L epochs has the bits of a training whose `train.epochs` is L. With a
    folder, a training that stopped resumes after its last checkpoint, and does not yield again what
    was yielded before that.
    """
    model, loss, for_masks = draw_model(setup, recipe, choose_device(recipe.train.device))
    state = make_state(model, recipe.train, for_masks, loss)
    draw_epoch = setup.sampler(for_masks)
    is_resumed = folder is not None and load_state(state, folder)
    if 0 in lengths and not is_resumed:
        yield Length(0, model.encoder)
    rated: list[float] = []
    while state.epoch < max(lengths, default=0):
        line = train_epoch(state, draw_epoch, recipe.train, loss)
        rated += [line["auc"]] if "auc" in line else []
        if state.epoch in lengths:
            yield Length(state.epoch, model.encoder, fmean(rated) if rated else None)
            rated = []
        # After the yield: what a checkpoint holds has been looked at.
        if folder and (state.epoch in lengths or state.epoch % KEPT_EVERY == 0):
            save_state(state, folder)
