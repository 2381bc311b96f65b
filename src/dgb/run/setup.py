"""What a run computes once from a graph; whatever comes after it sees no kind of graph."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse

from dgb.arrays import Array, row_parts
from dgb.data.encoding import Encoding
from dgb.data.graph import Graph
from dgb.data.structure import union_ids, with_features
from dgb.data.typed.graph import AnyGraph, HeteroGraph
from dgb.data.typed.schema import Schema, schema_of
from dgb.errors import DGBError
from dgb.model.embed import embed
from dgb.model.encoder import Encoder, MakeEncoder, make_encoder
from dgb.model.typed import make_hetero_encoder
from dgb.recipe import ALL_TYPES, Recipe
from dgb.run.machine import choose_device, free_gb, generators
from dgb.settings import listed_names
from dgb.views.inputs import Inputs, make_inputs, needed_operators, normalise_features
from dgb.views.metapaths.inputs import PathInputs, make_path_inputs, metapaths_of
from dgb.views.metapaths.rates import parse_typed_view
from dgb.views.metapaths.relations import TypedGraph, make_typed_inputs, typed_sampler
from dgb.views.metapaths.sampler import PathViews, path_sampler
from dgb.views.operators import theta
from dgb.views.rows import batch_sizes
from dgb.views.sampler import Epoch, describe_path, epoch_sampler
from dgb.views.view import ONE_LAYER, View, parse_view


@dataclass(frozen=True, eq=False)
class Setup:
    """Inputs of a run in the form of its encoder, and what can be done with them."""

    recipe: Recipe  # resolved
    inputs: Inputs | PathInputs | TypedGraph
    node_ids: Array  # of the rows that are embedded
    draw_encoder: MakeEncoder
    sampler: Callable[[torch.Generator], Callable[[], Epoch]]
    embed: Callable[[Encoder, str], Array]  # by an encoder, without dropout; the name is of a file
    raw: Callable[[], Any]  # normalised features of the labelled nodes, None without features
    describe_steps: Callable[[], str]  # how they are computed, in a line
    attention: Callable[[Any], dict[str, float]] = lambda _: {}  # of an encoder, by meta-path
    labelled: slice = field(default_factory=lambda: slice(None))  # rows with labels
    encoding: Encoding | None = None  # of the columns of a graph of one node type
    schema: Schema | None = None  # of a graph of several
    notes: tuple[str, ...] = ()  # on features that were made


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained encoder and what it was trained on."""

    encoder: Encoder
    setup: Setup
    seconds: float

    @property
    def recipe(self) -> Recipe:
        """The recipe that was trained with, its meta-paths named."""
        return self.setup.recipe

    def embeddings(self) -> Array:
        """Return the representations of the training graph."""
        return self.setup.embed(self.encoder, "embeddings")

    def untrained_embeddings(self) -> Array:
        """Return the representations by the encoder as it was before its first step."""
        for_weights, _ = generators(self.recipe.train.seed, torch.device("cpu"))
        device = next(self.encoder.parameters()).device
        return self.setup.embed(self.setup.draw_encoder(for_weights).to(device), "untrained")

    def attention(self) -> dict[str, float]:
        """Return how much each meta-path weighs in the embeddings, where they are weighed."""
        return self.setup.attention(self.encoder)


def make_setup(
    graph: AnyGraph,
    recipe: Recipe,
    device: torch.device,
    *,
    is_trained: bool = False,
    scratch: Path | None = None,
) -> Setup:
    """Prepare a graph for the encoder of a resolved recipe, or for one that is trained already.

    Row batches of a graph of one node type are kept in files of the folder `scratch`, if given.
    """
    if isinstance(graph, Graph):
        inputs = make_inputs(graph, recipe, device, is_trained=is_trained, scratch=scratch)
        return _plain_setup(graph, inputs, recipe)
    return _typed_setup(graph, recipe, device, is_trained=is_trained)


def embedded_ids(graph: AnyGraph, recipe: Recipe) -> Array:
    """Return what the rows of the embeddings are called."""
    if isinstance(graph, Graph):
        return graph.node_ids
    is_whole = recipe.data.target == ALL_TYPES
    return union_ids(graph) if is_whole else graph.nodes[graph.target].node_ids


def _plain_setup(graph: Graph, inputs: Inputs, recipe: Recipe) -> Setup:
    return Setup(
        recipe,
        inputs,
        graph.node_ids,
        partial(make_encoder, graph.num_features, recipe.encoder),
        partial(epoch_sampler, inputs, recipe),
        lambda encoder, name: embed(encoder, inputs, recipe.embed, name).cpu().numpy(),
        partial(_raw_features, graph, inputs, recipe),
        partial(describe_path, inputs, recipe),
        encoding=graph.encoding,
    )


def _raw_features(graph: Graph, inputs: Inputs, recipe: Recipe) -> Any:
    """Return X as it was trained on; it lies in a file where the views do."""
    x, store = graph.x, inputs.store
    if not inputs.is_on_disk or store is None or sparse.issparse(x):
        return normalise_features(x, recipe.data)
    if inputs.row_scale is None:
        return x
    factors, out = inputs.row_scale.numpy(), store.make_array("raw", inputs.shape)
    for rows in row_parts(*x.shape):
        np.multiply(x[rows], factors[rows, None], out=out[rows])
    return out


def _typed_setup(
    graph: HeteroGraph, recipe: Recipe, device: torch.device, *, is_trained: bool
) -> Setup:
    is_over_relations = recipe.hetero.encoder == "relations"
    used = list(graph.nodes) if is_over_relations else [graph.target]
    featured = with_features(graph, used, recipe.data.structure)
    schema, x = schema_of(featured, used), graph.nodes[graph.target].x
    inputs: PathInputs | TypedGraph
    clean_views: Callable[[], Iterator[Any]]
    if is_over_relations:
        inputs = make_typed_inputs(featured, recipe, device)
        sampler, clean_views = partial(typed_sampler, inputs, recipe), lambda: iter([inputs])
    else:
        limit = recipe.train.memory_gb or free_gb(device)
        inputs = make_path_inputs(featured, recipe, device, limit, is_trained=is_trained)
        sampler = partial(path_sampler, inputs, graph.target, recipe)
        clean_views = partial(_clean_views, inputs, recipe)
    return Setup(
        recipe,
        inputs,
        embedded_ids(graph, recipe),
        partial(make_hetero_encoder, schema, recipe),
        sampler,
        partial(_embed_views, clean_views),
        lambda: None if x is None else normalise_features(x, recipe.data),
        partial(_describe_typed_steps, graph, recipe),
        attention=partial(_attention, clean_views, recipe),
        labelled=_labelled_rows(graph, recipe),
        schema=schema,
        notes=featured.notes[len(graph.notes) :],
    )


def _clean_views(inputs: PathInputs, recipe: Recipe) -> Iterator[PathViews]:
    for name in recipe.embed.operator.split("+"):
        operators = (path[name] for path in inputs.operators.values())
        yield PathViews(tuple(View(inputs.x, operator) for operator in operators))


@torch.no_grad()
def _embed_views(clean_views: Callable[[], Iterator[Any]], encoder: Any, _name: str) -> Array:
    array: Array = sum(encoder(view) for view in clean_views()).cpu().numpy()
    return array


@torch.no_grad()
def _attention(
    clean_views: Callable[[], Iterator[Any]], recipe: Recipe, encoder: Any
) -> dict[str, float]:
    if recipe.hetero.encoder != "metapaths":
        return {}
    _, beta = encoder.encode(next(clean_views()))
    return dict(zip(listed_names(recipe.hetero.metapaths), beta.tolist(), strict=True))


def _describe_typed_steps(graph: HeteroGraph, recipe: Recipe) -> str:
    paths = len(listed_names(recipe.hetero.metapaths))
    over = f"{paths} meta-paths" if paths else f"{len(graph.relations)} relations"
    sizes = batch_sizes(graph.nodes[graph.target].num_nodes, recipe.train.batch_size)
    if len(sizes) == 1:
        return f"the whole graph a step, over {over}"
    return f"{len(sizes)} row batches of {max(sizes)} nodes an epoch, over {over}"


def _labelled_rows(graph: HeteroGraph, recipe: Recipe) -> slice:
    if recipe.data.target != ALL_TYPES:
        return slice(None)
    names = list(graph.nodes)
    start = sum(graph.nodes[name].num_nodes for name in names[: names.index(graph.target)])
    return slice(start, start + graph.nodes[graph.target].num_nodes)


def resolve_recipe(graph: AnyGraph, recipe: Recipe, *, is_on_cluster: bool = False) -> Recipe:
    """Check a recipe for a graph, and return it with the meta-paths named that it leaves open."""
    check_recipe(recipe)
    if isinstance(graph, Graph):
        return recipe
    if is_on_cluster:
        raise DGBError("--engine ray is for graphs of one node type; leave it out")
    _check_typed_recipe(recipe)
    is_over_relations = recipe.hetero.encoder == "relations"
    for view in (recipe.view1, recipe.view2):
        parse_typed_view(view, graph.nodes, None if is_over_relations else graph.target)
    if is_over_relations:
        return recipe
    names = ",".join(dict.fromkeys(path.name for path in metapaths_of(graph, recipe)))
    return replace(recipe, hetero=replace(recipe.hetero, metapaths=names))


def check_recipe(recipe: Recipe) -> None:
    """Refuse settings that make no sense or do not go together, whatever the graph."""
    parse_view(recipe.view1)
    parse_view(recipe.view2)
    theta(recipe.diffusion)
    choose_device(recipe.train.device)
    if recipe.encoder.layers > 1 and recipe.train.batch_size:
        raise DGBError(f"train.batch_size needs {ONE_LAYER}")
    if not recipe.probe.weight_decays:
        raise DGBError("probe.weight_decays must list at least one number")
    if recipe.train.batch_size == 1 and recipe.heads.batch_norm:
        raise DGBError(
            "train.batch_size must be 0 or at least 2: BatchNorm needs more than one row"
        )
    if recipe.train.batch_size and recipe.train.order == "transform":
        raise DGBError("train.batch_size needs train.order=auto or propagate, not transform")


def _check_typed_recipe(recipe: Recipe) -> None:
    """Refuse what cannot be done with a graph of several node types, with the reason."""
    is_over_relations = recipe.hetero.encoder == "relations"
    is_plain = recipe.embed.smooth or recipe.embed.features or recipe.train.keep == "disk"
    if is_plain:
        raise DGBError(
            "embed.smooth, embed.features and train.keep=disk are for graphs of one node type; "
            "unset them"
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
