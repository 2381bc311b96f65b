"""What a run computes once from a graph: features as tensors and operators."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dgb.arrays import Array, row_parts
from dgb.data.graph import Graph
from dgb.recipe import DiffusionRecipe, Embed, Recipe, Train
from dgb.views.augment import AUGMENTATIONS, Features, ViewSpec, draw_absent, parse_view
from dgb.views.diffusion import GraphOperator, adj_of
from dgb.views.features import (
    ColumnBlocks,
    Store,
    dense_features,
    normalise_features,
    row_factors,
    to_features,
)
from dgb.views.join import join_nearest, make_joined_adj
from dgb.views.operators import make_adj, make_operators, make_ppr
from dgb.views.reduce import DiffusedFeatures, main_directions
from dgb.views.rows import batch_sizes

DIFFUSED = "diffused"  # block of an embedding, and its operator


class DrawnOperator(NamedTuple):
    """What a view travels over; of a view that hides edges, the pairs that can be asked for."""

    operator: GraphOperator
    hidden: Tensor | None = None  # [2, num_hidden], the edges that the operator lacks
    absent: Tensor | None = None  # [2, number], random pairs that are not edges


@dataclass(frozen=True, eq=False)
class Inputs:
    """Features and the operators that a recipe's views and embedding need."""

    x: Features  # [num_nodes, num_features]
    operators: dict[str, GraphOperator]
    device: torch.device  # where the networks are
    row_scale: Tensor | None = None  # [num_nodes], what rows of x are multiplied by when used
    store: Store | None = None  # of P X̃, where a step takes some rows of it
    adjacency: Any = None  # scipy csr_array; views that hide edges make their operators of it
    diffusion: DiffusionRecipe = field(default_factory=DiffusionRecipe)
    has_diff: bool = False  # whether adj comes with diff of its edges
    edges: Tensor | None = None  # sorted codes u · num_nodes + v, where absent pairs are drawn
    most_pairs: int = 0  # of hidden edges that are asked for in an epoch; 0: all
    held: Tensor | None = None  # [3, number], node pairs and 1 for edges that were held out, or 0
    node_ids: Array | None = None  # [num_nodes], what blocks of structure are made of
    is_own: bool = True  # whether the encoder is trained on this graph
    directions: Tensor | None = None  # [num_features, columns] of diffused features, if it is

    def draw_operator(self, spec: ViewSpec, generator: torch.Generator) -> DrawnOperator:
        """Return the operator of a view, the edges that it lacks and as many absent pairs.

        Where edges are hidden, the operator is that of the graph without them: their ends have
        the degrees of what remains. Of row batches, absent pairs are drawn once it is known
        which rows are together (`draw_absent_within`).
        """
        if not spec.edges:
            return DrawnOperator(self.operators[spec.operator])
        graph, hidden = self.adjacency, []
        for name, drop_rate in spec.edges:
            graph, pairs = AUGMENTATIONS[name].drop(graph, drop_rate, generator)
            hidden.append(pairs)
        more = {"has_diff": self.has_diff}
        made = make_operators(graph, self.diffusion, {spec.operator}, self.x.device, **more)
        pairs, absent = torch.cat(hidden, dim=1).to(self.device), None
        if 0 < self.most_pairs < pairs.shape[1]:
            drawn = torch.randperm(pairs.shape[1], generator=generator, device=generator.device)
            pairs = pairs[:, drawn[: self.most_pairs].to(self.device)]
        if self.edges is not None and self.store is None:
            absent = draw_absent(self.edges, self.shape[0], pairs.shape[1], generator)
        return DrawnOperator(made[spec.operator], pairs, absent)

    @cached_property
    def fixed(self) -> dict[str, tuple[tuple[float, ...], Tensor]]:
        """Blocks of vectors that no training changes, by name, each after what it was made by."""
        return {}

    @cached_property
    def clean(self) -> WeakValueDictionary[tuple[str | int, ...], ColumnBlocks]:
        """P^k X without dropout by operator and hops, while someone else holds it."""
        return WeakValueDictionary()

    @property
    def diffused(self) -> DiffusedFeatures:
        """S X of the block `diffused`, as an operator."""
        return self._diffuse(self.operators[DIFFUSED])

    def diffused_over_nearest(self, rows: Tensor, recipe: Embed) -> DiffusedFeatures:
        """Return S X over the edges and those between nodes whose rows of `diffused` are alike."""
        joined = join_nearest(
            self.adjacency, rows.cpu().numpy(), recipe.diffused_nearest, recipe.nearest_weight
        )
        adj = make_joined_adj(joined).to(self.x.device)
        return self._diffuse(make_ppr(adj, recipe.diffused_alpha))

    def _diffuse(self, operator: GraphOperator) -> DiffusedFeatures:
        return DiffusedFeatures(self.x, operator, self.row_scale, self.store or Store())

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and features."""
        return self.x.shape[0], self.x.shape[1]


def has_row_batches(recipe: Train, num_nodes: int) -> bool:
    """Tell whether a step takes some rows of P X̃, not the whole graph."""
    return 0 < recipe.batch_size < num_nodes


def make_inputs(
    graph: Graph,
    recipe: Recipe,
    device: torch.device,
    *,
    is_trained: bool = False,
    is_own: bool = True,
    scratch: Path | None = None,
) -> Inputs:
    """Normalise the features once, before any dropout, and make the operators.

    Args:
        graph: The graph to train on or to embed.
        recipe: Its views, diffusion and embedding say which operators are needed.
        device: Where the networks are.
        is_trained: Leave out operators that only training needs.
        is_own: Whether this is the graph that the encoder is trained on, or a later one.
        scratch: A folder that row batches are kept in, on disk instead of in memory.

    Returns:
        What views are drawn from.

    Example:
        >>> inputs = make_inputs(load_graph("cora"), Recipe(), torch.device("cpu"))
    """
    needed = needed_operators(recipe, is_trained=is_trained)
    place = torch.device("cpu") if scratch else device
    has_diff = recipe.encoder.diff
    operators = make_operators(graph.adjacency, recipe.diffusion, needed, place, has_diff=has_diff)
    if alphas := embedding_alphas(recipe.embed):
        adj = adj_of(operators.get("adj") or make_adj(graph.adjacency).to(place))
        operators |= {name: make_ppr(adj, alpha) for name, alpha in alphas.items()}
    more = {"adjacency": graph.adjacency, "diffusion": recipe.diffusion, "is_own": is_own}
    more |= {"node_ids": graph.node_ids, "has_diff": has_diff}
    if recipe.links.weight and not is_trained:
        more["edges"] = edge_codes(graph.adjacency).to(device)
        steps = len(batch_sizes(graph.num_nodes, recipe.train.batch_size))
        more["most_pairs"] = recipe.links.pairs * steps
    if not has_row_batches(recipe.train, graph.num_nodes):
        x = to_features(normalise_features(graph.x, recipe.data)).to(device)
        return _with_directions(Inputs(x, operators, device, **more), recipe.embed)
    is_scaled = recipe.data.normalise == "row"
    scale = torch.from_numpy(row_factors(graph.x)).to(place) if is_scaled else None
    store = Store(recipe.train.columns, scratch)
    # Blocks of columns are dense anyway: features that are dense stay where the graph has them.
    x = to_features(graph.x) if sparse.issparse(graph.x) else dense_features(graph.x)
    inputs = Inputs(x.to(place), operators, device, scale, store, **more)
    return _with_directions(inputs, recipe.embed)


def embedding_alphas(recipe: Embed) -> dict[str, float]:
    """Return the teleport probabilities of the operators that embedding alone needs."""
    smooth = {"smooth": recipe.smooth} if recipe.smooth else {}
    return smooth | ({DIFFUSED: recipe.diffused_alpha} if DIFFUSED in recipe.blocks else {})


def _with_directions(inputs: Inputs, recipe: Embed) -> Inputs:
    """Find the directions of diffused features, which later graphs are given too."""
    if not inputs.is_own or DIFFUSED not in recipe.blocks:
        return inputs
    return replace(inputs, directions=main_directions(inputs.diffused, recipe.diffused_columns))


def edge_codes(adjacency: Any) -> Tensor:
    """Return u · num_nodes + v of every edge, in both directions, sorted."""
    pairs = adjacency.tocoo()
    row, col = (torch.from_numpy(ends.astype(np.int64)) for ends in pairs.coords)
    return torch.sort(row * adjacency.shape[0] + col).values


def needed_operators(recipe: Recipe, *, is_trained: bool = False) -> set[str]:
    """Return which of `adj` and `diff` embedding needs, and training unless it is over."""
    needed = set(recipe.embed.operator.split("+"))
    views = () if is_trained else (recipe.view1, recipe.view2)
    return needed | {parse_view(view).operator for view in views}


def raw_features(graph: Graph, inputs: Inputs, recipe: Recipe) -> Any:
    """Return X as it is trained on; it lies in a file where the views do."""
    x, store = graph.x, inputs.store
    if store is None or store.folder is None or sparse.issparse(x):
        return normalise_features(x, recipe.data)
    if inputs.row_scale is None:
        return x
    factors, out = inputs.row_scale.numpy(), store.make_array("raw", inputs.shape)
    for rows in row_parts(*x.shape):
        np.multiply(x[rows], factors[rows, None], out=out[rows])
    return out
