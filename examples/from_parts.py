"""DGB from its loose parts: views, an encoder of one's own, both networks, the loss, the loop.

Run it with `python examples/from_parts.py`; it trains on the bundled Cora in about a minute.
"""

import torch
from torch import Tensor, nn

from dgb import (
    Bootstrap,
    embed,
    fit,
    linear_probe,
    load_graph,
    load_recipe,
    make_inputs,
    make_view,
    symmetric_loss,
)
from dgb.views.augment import parse_view
from dgb.views.product import times
from dgb.views.view import View


class SkipEncoder(nn.Module):
    """H = tanh(P X̃ W) + X̃ V: what the neighborhood says next to what a node says of itself.

    An encoder is a module with `num_features`, `width`, a call that takes one view to its rows of
    H, and `encode_both` for two of them.
    """

    def __init__(self, num_features: int, width: int, generator: torch.Generator) -> None:
        """Draw W and V."""
        super().__init__()
        self.num_features, self.width = num_features, width
        shape = (num_features, width)
        self.near, self.own = (
            nn.Parameter(nn.init.xavier_uniform_(torch.empty(shape), generator=generator))
            for _ in range(2)
        )

    def forward(self, view: View) -> Tensor:
        """Return H of one view, [num_nodes, width]."""
        return torch.tanh(view.transform(self.near)) + times(view.x, self.own)

    def encode_both(self, view1: View, view2: View) -> tuple[Tensor, Tensor]:
        """Return H of two views."""
        return self(view1), self(view2)


graph = load_graph("cora")
recipe = load_recipe("paper-cora", ["train.epochs=30"])
generator = torch.Generator().manual_seed(0)

# Once: row-normalised features and the operators `adj` (Eq. 1) and `diff` (Eq. 4).
inputs = make_inputs(graph, recipe, torch.device("cpu"))
model = Bootstrap(lambda g: SkipEncoder(graph.num_features, 512, g), recipe, generator)


def draw_views() -> tuple[View, View]:
    """Draw both views with new masks: node feature dropout over adj, node dropout over diff."""
    specs = parse_view(recipe.view1), parse_view(recipe.view2)
    view1, view2 = (make_view(inputs, spec, generator) for spec in specs)
    return view1, view2


# The loss is a list of weights and terms, each of which sees the outputs and the two views.
print(f"loss before training: {symmetric_loss(model(*draw_views())).item():.3f}")
fit(model, lambda: [draw_views()], recipe.train, generator, loss=[(1.0, symmetric_loss)])
print(f"loss after training:  {symmetric_loss(model(*draw_views())).item():.3f}")

# Afterwards: the online encoder on clean features and adj, nothing else.
z = embed(model.encoder, inputs).numpy()
assert graph.labels is not None
print(f"test accuracy: {linear_probe(z, graph.labels, graph.splits[0]).test:.3f}")
