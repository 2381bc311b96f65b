"""What a run over meta-paths computes once: the features of the target type, and operators."""

from dataclasses import dataclass
from typing import Any

import torch

from dgb.data.typed.graph import HeteroGraph
from dgb.recipe import Recipe
from dgb.settings import listed_names
from dgb.views.augment import Features
from dgb.views.inputs import needed_operators, normalise_features, to_features
from dgb.views.metapaths.chain import Chain, Union, make_chains
from dgb.views.metapaths.density import materialise, refuse_too_dense
from dgb.views.metapaths.operators import make_path_operators
from dgb.views.metapaths.paths import MetaPath, choose_metapaths
from dgb.views.operators import make_operators
from dgb.views.product import Operator


@dataclass(frozen=True, eq=False)
class PathInputs:
    """Features of the target type, and for every meta-path its chain and its operators."""

    x: Features  # [target nodes, num_features]
    chains: dict[str, Chain | Union]
    operators: dict[str, dict[str, Operator]]  # by meta-path, then adj or diff
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
    chains = _chains(graph, paths, recipe, device)
    if recipe.hetero.materialise:
        operators = {
            name: make_operators(adjacency, recipe.diffusion, needed, device)
            for name, adjacency in _multiplied_out(graph, paths, recipe, limit_gb).items()
        }
    else:
        operators = {
            name: make_path_operators(chain, recipe.diffusion, needed)
            for name, chain in chains.items()
        }
    features = to_features(normalise_features(x, recipe.data)).to(device)
    sizes = {name: nodes.num_nodes for name, nodes in graph.nodes.items()}
    return PathInputs(features, chains, operators, sizes)


def metapaths_of(graph: HeteroGraph, recipe: Recipe) -> tuple[MetaPath, ...]:
    """Return the meta-paths that a recipe names, or those that are found."""
    names = listed_names(recipe.hetero.metapaths)
    return choose_metapaths(graph, names, recipe.hetero.max_length)


def _chains(
    graph: HeteroGraph, paths: tuple[MetaPath, ...], recipe: Recipe, device: torch.device
) -> dict[str, Chain | Union]:
    chains = make_chains(graph, paths, recipe.hetero.weights, device)
    if recipe.hetero.encoder == "union":
        return {"union": Union(tuple(chains.values()))}
    return dict(chains)


def _multiplied_out(
    graph: HeteroGraph, paths: tuple[MetaPath, ...], recipe: Recipe, limit_gb: float | None
) -> dict[str, Any]:
    weights = recipe.hetero.weights
    refuse_too_dense(graph, paths, limit_gb)
    graphs = {path.name: materialise(graph, path, weights) for path in paths}
    return {"union": sum(graphs.values())} if recipe.hetero.encoder == "union" else graphs
