"""What a run computes once from a graph; whatever comes after it sees no kind of graph."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from dgb.arrays import Array
from dgb.data.encoding import Encoding
from dgb.data.graph import Graph
from dgb.data.look.scales import scale_trouble
from dgb.data.typed.graph import AnyGraph, HeteroGraph
from dgb.data.typed.resolve import union_ids, with_features
from dgb.data.typed.schema import Schema, schema_of
from dgb.evaluate.link_split import hold_out
from dgb.model.bootstrap import Bootstrap
from dgb.model.embed import embed, settle
from dgb.model.encoder import Encoder, MakeEncoder, make_encoder
from dgb.model.loss import Loss, make_loss
from dgb.model.typed import make_hetero_encoder
from dgb.recipe import ALL_TYPES, Recipe
from dgb.run.machine import free_gb, generators
from dgb.settings import listed_names
from dgb.terminal import log
from dgb.views.features import normalise_features
from dgb.views.inputs import Inputs, make_inputs, raw_features
from dgb.views.metapaths import sampler as typed
from dgb.views.metapaths.inputs import PathInputs, make_path_inputs
from dgb.views.sampler import Epoch, describe_path, epoch_sampler


@dataclass(frozen=True, eq=False)
class Setup:
    """Inputs of a run in the form of its encoder, and what can be done with them."""

    recipe: Recipe  # resolved
    inputs: Inputs | PathInputs | typed.TypedGraph
    node_ids: Array  # of the rows that are embedded
    draw_encoder: MakeEncoder
    sampler: Callable[[torch.Generator], Callable[[], Epoch]]
    embed: Callable[[Encoder, str], Array]  # by an encoder, without dropout; the name is of a file
    raw: Callable[[], Any] | None  # normalised features of the labelled nodes, where they have any
    describe_steps: Callable[[], str]  # how they are computed, in a line
    attention: Callable[[Any], dict[str, float]] = lambda _: {}  # of an encoder, by meta-path
    settle: Callable[[Any], None] = lambda _: None  # an encoder that is trained
    labelled: slice = field(default_factory=lambda: slice(None))  # rows with labels
    encoding: Encoding | None = None  # of the columns of a graph of one node type
    schema: Schema | None = None  # of a graph of several
    notes: tuple[str, ...] = ()  # on features that were made


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained encoder and what it was trained on."""

    encoder: Encoder
    loss: Loss
    setup: Setup
    seconds: float
    start: Encoder | None = None  # what training began with, where it was trained before

    @property
    def recipe(self) -> Recipe:
        """The recipe that was trained with, its meta-paths named."""
        return self.setup.recipe

    def embeddings(self) -> Array:
        """Return the representations of the training graph."""
        return self.setup.embed(self.encoder, "embeddings")

    def first_embeddings(self) -> Array:
        """Return the representations by the encoder as it was before its first step."""
        if self.start is not None:
            return self.setup.embed(self.start, "untrained")
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
    is_own: bool = True,
    scratch: Path | None = None,
) -> Setup:
    """Prepare a graph for the encoder of a resolved recipe, or for one that is trained already.

    Row batches of a graph of one node type are kept in files of the folder `scratch`, if given.
    Not its own is a graph for an encoder that was trained on another.
    """
    if not isinstance(graph, Graph):
        return _make_typed_setup(graph, recipe, device, is_trained=is_trained)
    if not is_trained and recipe.data.normalise == "none":
        for sentence in scale_trouble(graph):
            log(f"warning: {sentence}")
    more = {"is_trained": is_trained, "is_own": is_own}
    inputs = make_inputs(graph, recipe, device, scratch=scratch, **more)
    shown = inputs if is_trained else _hold_out(graph, recipe, inputs, scratch)
    return Setup(
        recipe,
        inputs,
        graph.node_ids,
        partial(make_encoder, graph.num_features, recipe.encoder),
        partial(epoch_sampler, shown, recipe),
        lambda encoder, name: embed(encoder, inputs, recipe.embed, name).cpu().numpy(),
        partial(raw_features, graph, inputs, recipe),
        partial(describe_path, inputs, recipe),
        settle=lambda encoder: settle(encoder, inputs, recipe.embed),
        encoding=graph.encoding,
    )


def _hold_out(graph: Graph, recipe: Recipe, inputs: Inputs, scratch: Path | None) -> Inputs:
    """Return what training sees: not the edges that are held out, nor features made of them."""
    if not recipe.links.held_out:
        return inputs
    left, held = hold_out(graph, recipe.links.held_out, recipe.train.seed)
    # Not its own: embeddings are of the whole graph, and their blocks too.
    shown = make_inputs(left, recipe, inputs.device, is_own=False, scratch=scratch)
    x = inputs.x if left.x is graph.x else shown.x
    return replace(shown, x=x, held=torch.from_numpy(held).to(inputs.device))


def draw_model(
    setup: Setup, recipe: Recipe, device: torch.device, start: Any = None
) -> tuple[Bootstrap, Loss, torch.Generator]:
    """Draw the networks and the loss of a training, and the generator of its masks.

    The recipe is the setup's, or one with another seed. Both encoders are copies of `start`, where
    one is given.
    """
    for_weights, for_masks = generators(recipe.train.seed, device)
    draw = setup.draw_encoder if start is None else lambda _: deepcopy(start).train()
    model = Bootstrap(draw, recipe, for_weights).to(device)
    loss = make_loss(recipe, model.encoder, for_weights)
    for _, term in loss:
        if isinstance(term, nn.Module):
            term.to(device)
    return model, loss, for_masks


def embedded_ids(graph: AnyGraph, recipe: Recipe) -> Array:
    """Return what the rows of the embeddings are called."""
    if isinstance(graph, Graph):
        return graph.node_ids
    is_whole = recipe.data.target == ALL_TYPES
    return union_ids(graph) if is_whole else graph.nodes[graph.target].node_ids


def _make_typed_setup(
    graph: HeteroGraph, recipe: Recipe, device: torch.device, *, is_trained: bool
) -> Setup:
    is_over_relations = recipe.hetero.encoder == "relations"
    used = list(graph.nodes) if is_over_relations else [graph.target]
    featured = with_features(graph, used, recipe.data.structure)
    schema, x = schema_of(featured, used), graph.nodes[graph.target].x
    inputs: PathInputs | typed.TypedGraph
    clean: Sequence[Any]  # views without augmentation
    if is_over_relations:
        clean = [inputs := typed.make_typed_inputs(featured, recipe, device)]
        sampler = partial(typed.typed_sampler, inputs, recipe)
    else:
        limit = recipe.train.memory_gb or free_gb(device)
        inputs = make_path_inputs(featured, recipe, device, limit, is_trained=is_trained)
        sampler = partial(typed.path_sampler, inputs, graph.target, recipe)
        clean = typed.clean_views(inputs, recipe)
    return Setup(
        recipe,
        inputs,
        embedded_ids(graph, recipe),
        partial(make_hetero_encoder, schema, recipe),
        sampler,
        partial(_embed_views, clean),
        None if x is None else partial(normalise_features, x, recipe.data),
        partial(typed.describe_typed_path, graph, recipe),
        attention=partial(_attention, clean, recipe),
        labelled=target_rows(graph, recipe),
        schema=schema,
        notes=featured.notes[len(graph.notes) :],
    )


@torch.no_grad()
def _embed_views(views: Sequence[Any], encoder: Any, _name: str) -> Array:
    array: Array = sum(encoder(view) for view in views).cpu().numpy()
    return array


@torch.no_grad()
def _attention(views: Sequence[Any], recipe: Recipe, encoder: Any) -> dict[str, float]:
    if recipe.hetero.encoder != "metapaths":
        return {}
    _, beta = encoder.encode(views[0])
    return dict(zip(listed_names(recipe.hetero.metapaths), beta.tolist(), strict=True))


def target_rows(graph: AnyGraph, recipe: Recipe) -> slice:
    """Return which rows of the embeddings are of nodes that labels are of."""
    if isinstance(graph, Graph) or recipe.data.target != ALL_TYPES:
        return slice(None)
    before = list(graph.nodes)[: list(graph.nodes).index(graph.target)]
    start = sum(graph.nodes[name].num_nodes for name in before)
    return slice(start, start + graph.nodes[graph.target].num_nodes)
