"""What a recipe leaves to the graph: found without labels, told in a line, then part of the run."""

import math
from dataclasses import asdict, replace
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
from dgb.recipe import Embed, Recipe, Train
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
# Of a large graph: rows of a batch, steps after which vectors are as good, and epochs all the same.
ROWS, STEPS, LEAST_EPOCHS = 4096, 60, 3
THIN = 0.05  # share of X that is not zero: with less of it, X̃ W before P costs far less
WHY = {
    ALIKE: "not all pairs of nodes are looked at here, so no like nodes are joined",
    OPPOSITE: "neighbors are less alike than chance, so features stand undiffused",
    COMMUNITIES: "features say nothing of the edges, so the place in the graph weighs more",
    CHANCE: "edges have nothing to do with features, which stand undiffused and weigh more",
}


def suit_blocks(graph: Graph, recipe: Recipe, *, most_paired: int = PAIRED) -> Recipe:
    """Return the recipe with blocks weighed by what edges have to do with features.

    What was set otherwise than the default's stays. Like nodes are joined in graphs of at most
    `most_paired` nodes.
    """
    if not recipe.embed.by_graph:
        return recipe
    kind = judge_edges(graph, features_alike(graph))[0] if graph.num_edges else CHANCE
    suited = SUITED[kind] | (UNJOINED if graph.num_nodes > most_paired else {})
    usual, own = asdict(Embed()), asdict(recipe.embed)
    changed = {key: value for key, value in suited.items() if own[key] == usual[key]}
    if changed:
        log(f"note: {WHY[kind]}: " + ", ".join(f"embed.{k}={v}" for k, v in changed.items()))
    return replace(recipe, embed=replace(recipe.embed, by_graph=False, **changed))


def suit_steps(graph: Graph, recipe: Recipe) -> Recipe:
    """Return the recipe with row batches where the graph is large, and the epochs that it needs.

    Steps teach, not epochs: many batches reach with a few epochs what the whole graph a step takes
    all of them for. A length that was set otherwise than the default's stays.
    """
    if not recipe.train.by_graph:
        return recipe
    changed: dict[str, Any] = {}
    if graph.num_nodes > ROWS and not recipe.train.batch_size and _has_thick_rows(graph, recipe):
        epochs = recipe.train.epochs
        if epochs == Train().epochs:
            steps = len(batch_sizes(graph.num_nodes, ROWS))
            epochs = min(epochs, max(LEAST_EPOCHS, math.ceil(STEPS / steps)))
        changed = {"batch_size": ROWS, "epochs": epochs}
        told = ", ".join(f"train.{key}={value}" for key, value in changed.items())
        log(f"note: {graph.num_nodes:,} nodes are taken in row batches: {told}")
    return replace(recipe, train=replace(recipe.train, by_graph=False, **changed))


def _has_thick_rows(graph: Graph, recipe: Recipe) -> bool:
    """Tell whether row batches are allowed and save time: they hold P X̃ dense."""
    is_allowed = recipe.encoder.layers == 1 and recipe.train.order != "transform"
    is_thin = sparse.issparse(graph.x) and graph.x.nnz < THIN * graph.x.shape[0] * graph.x.shape[1]
    return is_allowed and not is_thin
