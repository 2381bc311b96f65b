"""The scores of a run, next to those of the untrained encoder and of the features alone."""

from dataclasses import replace
from typing import Any

import torch

from dgb.arrays import Array
from dgb.cookbook import recipe_hash
from dgb.data.fingerprint import fingerprint
from dgb.data.graph import Split
from dgb.data.typed.graph import AnyGraph
from dgb.evaluate.block_weights import Blocks
from dgb.evaluate.labels import splits_by_name
from dgb.evaluate.scores import (
    class_names,
    confusion,
    score_and_predict,
    score_embeddings,
    why_not_scored,
)
from dgb.model.encoder import Encoder
from dgb.recipe import Recipe
from dgb.run.machine import git_hash, machine_kind, versions
from dgb.run.setup import Trained
from dgb.terminal import progress_bar


def describe(graph: AnyGraph, recipe: Recipe) -> dict[str, Any]:
    """Return what a result has to carry so that it can be measured again."""
    return {
        "graph": graph.name,
        "graph_hash": fingerprint(graph),
        "recipe": recipe_hash(recipe),
        "seed": recipe.train.seed,
        "git": git_hash(),
        "versions": versions(),
        "machine": machine_kind(),
        "threads": torch.get_num_threads(),  # which the last bits depend on
    }


def score_systems(
    trained: Trained, z: Array, graph: AnyGraph
) -> tuple[dict[str, Any], Array | None]:
    """Return the scores of DGB, of the same encoder untrained, and of the features alone.

    With them, the class of every node by the probe of DGB, where there is one such probe.
    """
    recipe = trained.recipe
    probe, blocks = replace(recipe.probe, blocks=False), blocks_of(trained.encoder, recipe)
    with progress_bar(None, "scores", unit="system", total=3) as bar:
        own = z[trained.setup.labelled]
        scores, predicted = score_and_predict(own, graph, probe, recipe.train.seed, blocks)
        systems = {"dgb": scores}
        bar.update()
        for name, rows in reference_systems(trained).items():
            weighed = None if name == "raw" else blocks  # X has none
            systems[name] = score_embeddings(rows, graph, probe, recipe.train.seed, weighed)
            bar.update()
    return systems, predicted


def blocks_of(encoder: Encoder, recipe: Recipe) -> Blocks | None:
    """Return the blocks that vectors by an encoder have, None where they are not to be weighed."""
    if not recipe.probe.blocks:
        return None
    widths = recipe.embed.widths(encoder.width, encoder.num_features)
    return Blocks(widths, {name: recipe.embed.weights[name] for name in widths})


def score_vectors(
    z: Array, graph: AnyGraph, recipe: Recipe, encoder: Encoder
) -> tuple[dict[str, Any], Array | None, Split | None]:
    """Return the scores of an encoder's vectors alone, the class told of every node, and the split.

    Nothing where labels allow no score.
    """
    seed = recipe.train.seed
    if why_not_scored(graph, seed):
        return {}, None, None
    probe, blocks = replace(recipe.probe, blocks=False), blocks_of(encoder, recipe)
    scores, predicted = score_and_predict(z, graph, probe, seed, blocks)
    table, names, split = tell_classes(graph, predicted, seed)
    return {"dgb": scores} | table, names, split


def tell_classes(
    graph: AnyGraph, predicted: Array | None, seed: int
) -> tuple[dict[str, Any], Array | None, Split]:
    """Return the confusion of classes, the class of every node by its name, and the split."""
    split = next(iter(splits_by_name(graph, seed).values()))
    if predicted is None:
        return {}, None, split
    nodes = graph.target_graph()
    return {"confusion": confusion(predicted, nodes, split)}, class_names(nodes, predicted), split


def reference_systems(trained: Trained, *, is_whole: bool = False) -> dict[str, Any]:
    """Return rows to compare with: by the encoder before, and where they have, the features.

    Rows are of the nodes that have labels, or with `is_whole` of all that are embedded.
    """
    labelled = trained.setup.labelled
    first = trained.first_embeddings()[slice(None) if is_whole else labelled]
    systems = {"random" if trained.start is None else "start": first}
    has_features = not is_whole or labelled == slice(None)
    raw = trained.setup.raw() if has_features else None
    return systems if raw is None else systems | {"raw": raw}
