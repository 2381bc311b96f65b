"""The scores of a run, next to those of the untrained encoder and of the features alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from dgb.arrays import Array
from dgb.cookbook import recipe_hash
from dgb.data.fingerprint import fingerprint
from dgb.data.graph import Split
from dgb.data.typed.graph import AnyGraph
from dgb.evaluate.labels import splits_by_name
from dgb.evaluate.scores import Blocks, class_names, confusion, score_and_predict, why_not_scored
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


def score_own(trained: Trained, z: Array, graph: AnyGraph) -> tuple[dict[str, Any], Array | None]:
    """Return the scores of DGB, and the class of every node by its probe, where there is one."""
    with progress_bar(None, "scores", unit="system", total=1):
        return _score(z[trained.setup.labelled], graph, trained.recipe, trained.encoder)


def score_references(trained: Trained, graph: AnyGraph) -> dict[str, Any]:
    """Return the scores of the same encoder untrained, and of the features alone."""
    scores, systems = {}, reference_systems(trained)
    for name, rows in progress_bar(systems.items(), "scores of references", unit="system"):
        encoder = None if name == "raw" else trained.encoder  # X has no blocks
        scores[name], _ = _score(rows(), graph, trained.recipe, encoder)
    return scores


def _score(
    rows: Any, graph: AnyGraph, recipe: Recipe, encoder: Encoder | None
) -> tuple[dict[str, Any], Array | None]:
    """Return the scores and the classes of rows; blocks of those by an encoder may be weighed."""
    blocks = None
    if recipe.probe.blocks and encoder is not None:
        widths = recipe.embed.widths(encoder.width, encoder.num_features)
        blocks = Blocks(widths, {name: recipe.embed.weights[name] for name in widths})
    probe = replace(recipe.probe, blocks=False)
    return score_and_predict(rows, graph, probe, recipe.train.seed, blocks)


def score_vectors(
    z: Array, graph: AnyGraph, recipe: Recipe, encoder: Encoder
) -> tuple[dict[str, Any], Array | None, Split | None]:
    """Return the scores of an encoder's vectors alone, the predicted classes, and the split.

    Nothing where labels allow no score.
    """
    seed = recipe.train.seed
    if why_not_scored(graph, seed):
        return {}, None, None
    scores, predicted = _score(z, graph, recipe, encoder)
    table, names, split = describe_classes(graph, predicted, seed)
    return {"dgb": scores} | table, names, split


def describe_classes(
    graph: AnyGraph, predicted: Array | None, seed: int
) -> tuple[dict[str, Any], Array | None, Split]:
    """Return the confusion of classes, the class of every node by its name, and the split."""
    split = next(iter(splits_by_name(graph, seed).values()))
    if predicted is None:
        return {}, None, split
    nodes = graph.target_graph()
    return {"confusion": confusion(predicted, nodes, split)}, class_names(nodes, predicted), split


def reference_systems(trained: Trained, *, is_whole: bool = False) -> dict[str, Callable[[], Any]]:
    """Return what makes rows to compare with: the encoder before, and where there are, features.

    Rows are of the nodes that have labels, or with `is_whole` of all that are embedded. They are
    made one after the other: of a large graph each takes as much memory as its vectors.
    """
    labelled, raw = trained.setup.labelled, trained.setup.raw
    shown = slice(None) if is_whole else labelled
    name = "random" if trained.start is None else "start"
    systems: dict[str, Callable[[], Any]] = {name: lambda: trained.first_embeddings()[shown]}
    has_features = not is_whole or labelled == slice(None)
    return systems if raw is None or not has_features else systems | {"raw": raw}
