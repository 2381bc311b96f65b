"""Where the views of an epoch over meta-paths come from, or over the relations themselves."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dgb.data.typed.graph import HeteroGraph
from dgb.recipe import Recipe
from dgb.settings import listed_names
from dgb.views.augment import Features, drop, keep_mask
from dgb.views.features import normalise_features, to_features
from dgb.views.metapaths.chain import Factor, Link, make_factor
from dgb.views.metapaths.inputs import PathInputs, make_path_operators
from dgb.views.metapaths.rates import TypedView, parse_typed_view
from dgb.views.product import Operator
from dgb.views.rows import batch_sizes
from dgb.views.sampler import Epoch
from dgb.views.view import Rows, View


@dataclass(frozen=True, eq=False)
class PathViews:
    """One view of a heterogeneous graph: over each of its meta-paths, all with the same X̃."""

    parts: tuple[View | Rows, ...]

    def rows(self, index: Tensor) -> "PathViews":
        """Return some rows of all parts, which must be propagated."""
        return PathViews(tuple(p.rows(index) for p in self.parts if isinstance(p, View)))


@dataclass(frozen=True, eq=False)
class PathBatches:
    """The row batches of an epoch."""

    views: tuple[PathViews, PathViews]
    batches: tuple[Tensor, ...]  # rows of each

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self.batches)

    def __iter__(self) -> Iterator[tuple[PathViews, PathViews]]:
        """Yield the rows of both views, batch by batch."""
        first, second = self.views
        for index in self.batches:
            yield first.rows(index), second.rows(index)


def path_sampler(
    inputs: PathInputs, target: str, recipe: Recipe, generator: torch.Generator
) -> Callable[[], Epoch]:
    """Return a function that draws the views of an epoch, each with its own masks."""
    specs = [parse_typed_view(view, inputs.sizes, target) for view in (recipe.view1, recipe.view2)]
    sizes = batch_sizes(inputs.x.shape[0], recipe.train.batch_size)
    product_order = "propagate" if len(sizes) > 1 else recipe.train.order

    def draw_view(spec: TypedView) -> PathViews:
        x = drop(inputs.x, spec.nodes[target], generator)
        views = [View(x, made) for made in _draw_operators(inputs, spec, recipe, generator)]
        return PathViews(tuple(v.in_order(product_order, recipe.encoder.width) for v in views))

    def draw() -> Epoch:
        first, second = (draw_view(spec) for spec in specs)
        if len(sizes) == 1:
            return [(first, second)]
        order = torch.randperm(sum(sizes), generator=generator, device=generator.device)
        return PathBatches((first, second), torch.split(order, sizes))

    return draw


def _draw_operators(
    inputs: PathInputs, spec: TypedView, recipe: Recipe, generator: torch.Generator
) -> list[Operator]:
    """Return the operator of every meta-path, without the nodes on the way that are dropped."""
    if not spec.way:
        return [operators[spec.operator] for operators in inputs.operators.values()]
    kept = {
        name: keep_mask(inputs.sizes[name], rate, generator).float()[:, None]
        for name, rate in spec.way.items()
    }
    return [
        make_path_operators(
            tuple(replace(chain, kept=kept) for chain in chains), recipe.diffusion, {spec.operator}
        )[spec.operator]
        for chains in inputs.chains.values()
    ]


def clean_views(inputs: PathInputs, recipe: Recipe) -> list[PathViews]:
    """Return the views that embeddings are made of, without augmentation."""
    return [
        PathViews(tuple(View(inputs.x, path[name]) for path in inputs.operators.values()))
        for name in recipe.embed.operator.split("+")
    ]


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


def describe_typed_path(graph: HeteroGraph, recipe: Recipe) -> str:
    """Return in a line how the steps of a run are computed."""
    paths = len(listed_names(recipe.hetero.metapaths))
    over = f"{paths} meta-paths" if paths else f"{len(graph.relations)} relations"
    sizes = batch_sizes(graph.nodes[graph.target].num_nodes, recipe.train.batch_size)
    if len(sizes) == 1:
        return f"the whole graph a step, over {over}"
    return f"{len(sizes)} row batches of {max(sizes)} nodes an epoch, over {over}"
