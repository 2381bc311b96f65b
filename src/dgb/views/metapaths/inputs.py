"""What a run over meta-paths computes once: the features of the target type, and operators."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from dgb.data.typed.graph import HeteroGraph
from dgb.recipe import DiffusionRecipe, Recipe
from dgb.settings import listed_names
from dgb.views.augment import Features
from dgb.views.features import normalise_features, to_features
from dgb.views.inputs import needed_operators
from dgb.views.metapaths.chain import Chain, make_chains
from dgb.views.metapaths.density import materialise, refuse_too_dense
from dgb.views.metapaths.paths import MetaPath, choose_metapaths
from dgb.views.operators import diffuse_over, make_operators
from dgb.views.product import Operator

Chains = tuple[Chain, ...]  # whose sum is the graph: one of a meta-path, several of a union


@dataclass(frozen=True, eq=False)
class Normalised:
    """D^-½ (A + s I) D^-½ of a sum A of chains, with the degrees D of A + s I; s is 1 or 0."""

    chains: Chains
    scale: Tensor  # [target nodes, 1], D^-½
    self_loops: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.scale), len(self.scale)

    @property
    def dtype(self) -> torch.dtype:
        """Of its entries."""
        return self.scale.dtype

    @property
    def device(self) -> torch.device:
        """Where it lies."""
        return self.scale.device

    @property
    def multiplications(self) -> int:
        """Multiplications that one column takes."""
        own = len(self.scale) * (3 if self.self_loops else 2)
        return sum(chain.multiplications for chain in self.chains) + own

    def multiply(self, dense: Tensor) -> Tensor:
        """Return the product with a block of columns."""
        scaled = dense * self.scale
        out = self.chains[0].multiply(scaled)
        for chain in self.chains[1:]:
            out = out.add_(chain.multiply(scaled))
        return (out.add_(scaled) if self.self_loops else out).mul_(self.scale)

    def multiply_transposed(self, dense: Tensor) -> Tensor:
        """Return the same: the matrix is symmetric."""
        return self.multiply(dense)

    def to(self, device: torch.device) -> "Normalised":
        """Return the operator, which lies where its chains lie."""
        assert self.scale.device == device
        return self


def normalise(chains: Chains, *, self_loops: bool) -> Normalised:
    """Return the sum of chains between D^-½; a node without any path has D = 1."""
    degree = sum((chain.degree for chain in chains[1:]), chains[0].degree) + float(self_loops)
    return Normalised(chains, torch.where(degree > 0, degree, 1.0).rsqrt(), self_loops)


def make_path_operators(
    chains: Chains, recipe: DiffusionRecipe, needed: set[str]
) -> dict[str, Operator]:
    """Return those of the operators `adj` and `diff` of a sum of chains that are needed."""
    operators: dict[str, Operator] = {}
    if "adj" in needed:
        operators["adj"] = normalise(chains, self_loops=True)
    if "diff" in needed:
        t = normalise(chains, self_loops=recipe.self_loops)
        operators["diff"] = diffuse_over(t, t.scale.reciprocal(), recipe)
    return operators


@dataclass(frozen=True, eq=False)
class PathInputs:
    """Features of the target type, and for every encoder its chains and its operators."""

    x: Features  # [target nodes, num_features]
    chains: dict[str, Chains]  # by meta-path, or `union`
    operators: dict[str, Mapping[str, Operator]]  # by meta-path, then adj or diff
    sizes: dict[str, int]  # nodes of every type


def make_path_inputs(
    graph: HeteroGraph,
    recipe: Recipe,
    device: torch.device,
    limit_gb: float | None = None,
    *,
    is_trained: bool = False,
) -> PathInputs:
    """Normalise the target's features, which must be there, and make the operators.

    Those of the recipe's views are left out for an encoder that is trained already.
    """
    x = graph.nodes[graph.target].x
    assert x is not None, "types without features are given some before"
    paths, needed = metapaths_of(graph, recipe), needed_operators(recipe, is_trained=is_trained)
    made = make_chains(graph, paths, recipe.hetero.weights, device)
    chains: dict[str, Chains] = {name: (chain,) for name, chain in made.items()}
    if recipe.hetero.encoder == "union":
        chains = {"union": tuple(made.values())}
    operators: dict[str, Mapping[str, Operator]]
    if recipe.hetero.materialise:
        refuse_too_dense(graph, paths, limit_gb)
        graphs = {path.name: materialise(graph, path, recipe.hetero.weights) for path in paths}
        if recipe.hetero.encoder == "union":
            graphs = {"union": sum(graphs.values())}
        operators = {
            name: make_operators(adjacency, recipe.diffusion, needed, device)
            for name, adjacency in graphs.items()
        }
    else:
        operators = {
            name: make_path_operators(summed, recipe.diffusion, needed)
            for name, summed in chains.items()
        }
    features = to_features(normalise_features(x, recipe.data)).to(device)
    sizes = {name: nodes.num_nodes for name, nodes in graph.nodes.items()}
    return PathInputs(features, chains, operators, sizes)


def metapaths_of(graph: HeteroGraph, recipe: Recipe) -> tuple[MetaPath, ...]:
    """Return the meta-paths that a recipe names, or those that are found."""
    names = listed_names(recipe.hetero.metapaths)
    return choose_metapaths(graph, names, recipe.hetero.max_length)
