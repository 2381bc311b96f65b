"""DGB from its loose parts: two views, online and target network, the loss, the loop, the probe.

Run it with `python examples/from_parts.py`; it trains on the bundled Cora in about a minute.
"""

import torch

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
from dgb.views.view import View, parse_view

graph = load_graph("cora")
recipe = load_recipe("cora", ["train.epochs=100"])
generator = torch.Generator().manual_seed(0)

# Once: row-normalised features and the operators `adj` (Eq. 1) and `diff` (Eq. 4).
inputs = make_inputs(graph, recipe, torch.device("cpu"))
model = Bootstrap(graph.num_features, recipe, generator)


def draw_views() -> tuple[View, View]:
    """Draw both views with new masks: node feature dropout over adj, node dropout over diff."""
    specs = parse_view(recipe.view1), parse_view(recipe.view2)
    view1, view2 = (make_view(inputs.x, inputs.operators, s, generator) for s in specs)
    return view1, view2


print(f"loss before training: {symmetric_loss(model(*draw_views())).item():.3f}")
fit(model, lambda: [draw_views()], recipe.train, generator, loss=symmetric_loss)
print(f"loss after training:  {symmetric_loss(model(*draw_views())).item():.3f}")

# Afterwards: the online encoder on clean features and adj, nothing else.
z = embed(model.encoder, inputs).numpy()
assert graph.labels is not None
print(f"test accuracy: {linear_probe(z, graph.labels, graph.splits[0]).test:.3f}")
