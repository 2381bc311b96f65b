"""Embedding: the online encoder on the clean features, nothing else kept."""

from functools import reduce

import torch
from torch import Tensor

from dgb.arrays import row_parts
from dgb.model.encoder import Encoder
from dgb.model.hops import HopEncoder
from dgb.model.layers import l2_normalise
from dgb.recipe import Embed
from dgb.views.inputs import Inputs
from dgb.views.rows import ColumnBlocks, HopBlocks, fill
from dgb.views.sparse import SparseMatrix
from dgb.views.view import Rows, View


@torch.no_grad()
def embed(
    encoder: Encoder, inputs: Inputs, recipe: Embed | None = None, name: str = "embeddings"
) -> Tensor:
    """Compute the representations H of the clean graph.

    Args:
        encoder: The trained online encoder.
        inputs: What `make_inputs` returns for the graph.
        recipe: How H is read off; `smooth` and `features` go beyond the paper.
        name: Of the file that holds the result where the inputs are kept on disk.

    Returns:
        One row per node.

    Example:
        >>> z = embed(model.encoder, inputs).numpy()
    """
    recipe = recipe or Embed()
    if isinstance(encoder, HopEncoder) and encoder.training:
        settle(encoder, inputs)
        z = embed(encoder, inputs, recipe, name)
        encoder.train()
        return z
    if inputs.store is not None:
        return embed_rows(encoder, inputs, recipe, name)
    parts = [_representations(encoder, inputs, recipe.operator)]
    if recipe.features:
        parts.append(inputs.x.dense() if isinstance(inputs.x, SparseMatrix) else inputs.x)
    if recipe.smooth:
        parts = [inputs.operators["smooth"].multiply(part) for part in parts]
    return torch.cat([l2_normalise(part) for part in parts], 1) if recipe.features else parts[0]


def _representations(encoder: Encoder, inputs: Inputs, operator: str) -> Tensor:
    """Return H over `adj` (the paper's way), over `diff`, or the sum of both, `adj+diff`."""
    views = (View(inputs.x, inputs.operators[name]) for name in operator.split("+"))
    ordered = (view.in_order("auto", encoder.width, hops_of(encoder)) for view in views)
    return reduce(torch.add, map(encoder, ordered))


def hops_of(encoder: Encoder) -> tuple[int, ...]:
    """Return the hops k of the P^k X that an encoder takes; one, where it does not say."""
    return encoder.hops if isinstance(encoder, HopEncoder) else (1,)


def settle(encoder: Encoder, inputs: Inputs) -> None:
    """Let an encoder that has statistics keep those of the clean graph, and embed by them."""
    if not isinstance(encoder, HopEncoder):
        return
    encoder.eval()
    if not encoder.has_statistics:
        return
    if inputs.store is None:
        view = View(inputs.x, inputs.operators["adj"])
        encoder.measure_statistics([view.in_order("auto", encoder.width, encoder.hops)])
        return
    blocks = _clean_blocks(encoder, inputs, "adj")
    parts = row_parts(inputs.shape[0], encoder.width)
    encoder.measure_statistics(_rows_of(blocks, part, inputs) for part in parts)


def embed_rows(encoder: Encoder, inputs: Inputs, recipe: Embed, name: str) -> Tensor:
    """Return what `embed` returns; it lies in a file of this name where the inputs lie in files."""
    assert inputs.store is not None
    (num_nodes, num_features), width = inputs.shape, encoder.width
    shape = (num_nodes, width + num_features * recipe.features)
    out = torch.from_numpy(inputs.store.make_array(name, shape))
    for turn, operator in enumerate(recipe.operator.split("+")):
        blocks = _clean_blocks(encoder, inputs, operator)
        for rows in row_parts(*shape):
            h = encoder(_rows_of(blocks, rows, inputs)).cpu()
            out[rows, :width] = out[rows, :width] + h if turn else h
    if recipe.features:
        _fill_clean(blocks.features, inputs)
        for rows in row_parts(*shape):
            out[rows, width:] = blocks.features.rows(rows.start, rows.stop).cpu()
    step = inputs.store.width(num_nodes)
    for i in range(0, shape[1], step) if recipe.smooth else ():
        columns = out[:, i : i + step].contiguous().to(inputs.x.device)
        out[:, i : i + step] = inputs.operators["smooth"].multiply(columns).cpu()
    if recipe.features:
        for rows in row_parts(*shape):
            out[rows] = torch.cat([l2_normalise(p) for p in out[rows].tensor_split([width], 1)], 1)
    return out


def _clean_blocks(encoder: Encoder, inputs: Inputs, operator: str) -> HopBlocks:
    assert inputs.store is not None
    blocks = HopBlocks(inputs.store, "view1", inputs.shape, inputs.x.device, hops_of(encoder))
    _fill_clean(blocks.features, inputs)
    blocks.propagate(inputs.operators[operator])
    return blocks


def _rows_of(blocks: HopBlocks, rows: slice, inputs: Inputs) -> Rows:
    return Rows(blocks.all.rows(rows.start, rows.stop).to(inputs.device))


def _fill_clean(blocks: ColumnBlocks, inputs: Inputs) -> None:
    fill(blocks, inputs.x, inputs.row_scale, (), torch.Generator(inputs.x.device))
