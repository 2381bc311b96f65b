"""Embed a heterogeneous graph with an encoder that is trained already."""

from typing import Any

from dgb.arrays import Array
from dgb.data.typed.graph import HeteroGraph
from dgb.recipe import Recipe
from dgb.run.hetero_parts import embed_parts, make_parts
from dgb.run.machine import free_gb


def embed_hetero(encoder: Any, graph: HeteroGraph, recipe: Recipe) -> tuple[Array, Array]:
    """Return node ids and embeddings of a graph that was aligned to the encoder's schema."""
    device = next(encoder.parameters()).device
    limit_gb = recipe.train.memory_gb or free_gb(device)
    parts = make_parts(graph, recipe, device, limit_gb, is_trained=True)
    return parts.node_ids, embed_parts(encoder, parts)
