"""The encoder of a heterogeneous graph that a recipe asks for."""

import torch
from torch import nn

from dgb.data.hetero.schema import Schema
from dgb.model.metapaths import PathEncoder
from dgb.model.relations import RelationEncoder
from dgb.recipe import ALL_TYPES, Recipe
from dgb.settings import listed_names
from dgb.views.hetero.typed import message_ends


def make_hetero_encoder(schema: Schema, recipe: Recipe, generator: torch.Generator) -> nn.Module:
    """Draw an encoder for graphs of this schema; the recipe names its meta-paths."""
    widths = {name: columns.width or 0 for name, columns in schema.types.items()}
    if recipe.hetero.encoder == "relations":
        ends = [
            end for source, _, target in schema.relations for end in message_ends(source, target)
        ]
        embedded = tuple(widths) if recipe.data.target == ALL_TYPES else (schema.target,)
        return RelationEncoder(widths, ends, embedded, recipe.encoder, generator)
    is_union = recipe.hetero.encoder == "union"
    count = 1 if is_union else len(listed_names(recipe.hetero.metapaths))
    return PathEncoder(widths[schema.target], count, recipe, generator)
