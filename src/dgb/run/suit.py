"""What a recipe leaves to the graph: found without labels, told in a line, then part of the run."""

import math
from dataclasses import replace
from typing import Any

from scipy import sparse

from dgb.data.graph import Graph
from dgb.data.look.alike import (
    ALIKE,
    CHANCE,
    COMMUNITIES,
    OPPOSITE,
    features_alike,
    judge_edges,
)
from dgb.recipe import Recipe
from dgb.terminal import log
from dgb.views.rows import batch_sizes

# Where edges join nodes that are alike, the defaults are right, but that all pairs of nodes are
# looked at for like ones, which takes too long in a large graph. Otherwise features are blurred by
# what they are diffused over: with alpha 1 they stay as they are.
PAIRED = 10_000  # nodes at most
UNJOINED = {"diffused_nearest": 0}
SUITED: dict[str, dict[str, Any]] = {
    ALIKE: {},
    OPPOSITE: {"diffused_alpha": 1.0} | UNJOINED,
    COMMUNITIES: {"structure_weight": 2.0} | UNJOINED,
    CHANCE: {"diffused_alpha": 1.0, "diffused_weight": 2.0, "structure_weight": 0.1} | UNJOINED,
}
WHY = {
    OPPOSITE: "neighbors are less alike than chance, so features stand undiffused",
    COMMUNITIES: "features say nothing of the edges, so the place in the graph weighs more",
    CHANCE: "edges have nothing to do with features, which stand undiffused and weigh more",
}
NO_EDGES = "there are no edges, so features stand undiffused and weigh more"
FEW_PAIRS = "not all pairs of nodes are looked at here, so no like nodes are joined"
# Of a large graph: rows of a batch, steps after which vectors are as good, and epochs all the same.
# With so many steps, fewer columns of a hop are as good and take a third less time.
ROWS, STEPS, LEAST_EPOCHS, WIDTH = 4096, 120, 3, 64
THIN = 0.05  # share of X that is not zero: with less of it, X̃ W before P costs far less
# Where so many nodes share so few features, these tell less of a node than its place does, and
# view 1 needs more of them.
NODES_A_FEATURE = 20
DROPPED = {"nfd_drop_rate": 0.6}
PLACES = {"structure_columns": 128, "structure_weight": 0.6, "diffused_weight": 0.5}
FEW_FEATURES = "few features for so many nodes, so the place in the graph weighs more"


def suit_blocks(graph: Graph, recipe: Recipe, *, most_paired: int = PAIRED) -> Recipe:
    """Return the recipe with blocks weighed by what edges have to do with features, and by size.

    What was set otherwise than the default's stays. Like nodes are joined in graphs of at most
    `most_paired` nodes.
    """
    if not recipe.embed.by_graph:
        return recipe
    kind, why = CHANCE, NO_EDGES
    if graph.num_edges:
        kind, _ = judge_edges(graph, features_alike(graph))
        why = WHY.get(kind, "")
    suited = [(why, SUITED[kind])]
    if kind == ALIKE and _shares_few_features(graph):
        suited.append((FEW_FEATURES, PLACES))
    if graph.num_nodes > most_paired:
        suited.append((FEW_PAIRS, UNJOINED))
    for why, settings in suited:
        recipe = _suit(recipe, "embed", settings, why)
    return replace(recipe, embed=replace(recipe.embed, by_graph=False))


def _suit(recipe: Recipe, section: str, settings: dict[str, Any], why: str) -> Recipe:
    """Return the recipe with those settings of a section that stand where the default has them."""
    own = getattr(recipe, section)
    usual = getattr(Recipe(), section)
    changed = {k: v for k, v in settings.items() if getattr(own, k) == getattr(usual, k)}
    if changed:
        log(f"note: {why}: " + ", ".join(f"{section}.{k}={v}" for k, v in changed.items()))
    return replace(recipe, **{section: replace(own, **changed)})


def suit_steps(graph: Graph, recipe: Recipe) -> Recipe:
    """Return the recipe with row batches where the graph is large, and what goes with them.

    Steps teach, not epochs: many batches reach with a few epochs what the whole graph a step takes
    all of them for. A length or a width that was set otherwise than the default's stays.
    """
    if not recipe.train.by_graph:
        return recipe
    recipe = replace(recipe, train=replace(recipe.train, by_graph=False))
    num_nodes = graph.num_nodes
    if num_nodes <= ROWS or recipe.train.batch_size or not _has_thick_rows(graph, recipe):
        return recipe
    steps = len(batch_sizes(num_nodes, ROWS))
    batches = {"batch_size": ROWS, "epochs": max(LEAST_EPOCHS, math.ceil(STEPS / steps))}
    recipe = _suit(recipe, "train", batches, f"{num_nodes:,} nodes are taken in row batches")
    if recipe.encoder.hops:
        why = "hops need fewer columns with so many steps"
        recipe = _suit(recipe, "encoder", {"width": WIDTH}, why)
    if _shares_few_features(graph):
        why = "few features for so many nodes, so fewer are dropped"
        recipe = _suit(recipe, "view1", DROPPED, why)
    return recipe


def _shares_few_features(graph: Graph) -> bool:
    num_features: int = graph.x.shape[1]
    return graph.num_nodes > max(ROWS, NODES_A_FEATURE * num_features)


def _has_thick_rows(graph: Graph, recipe: Recipe) -> bool:
    """Tell whether row batches are allowed and save time: they hold P X̃ dense."""
    is_allowed = recipe.encoder.layers == 1 and recipe.train.order != "transform"
    is_thin = sparse.issparse(graph.x) and graph.x.nnz < THIN * graph.x.shape[0] * graph.x.shape[1]
    return is_allowed and not is_thin
