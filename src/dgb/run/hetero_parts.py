"""What the two kinds of encoder for heterogeneous graphs differ in; all else is shared."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from dgb.arrays import Array
from dgb.data.structure import union_ids, with_features
from dgb.data.typed.graph import HeteroGraph
from dgb.data.typed.schema import Schema, schema_of
from dgb.errors import DGBError
from dgb.model.encoder import MakeEncoder
from dgb.model.typed import make_hetero_encoder
from dgb.recipe import ALL_TYPES, Recipe
from dgb.run.trained import check_recipe
from dgb.views.inputs import needed_operators
from dgb.views.metapaths.inputs import PathInputs, make_path_inputs, metapaths_of
from dgb.views.metapaths.rates import parse_typed_view
from dgb.views.metapaths.relations import make_typed_inputs, typed_sampler
from dgb.views.metapaths.sampler import PathViews, path_sampler
from dgb.views.sampler import Epoch
from dgb.views.view import View


@dataclass(frozen=True, eq=False)
class Parts:
    """Inputs of a run in the form of its encoder."""

    schema: Schema
    draw_encoder: MakeEncoder
    sampler: Callable[[torch.Generator], Callable[[], Epoch]]
    clean_views: Callable[[], Iterator[Any]]  # without dropout; the sum of their H is embedded
    node_ids: Array  # of the rows of H
    notes: tuple[str, ...] = ()  # on features that were made, to be told


def make_parts(
    graph: HeteroGraph,
    recipe: Recipe,
    device: torch.device,
    limit_gb: float | None = None,
    *,
    is_trained: bool = False,
) -> Parts:
    """Prepare a graph for the encoder that the recipe asks for, or for one that is trained."""
    recipe = resolve(graph, recipe)
    is_over_relations = recipe.hetero.encoder == "relations"
    used = graph.nodes if is_over_relations else [graph.target]
    featured = with_features(graph, used, recipe.data.structure)
    if is_over_relations:
        parts = _relation_parts(featured, recipe, device)
    else:
        inputs = make_path_inputs(featured, recipe, device, limit_gb, is_trained=is_trained)
        parts = _path_parts(featured, inputs, recipe)
    return replace(parts, notes=featured.notes[len(graph.notes) :])


def _path_parts(graph: HeteroGraph, inputs: PathInputs, recipe: Recipe) -> Parts:
    def clean_views() -> Iterator[PathViews]:
        for name in recipe.embed.operator.split("+"):
            operators = (path[name] for path in inputs.operators.values())
            yield PathViews(tuple(View(inputs.x, operator) for operator in operators))

    schema = schema_of(graph, [graph.target])
    return Parts(
        schema,
        partial(make_hetero_encoder, schema, recipe),
        lambda generator: path_sampler(inputs, graph.target, recipe, generator),
        clean_views,
        embedded_ids(graph, recipe),
    )


def _relation_parts(graph: HeteroGraph, recipe: Recipe, device: torch.device) -> Parts:
    inputs = make_typed_inputs(graph, recipe, device)
    schema = schema_of(graph, graph.nodes)
    return Parts(
        schema,
        partial(make_hetero_encoder, schema, recipe),
        lambda generator: typed_sampler(inputs, recipe, generator),
        lambda: iter([inputs]),
        embedded_ids(graph, recipe),
    )


@torch.no_grad()
def embed_parts(encoder: Any, parts: Parts) -> Array:
    """Return the representations H of the clean graph."""
    total = sum(encoder(view) for view in parts.clean_views())
    array: Array = total.cpu().numpy()
    return array


def embedded_ids(graph: HeteroGraph, recipe: Recipe) -> Array:
    """Return what the rows of the embeddings are called."""
    if recipe.data.target == ALL_TYPES:
        return union_ids(graph)
    return graph.nodes[graph.target].node_ids


def target_rows(graph: HeteroGraph, z: Array, recipe: Recipe) -> Array:
    """Return the rows of the target type among those that are embedded."""
    if recipe.data.target != ALL_TYPES:
        return z
    names = list(graph.nodes)
    start = sum(graph.nodes[name].num_nodes for name in names[: names.index(graph.target)])
    return np.asarray(z[start : start + graph.nodes[graph.target].num_nodes])


def resolve(graph: HeteroGraph, recipe: Recipe) -> Recipe:
    """Return the recipe with the meta-paths named that it leaves to be found, after checks."""
    check_hetero_recipe(recipe)
    is_over_relations = recipe.hetero.encoder == "relations"
    for view in (recipe.view1, recipe.view2):
        parse_typed_view(view, graph.nodes, None if is_over_relations else graph.target)
    if is_over_relations:
        return recipe
    names = ",".join(dict.fromkeys(path.name for path in metapaths_of(graph, recipe)))
    return replace(recipe, hetero=replace(recipe.hetero, metapaths=names))


def check_hetero_recipe(recipe: Recipe) -> None:
    """Refuse settings that make no sense for heterogeneous graphs."""
    check_recipe(recipe)
    is_over_relations = recipe.hetero.encoder == "relations"
    if recipe.embed.smooth or recipe.embed.features:
        raise DGBError(
            "embed.smooth and embed.features are for graphs of one node type; unset them"
        )
    if recipe.data.target == ALL_TYPES and not is_over_relations:
        raise DGBError(
            "meta-paths embed one type; name it with data.target, or take --recipe relations, "
            "which embeds all types together"
        )
    if is_over_relations and needed_operators(recipe) != {"adj"}:
        raise DGBError(
            "an encoder over relations goes over adj alone: take --recipe relations, or set "
            "view1.augment, view2.augment and embed.operator to end in adj"
        )
    if is_over_relations and (recipe.hetero.metapaths or recipe.hetero.materialise):
        raise DGBError(
            "hetero.metapaths and hetero.materialise go with hetero.encoder=metapaths or union"
        )
    if is_over_relations and recipe.train.batch_size:
        raise DGBError("train.batch_size needs hetero.encoder=metapaths with encoder.layers=1")
