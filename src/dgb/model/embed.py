"""Embedding: the online encoder on the clean features, nothing else kept."""

import torch
from torch import Tensor

from dgb.model.encoder import Encoder
from dgb.views.inputs import Inputs
from dgb.views.view import View, propagates_first


@torch.no_grad()
def embed(encoder: Encoder, inputs: Inputs, operator: str = "adj") -> Tensor:
    """Return the representations over `adj` (the paper's way), `diff`, or their sum `adj+diff`."""
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
