"""One encoder over all relations of a typed graph, without meta-paths."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from dgb.model.layers import activation, glorot, standardise
from dgb.recipe import Encoder as EncoderRecipe
from dgb.views.augment import Features
from dgb.views.hetero.typed import Message, TypedGraph
from dgb.views.product import product, times

Ends = tuple[str, str]  # source and target type of a message


class RelationLayer(nn.Module):
    """H'_t = σ(norm(H_t W_t + Σ N_r H_s W_r)), over all relations r that bring type s to type t.

    The norm is over the nodes of a type. Without it types differ by their sizes above all, and
    two views are told to agree by saying of which type a node is.
    """

    def __init__(
        self,
        widths: Mapping[str, int],
        messages: Sequence[Ends],
        recipe: EncoderRecipe,
        generator: torch.Generator,
    ) -> None:
        """Draw a weight matrix for every type and every direction of a relation."""
        super().__init__()
        self.types, self.ends = tuple(widths), tuple(messages)
        sizes = [*widths.values(), *(widths[source] for source, _ in messages)]
        self.weights = nn.ParameterList(glorot(size, recipe.width, generator) for size in sizes)
        self.activation = activation(recipe.activation)

    def forward(
        self, h: Mapping[str, Features], messages: Sequence[Message], wanted: Sequence[str]
    ) -> dict[str, Tensor]:
        """Return the rows of the types that are wanted."""
        count = len(self.types)
        own = dict(zip(self.types, self.weights[:count], strict=True))
        total = {name: times(h[name], own[name]) for name in wanted}
        for message, weight in zip(messages, self.weights[count:], strict=True):
            if message.target in total:
                carried = product(message, times(h[message.source], weight))
                total[message.target] = total[message.target] + carried
        return {name: self.activation(standardise(rows)) for name, rows in total.items()}


class RelationEncoder(nn.Module):
    """Layers over the typed graph; H has the rows of the types to embed, one after the other."""

    def __init__(
        self,
        widths: Mapping[str, int],
        messages: Sequence[Ends],
        embedded: Sequence[str],
        recipe: EncoderRecipe,
        generator: torch.Generator,
    ) -> None:
        """Draw the layers; `widths` are the numbers of features of the types."""
        super().__init__()
        self.embedded = tuple(embedded)
        layers = []
        for _ in range(recipe.layers):
            layers.append(RelationLayer(widths, messages, recipe, generator))
            widths = dict.fromkeys(widths, recipe.width)
        self.layers = nn.ModuleList(layers)

    def forward(self, view: TypedGraph) -> Tensor:
        """Return the representations H, [rows of the embedded types, width]."""
        h: Mapping[str, Features] = view.x
        for place, layer in enumerate(self.layers):
            is_last = place == len(self.layers) - 1
            h = layer(h, view.messages, self.embedded if is_last else tuple(view.x))
        return torch.cat([torch.as_tensor(h[name]) for name in self.embedded])

    def encode_both(self, view1: TypedGraph, view2: TypedGraph) -> tuple[Tensor, Tensor]:
        """Return H of two views."""
        return self(view1), self(view2)
