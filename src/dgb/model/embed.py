"""Embedding: the online encoder on the clean features, nothing else kept."""

import torch
from torch import Tensor

from dgb.model.embed_rows import embed_rows
from dgb.model.encoder import Encoder
from dgb.model.layers import l2_normalise
from dgb.recipe import Embed
from dgb.views.inputs import Inputs
from dgb.views.sparse import SparseMatrix
from dgb.views.view import View, propagates_first


@torch.no_grad()
def embed(
    encoder: Encoder, inputs: Inputs, recipe: Embed | None = None, name: str = "embeddings"
) -> Tensor:
    """Return the representations H; `smooth` and `features` go beyond the paper.

    Where the inputs are kept on disk, so is the result, in a file of this name.
    """
    recipe = recipe or Embed()
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
    width = encoder.weights[0].shape[1]
    total: Tensor | None = None
    for name in operator.split("+"):
        view = View(inputs.x, inputs.operators[name])
        if propagates_first(inputs.x, view.operator, width):
            view = view.propagate()
        h = encoder(view)
        total = h if total is None else total + h
    assert total is not None
    return total
