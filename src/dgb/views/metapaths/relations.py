"""Views of the typed graph itself, without meta-paths: features of every type, all relations."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from dgb.data.typed.graph import HeteroGraph
from dgb.recipe import Recipe
from dgb.views.augment import Features, drop
from dgb.views.inputs import normalise_features, to_features
from dgb.views.metapaths.chain import Factor, Link, weight_relation
from dgb.views.metapaths.rates import parse_typed_view
from dgb.views.sampler import Epoch
from dgb.views.sparse import SparseMatrix, Tick, idle, sparse_matrix


@dataclass(frozen=True, eq=False)
class Message:
    """A relation in one direction: D^-½ R D^-½ carries rows of one type to another."""

    source: str
    target: str
    link: Link  # rows: target, columns: source

    @property
    def hops(self) -> int:
        """Passes over the edges that one product takes."""
        return 1

    @property
    def multiplications(self) -> int:
        """Multiplications that one column takes."""
        return self.link.matrix.multiplications

    def multiply(self, dense: torch.Tensor, tick: Tick = idle) -> torch.Tensor:
        """Return what reaches the target nodes."""
        out = self.link.multiply(dense)
        tick()
        return out

    def multiply_transposed(self, dense: torch.Tensor) -> torch.Tensor:
        """Return the way back of gradients."""
        return self.link.multiply(dense, backward=True)


@dataclass(frozen=True, eq=False)
class TypedGraph:
    """Features of every type, as they are or augmented, and the relations that carry them."""

    x: dict[str, Features]
    messages: tuple[Message, ...]


def message_ends(source: str, target: str) -> list[tuple[str, str]]:
    """Return source and target type of both directions of a relation, the way back first."""
    back = (target, source)
    return [back] if source == target else [back, (source, target)]


def make_typed_inputs(graph: HeteroGraph, recipe: Recipe, device: torch.device) -> TypedGraph:
    """Normalise the features of all types, and every relation by the degrees at its ends."""
    x = {
        name: to_features(normalise_features(nodes.x, recipe.data)).to(device)
        for name, nodes in graph.nodes.items()
    }
    messages: list[Message] = []
    for place, relation in enumerate(graph.relations):
        within = relation.source == relation.target
        matrix = weight_relation(relation.matrix, Factor(place, by_source=True, by_target=True))
        shared = sparse_matrix(matrix, is_symmetric=within).to(device)
        messages += _both_ways(relation.source, relation.target, shared)
    return TypedGraph(x, tuple(messages))


def _both_ways(source: str, target: str, matrix: SparseMatrix) -> list[Message]:
    return [
        Message(start, end, Link(matrix, is_transposed=end != source, end=start))
        for start, end in message_ends(source, target)
    ]


def typed_sampler(
    inputs: TypedGraph, recipe: Recipe, generator: torch.Generator
) -> Callable[[], Epoch]:
    """Return a function that draws the views of an epoch, each type with its own masks."""
    specs = [parse_typed_view(view, inputs.x) for view in (recipe.view1, recipe.view2)]

    def draw() -> Epoch:
        views = [
            {name: drop(x, spec.nodes[name], generator) for name, x in inputs.x.items()}
            for spec in specs
        ]
        first, second = (TypedGraph(x, inputs.messages) for x in views)
        return [(first, second)]

    return draw
