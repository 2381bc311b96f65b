"""Embedding: the online encoder on the clean features, and other blocks next to it."""

from collections.abc import Iterator
from contextlib import ExitStack

import torch
from torch import Tensor, nn

from dgb.arrays import row_parts
from dgb.errors import DGBError
from dgb.model.blocks import (
    AXES,
    DIRECTIONS,
    FEATURES,
    FIXED,
    LENGTHS,
    centre_block,
    choose_scales,
    column_products,
    find_directions,
    find_lengths,
    keep,
    main_axes,
    make_structure,
    mean_name,
    read_lengths,
    split_blocks,
    sum_squares,
)
from dgb.model.encoder import Encoder, HopEncoder, hops_of
from dgb.recipe import PLAIN, Embed
from dgb.views.features import Store
from dgb.views.hops import clean_views, hold_hops, write_features
from dgb.views.inputs import Inputs


@torch.no_grad()
def embed(
    encoder: Encoder, inputs: Inputs, recipe: Embed | None = None, name: str = "embeddings"
) -> Tensor:
    """Compute the representations H of the clean graph.

    Args:
        encoder: The trained online encoder.
        inputs: What `make_inputs` returns for the graph.
        recipe: How H is read off, and which blocks stand next to it, beyond the paper.
        name: Of the file that holds the result where the inputs are kept on disk.

    Returns:
        One row per node.

    Example:
        >>> z = embed(model.encoder, inputs).numpy()
    """
    recipe = recipe or PLAIN
    _keep_all_fixed(encoder, inputs, recipe)
    is_training = isinstance(encoder, HopEncoder) and encoder.training
    with _hold_hops(encoder, inputs, recipe) as held:
        if is_training:
            _measure_statistics(encoder, inputs)
        z, _ = _make_blocks(encoder, inputs, recipe, name, held)
    is_measured = inputs.is_own and recipe.normalise == "block"
    lengths = _measure_lengths(encoder, recipe, z) if is_measured else read_lengths(encoder, recipe)
    scales = choose_scales(encoder, recipe, lengths)
    for rows in () if scales.is_identity else row_parts(*z.shape):
        z[rows] = scales.apply(z[rows])
    if isinstance(encoder, HopEncoder):
        encoder.train(is_training)
    return z


def _measure_lengths(encoder: Encoder, recipe: Embed, z: Tensor) -> Tensor:
    widths = recipe.widths(encoder.width, encoder.num_features)
    return find_lengths(sum_squares(z, widths), len(z), widths)


def _make_blocks(
    encoder: Encoder, inputs: Inputs, recipe: Embed, name: str, held: ExitStack
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the blocks side by side, in a file where the inputs lie in files; and their means.

    They are as they come, or centred, if the recipe says so. P^k X, which is held, is let go of
    once H is there and before there is room for all: each takes as much memory as the other.
    """
    widths = recipe.widths(encoder.width, encoder.num_features)
    if list(widths) == ["learnt"]:
        z = _make_h(encoder, inputs, recipe, name)
    else:
        h = _make_h(encoder, inputs, recipe, f"{name}-learnt") if "learnt" in widths else None
        held.close()
        z = _join(encoder, inputs, recipe, name, h)
    blocks = split_blocks(z, widths).items() if recipe.centre else ()
    return z, {
        block: centre_block(encoder, block, rows, is_own=inputs.is_own) for block, rows in blocks
    }


def _make_h(encoder: Encoder, inputs: Inputs, recipe: Embed, name: str) -> Tensor:
    width = recipe.widths(encoder.width, encoder.num_features)["learnt"]
    h = _make_room(inputs, name, (inputs.shape[0], width))
    _write_block(encoder, inputs, recipe, "learnt", h)
    return h


def _join(encoder: Encoder, inputs: Inputs, recipe: Embed, name: str, h: Tensor | None) -> Tensor:
    """Return all blocks side by side, H among them where it is asked for."""
    widths = recipe.widths(encoder.width, encoder.num_features)
    z = _make_room(inputs, name, (inputs.shape[0], sum(widths.values())))
    for block, out in split_blocks(z, widths).items():
        if h is not None and block == "learnt":
            out.copy_(h)
        else:
            _write_block(encoder, inputs, recipe, block, out)
    return z


def _make_room(inputs: Inputs, name: str, shape: tuple[int, int]) -> Tensor:
    if inputs.store is None:
        return torch.empty(shape, device=inputs.device)
    return torch.from_numpy(inputs.store.make_array(name, shape))


def _write_block(encoder: Encoder, inputs: Inputs, recipe: Embed, block: str, out: Tensor) -> None:
    """Write a block as it comes: H and X are diffused where the recipe says so."""
    if block in FIXED and inputs.is_own:
        out.copy_(inputs.fixed[block][1])
        return
    if block in FIXED:  # of a later graph nothing is kept: its vectors are made once anyway
        _write_fixed(encoder, inputs, recipe, block, out)
        return
    if block == FEATURES:
        write_features(inputs, out)
    else:
        _write_learnt(encoder, inputs, recipe, out)
    step = (inputs.store or Store()).width(inputs.shape[0])
    for i in range(0, out.shape[1], step) if recipe.smooth else ():
        columns = out[:, i : i + step].contiguous().to(inputs.x.device)
        out[:, i : i + step] = inputs.operators["smooth"].multiply(columns)


def _keep_all_fixed(encoder: Encoder, inputs: Inputs, recipe: Embed) -> None:
    """Keep the blocks of the training graph that no training changes, before others take room."""
    widths = recipe.widths(encoder.width, encoder.num_features)
    for block in FIXED if inputs.is_own else ():
        if block in widths:
            _keep_fixed(encoder, inputs, recipe, block, widths[block])


def _keep_fixed(encoder: Encoder, inputs: Inputs, recipe: Embed, block: str, width: int) -> None:
    """Keep a block of the training graph that no training changes: it is made once."""
    joined = (recipe.joined, recipe.nearest_weight, recipe.diffused_alpha)
    settings = (width, *(joined if block == "diffused" else ()))
    if block not in inputs.fixed or inputs.fixed[block][0] != settings:
        made = _make_room(inputs, block, (inputs.shape[0], width))
        _write_fixed(encoder, inputs, recipe, block, made)
        inputs.fixed[block] = settings, made


def _write_fixed(encoder: Encoder, inputs: Inputs, recipe: Embed, block: str, out: Tensor) -> None:
    """Write a block that no training changes."""
    if block == "structure":
        out.copy_(make_structure(inputs, recipe))
        return
    directions = find_directions(encoder, inputs, out.shape[1])
    inputs.diffused.write(directions, out)
    if recipe.diffused_nearest:
        inputs.diffused_over_nearest(out, recipe).write(directions, out)


def _write_learnt(encoder: Encoder, inputs: Inputs, recipe: Embed, out: Tensor) -> None:
    """Write H over `adj` (the paper's way), over `diff`, or the sum of both, `adj+diff`."""
    axes = _find_axes(encoder, inputs, recipe)
    for turn, name in enumerate(recipe.operator.split("+")):
        for rows, whole in _learnt_rows(encoder, inputs, name):
            h = whole if axes is None else whole @ axes.to(whole.device)
            out[rows] = out[rows] + h if turn else h


def _find_axes(encoder: Encoder, inputs: Inputs, recipe: Embed) -> Tensor | None:
    """Return the directions of H that are kept: of the training graph, whatever is embedded."""
    count = min(recipe.learnt_columns or encoder.width, encoder.width)
    kept: Tensor | None = getattr(encoder, AXES, None)
    if count == encoder.width:  # all of H, turned where an update has kept the axes before it
        return kept if kept is not None and kept.shape[1] == count else None
    if inputs.is_own and (kept is None or kept.shape[1] != count):
        names = recipe.operator.split("+")
        parts = (h for name in names for _, h in _learnt_rows(encoder, inputs, name))
        products = torch.as_tensor(sum(map(column_products, parts)))
        kept = main_axes(products, count, is_centred=recipe.centre)
    if kept is None or kept.shape[1] != count:
        raise DGBError(
            f"the model does not have {count} directions of its representations; train with "
            "embed.learnt_columns as it is wanted"
        )
    return kept


def _learnt_rows(encoder: Encoder, inputs: Inputs, operator: str) -> Iterator[tuple[slice, Tensor]]:
    """Yield H over an operator, all rows at once or some at a time."""
    for rows, view in clean_views(inputs, operator, hops_of(encoder), encoder.width):
        h = encoder(view)
        yield rows, h if inputs.store is None else h.cpu()


def _hold_hops(encoder: Encoder, inputs: Inputs, recipe: Embed) -> ExitStack:
    """Keep P^k X of the first operator that a recipe embeds over, until this is closed."""
    held = ExitStack()
    held.enter_context(hold_hops(inputs, recipe.operator.split("+")[0], hops_of(encoder)))
    return held


@torch.no_grad()
def settle(encoder: Encoder, inputs: Inputs, recipe: Embed) -> None:
    """Let a trained encoder keep what its embeddings need of the training graph."""
    assert isinstance(encoder, nn.Module)
    if inputs.directions is not None:
        keep(encoder, DIRECTIONS, inputs.directions)
    if needs_blocks := recipe.centre or recipe.normalise == "block":
        _keep_all_fixed(encoder, inputs, recipe)
    with _hold_hops(encoder, inputs, recipe) as held:
        _measure_statistics(encoder, inputs)
        if (axes := _find_axes(encoder, inputs, recipe)) is not None:
            keep(encoder, AXES, axes)
        if needs_blocks:
            z, means = _make_blocks(encoder, inputs, recipe, "embeddings", held)
            for block, mean in means.items():
                keep(encoder, mean_name(block), mean)
            if recipe.normalise == "block":
                keep(encoder, LENGTHS, _measure_lengths(encoder, recipe, z))


def _measure_statistics(encoder: Encoder, inputs: Inputs) -> None:
    """Let an encoder that has statistics keep those of the clean graph, and embed by them."""
    if not isinstance(encoder, HopEncoder):
        return
    encoder.eval()
    if encoder.has_statistics:
        views = clean_views(inputs, "adj", encoder.hops, encoder.width)
        sums = [encoder.sum_moments(view) for _, view in views]
        encoder.keep_statistics(sums, inputs.shape[0])
