"""Encoders of graphs with several node types: over meta-paths, or over all relations."""

from collections.abc import Mapping, Sequence
from itertools import chain

import torch
from torch import Tensor, nn

from dgb.data.typed.schema import Schema
from dgb.model.encoder import GCNEncoder
from dgb.model.layers import ACTIVATIONS, glorot, linear, standardise
from dgb.recipe import ALL_TYPES, EncoderRecipe, Recipe
from dgb.settings import listed_names
from dgb.views.augment import Features
from dgb.views.metapaths.chain import Link
from dgb.views.metapaths.sampler import PathViews, TypedGraph, link_ends
from dgb.views.product import product, times


class PathAttention(nn.Module):
    """β = softmax_M (mean over nodes of qᵀ tanh(W h_M + b)): one weight for each meta-path."""

    def __init__(self, width: int, columns: int, generator: torch.Generator) -> None:
        """Draw W and q."""
        super().__init__()
        self.linear = linear(width, columns, generator)
        self.query = glorot(columns, 1, generator)

    def forward(self, representations: Sequence[Tensor]) -> Tensor:
        """Return β, [meta-paths]."""
        scores = [(torch.tanh(self.linear(h)) @ self.query).mean() for h in representations]
        return torch.stack(scores).softmax(dim=0)


class PathEncoder(nn.Module):
    """H = Σ_M β_M H_M, where H_M is that of a GCN (Eq. 1) over meta-path M."""

    def __init__(self, schema: Schema, recipe: Recipe, generator: torch.Generator) -> None:
        """Draw an encoder for each meta-path or one for their union, then the attention."""
        super().__init__()
        is_union, paths = recipe.hetero.encoder == "union", listed_names(recipe.hetero.metapaths)
        self.num_features, self.width = schema.columns.width or 0, recipe.encoder.width
        self.encoders = nn.ModuleList(
            GCNEncoder(self.num_features, recipe.encoder, generator)
            for _ in range(1 if is_union else len(paths))
        )
        self.attention = PathAttention(self.width, recipe.hetero.attention, generator)

    def forward(self, view: PathViews) -> Tensor:
        """Return the representations H of the target nodes, [rows, width]."""
        return self.encode(view)[0]

    def encode_both(self, view1: PathViews, view2: PathViews) -> tuple[Tensor, Tensor]:
        """Return H of two views."""
        return self(view1), self(view2)

    def encode(self, view: PathViews) -> tuple[Tensor, Tensor]:
        """Return H and how much attention each meta-path got."""
        parts = [encoder(part) for encoder, part in zip(self.encoders, view.parts, strict=True)]
        beta = self.attention(parts)
        h = torch.stack([weight * part for weight, part in zip(beta, parts, strict=True)])
        return h.sum(dim=0), beta


class RelationLayer(nn.Module):
    """H'_t = σ(norm(H_t W_t + Σ N_r H_s W_r)), over all relations r that bring type s to type t.

    The norm is over the nodes of a type. Without it types differ by their sizes above all, and
    two views can agree by saying of which type a node is.
    """

    def __init__(
        self,
        widths: Mapping[str, int],
        sources: Sequence[str],
        recipe: EncoderRecipe,
        generator: torch.Generator,
    ) -> None:
        """Draw a weight matrix for every type and for the source of every link."""
        super().__init__()
        self.types = tuple(widths)
        sizes = [widths[name] for name in (*widths, *sources)]
        self.weights = nn.ParameterList(glorot(size, recipe.width, generator) for size in sizes)
        self.activation = ACTIVATIONS[recipe.activation]()

    def forward(
        self, h: Mapping[str, Features], links: Sequence[Link], wanted: Sequence[str]
    ) -> dict[str, Tensor]:
        """Return the rows of the types that are wanted."""
        count = len(self.types)
        own = dict(zip(self.types, self.weights[:count], strict=True))
        total = {name: times(h[name], own[name]) for name in wanted}
        for link, weight in zip(links, self.weights[count:], strict=True):
            if link.target in total:
                carried = product(link, times(h[link.source], weight))
                total[link.target] = total[link.target] + carried
        return {name: self.activation(standardise(rows)) for name, rows in total.items()}


class RelationEncoder(nn.Module):
    """Layers over the typed graph; H has the rows of the types to embed, one after the other."""

    def __init__(self, schema: Schema, recipe: Recipe, generator: torch.Generator) -> None:
        """Draw the layers, the first of which takes the features of the types."""
        super().__init__()
        widths = {name: columns.width or 0 for name, columns in schema.types.items()}
        ends = [link_ends(source, target) for source, _, target in schema.relations]
        sources = [source for source, _ in chain.from_iterable(ends)]
        self.embedded = tuple(widths) if recipe.data.target == ALL_TYPES else (schema.target,)
        self.num_features, self.width = widths[self.embedded[0]], recipe.encoder.width
        self.layers = nn.ModuleList()
        for _ in range(recipe.encoder.layers):
            self.layers.append(RelationLayer(widths, sources, recipe.encoder, generator))
            widths = dict.fromkeys(widths, self.width)

    def forward(self, view: TypedGraph) -> Tensor:
        """Return the representations H, [rows of the embedded types, width]."""
        h: Mapping[str, Features] = view.x
        for place, layer in enumerate(self.layers):
            is_last = place == len(self.layers) - 1
            h = layer(h, view.links, self.embedded if is_last else tuple(view.x))
        return torch.cat([torch.as_tensor(h[name]) for name in self.embedded])

    def encode_both(self, view1: TypedGraph, view2: TypedGraph) -> tuple[Tensor, Tensor]:
        """Return H of two views."""
        return self(view1), self(view2)


def make_hetero_encoder(schema: Schema, recipe: Recipe, generator: torch.Generator) -> nn.Module:
    """Draw an encoder for graphs of this schema; the recipe names its meta-paths."""
    make = RelationEncoder if recipe.hetero.encoder == "relations" else PathEncoder
    return make(schema, recipe, generator)
