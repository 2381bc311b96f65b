"""Blocks of a vector that suit a graph: found without labels, and then part of the run's recipe."""

from dataclasses import asdict, replace
from typing import Any

from dgb.data.graph import Graph
from dgb.data.look.alike import CHANCE, COMMUNITIES, OPPOSITE, features_alike, judge_edges
from dgb.recipe import Embed, Recipe
from dgb.terminal import log

# Where edges join nodes that are alike, the defaults are right. Otherwise features are blurred by
# what they are diffused over: with alpha 1 they stay as they are.
SUITED: dict[str, dict[str, Any]] = {
    OPPOSITE: {"diffused_alpha": 1.0},
    COMMUNITIES: {"structure_weight": 2.0},
    CHANCE: {"diffused_alpha": 1.0, "diffused_weight": 2.0, "structure_weight": 0.1},
}
WHY = {
    OPPOSITE: "neighbors are less alike than chance, so features stand undiffused",
    COMMUNITIES: "features say nothing of the edges, so the place in the graph weighs more",
    CHANCE: "edges have nothing to do with features, which stand undiffused and weigh more",
}


def suit_blocks(graph: Graph, recipe: Recipe) -> Recipe:
    """Return the recipe with blocks weighed by what edges have to do with features.

    Weights that were set otherwise than the default's stay.
    """
    if not recipe.embed.by_graph:
        return recipe
    kind = judge_edges(graph, features_alike(graph))[0] if graph.num_edges else CHANCE
    usual, own = asdict(Embed()), asdict(recipe.embed)
    changed = {key: value for key, value in SUITED.get(kind, {}).items() if own[key] == usual[key]}
    if changed:
        log(f"note: {WHY[kind]}: " + ", ".join(f"embed.{k}={v}" for k, v in changed.items()))
    return replace(recipe, embed=replace(recipe.embed, by_graph=False, **changed))
