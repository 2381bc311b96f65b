"""Views of the typed graph itself, without meta-paths: features of every type, all relations."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from dgb.data.typed.graph import HeteroGraph
from dgb.recipe import Recipe
from dgb.views.augment import Features, drop
from dgb.views.inputs import normalise_features, to_features
from dgb.views.metapaths.chain import Factor, Link, make_factor
from dgb.views.metapaths.rates import parse_typed_view
from dgb.views.sampler import Epoch


@dataclass(frozen=True, eq=False)
class TypedGraph:
    """Features of every type, as they are or augmented, and the relations that carry them."""

    x: dict[str, Features]
    links: tuple[Link, ...]  # of each relation D^-½ R D^-½, in both directions


def link_ends(source: str, target: str) -> list[tuple[str, str]]:
    """Return source and target type of both directions of a relation, the way back first."""
    back = (target, source)
    return [back] if source == target else [back, (source, target)]


def make_typed_inputs(graph: HeteroGraph, recipe: Recipe, device: torch.device) -> TypedGraph:
    """Normalise the features of all types, and every relation by the degrees at its ends."""
    x = {
        name: to_features(normalise_features(nodes.x, recipe.data)).to(device)
        for name, nodes in graph.nodes.items()
    }
    links: list[Link] = []
    for place, relation in enumerate(graph.relations):
        matrix = make_factor(graph, Factor(place, by_source=True, by_target=True)).to(device)
        links += [
            Link(matrix, is_transposed=target != relation.source, source=source, target=target)
            for source, target in link_ends(relation.source, relation.target)
        ]
    return TypedGraph(x, tuple(links))


def typed_sampler(
    inputs: TypedGraph, recipe: Recipe, generator: torch.Generator
) -> Callable[[], Epoch]:
    """Return a function that draws the views of an epoch, each type with its own masks."""
    specs = [parse_typed_view(view, inputs.x) for view in (recipe.view1, recipe.view2)]

    def draw() -> Epoch:
        first, second = (
            TypedGraph(
                {name: drop(x, spec.nodes[name], generator) for name, x in inputs.x.items()},
                inputs.links,
            )
            for spec in specs
        )
        return [(first, second)]

    return draw
