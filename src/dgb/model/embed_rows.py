"""Embedding some rows at a time, so that the result alone has a row for every node in memory."""

import torch
from torch import Tensor

from dgb.data.parts import row_parts
from dgb.model.encoder import Encoder
from dgb.model.layers import l2_normalise
from dgb.recipe import Embed
from dgb.views.columns import ColumnBlocks
from dgb.views.inputs import Inputs
from dgb.views.product import Operator
from dgb.views.rows import fill, propagate
from dgb.views.view import Rows


def embed_rows(encoder: Encoder, inputs: Inputs, recipe: Embed, name: str) -> Tensor:
    """Return what `embed` returns; it lies in a file of this name where the inputs lie in files."""
    assert inputs.store is not None
    (num_nodes, num_features), width = inputs.shape, encoder.weights[0].shape[1]
    shape = (num_nodes, width + num_features * recipe.features)
    out = torch.from_numpy(inputs.store.make_array(name, shape))
    blocks = inputs.store.make_blocks("view1", inputs.shape, inputs.x.device)
    for turn, operator in enumerate(recipe.operator.split("+")):
        _fill_clean(blocks, inputs)
        propagate(blocks, inputs.operators[operator])
        for rows in row_parts(*shape):
            batch = blocks.rows(rows.start, rows.stop).to(inputs.device)
            h = encoder(Rows(batch)).cpu()
            out[rows, :width] = out[rows, :width] + h if turn else h
    if recipe.features:
        _fill_clean(blocks, inputs)
        for rows in row_parts(*shape):
            out[rows, width:] = blocks.rows(rows.start, rows.stop).cpu()
    if recipe.smooth:
        _smooth(out, inputs.operators["smooth"], inputs)
    if recipe.features:
        for rows in row_parts(*shape):
            out[rows] = torch.cat([l2_normalise(p) for p in out[rows].tensor_split([width], 1)], 1)
    return out


def _fill_clean(blocks: ColumnBlocks, inputs: Inputs) -> None:
    fill(blocks, inputs.x, inputs.row_scale, (), torch.Generator(inputs.x.device))


def _smooth(out: Tensor, operator: Operator, inputs: Inputs) -> None:
    assert inputs.store is not None
    width = inputs.store.width(len(out))
    for i in range(0, out.shape[1], width):
        columns = out[:, i : i + width].contiguous().to(inputs.x.device)
        out[:, i : i + width] = operator.multiply(columns).cpu()
