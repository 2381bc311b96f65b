"""One training: from a graph to embeddings, and to a run folder with its scores."""

import shutil
from pathlib import Path
from typing import Any

import torch

from dgb.arrays import Array
from dgb.cookbook import recipe_hash
from dgb.data.fingerprint import fingerprint, identity
from dgb.data.graph import Graph, Split
from dgb.data.typed.graph import HeteroGraph
from dgb.evaluate.scores import (
    choose_split,
    class_names,
    confusion,
    score_and_predict,
    score_embeddings,
    why_not_scored,
)
from dgb.files.atomic import write_json
from dgb.ray.cluster import Cluster
from dgb.ray.on_ray import refuse_other_engine, remove_checkpoints, train_on_ray
from dgb.recipe import Recipe
from dgb.run import folder as files
from dgb.run.machine import git_hash, machine_kind, peak_mb, versions
from dgb.run.map import write_map
from dgb.run.memory import SCRATCH
from dgb.run.model_file import save_encoder
from dgb.run.trained import Trained, check_recipe, train_encoder
from dgb.run.vectors import read_embeddings, write_embeddings, write_npy
from dgb.terminal import log
from dgb.train.checkpoint import remove_states
from dgb.train.monitor import measured_rank, read_metrics


def train_run(
    graph: Graph, recipe: Recipe, folder: Path, cluster: Cluster | None = None
) -> dict[str, Any]:
    """Train into a run folder: model, embeddings and scores; return the scores.

    With a cluster, its machines train and embed; the rest is the same.
    """
    try:
        scores = _train_and_score(graph, recipe, folder, cluster)
    finally:  # only now does nothing map its files, which would keep them on Windows
        shutil.rmtree(folder / SCRATCH, ignore_errors=True)
    remove_leftovers(folder)
    return scores


def remove_leftovers(folder: Path) -> None:
    """Remove what only an unfinished run needs."""
    remove_states(folder)
    remove_checkpoints(folder)
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)
    (folder / files.BEGUN).unlink(missing_ok=True)
    for part in folder.glob("*.part"):  # which a kill has left
        part.unlink(missing_ok=True)
    for left in folder.glob(f".{files.EMBEDDINGS}-*"):  # and one of `dgb embed`
        shutil.rmtree(left, ignore_errors=True)


def _train_and_score(
    graph: Graph, recipe: Recipe, folder: Path, cluster: Cluster | None
) -> dict[str, Any]:
    files.check_graph(folder, identity(graph))
    reason = why_not_scored(graph, recipe.train.seed)
    if reason:
        log(f"no scores: {reason}")
    if cluster is None:
        trained, z = _train_here(graph, recipe, folder)
    else:
        trained, z = _train_there(graph, recipe, folder, cluster)
    files.save_encoding(graph.encoding, folder)
    save_encoder(trained.encoder, folder)
    scores = describe(graph, recipe) | {
        "seconds": round(sum(line["seconds"] for line in read_metrics(folder)), 2),
        "effective_rank": measured_rank(z),
    }
    split = None if reason else choose_split(graph, recipe.train.seed)
    systems, names = _scored(trained, z, graph, split)
    scores |= systems | {"peak_mb": peak_mb()}
    write_map(folder, graph, z, names, split)
    write_json(folder / files.SCORES, scores)
    return scores


def _train_here(graph: Graph, recipe: Recipe, folder: Path) -> tuple[Trained, Array]:
    refuse_other_engine(folder)
    trained = train_encoder(graph, recipe, folder)
    z = trained.embeddings()
    write_embeddings(folder / files.EMBEDDINGS, graph.node_ids, z, npy=recipe.embed.npy)
    return trained, z


def _train_there(
    graph: Graph, recipe: Recipe, folder: Path, cluster: Cluster
) -> tuple[Trained, Array]:
    check_recipe(recipe)
    encoder, inputs, seconds = train_on_ray(graph, recipe, folder, cluster)
    _, z = read_embeddings(folder / files.EMBEDDINGS)
    if recipe.embed.npy:
        write_npy((folder / files.EMBEDDINGS).with_suffix(".npy"), z)
    return Trained(encoder, inputs, recipe, seconds), z


def _scored(
    trained: Trained, z: Array, graph: Graph, split: Split | None
) -> tuple[dict[str, Any], Array | None]:
    """Return the scores with the confusion of classes, and the class of every node by its name."""
    if split is None:
        return {}, None
    scores, predicted = score_systems(trained, z, graph)
    if predicted is None:
        return scores, None
    scores["confusion"] = confusion(predicted, graph, split)
    return scores, class_names(graph, predicted)


def untrained_systems(trained: Trained, graph: Graph) -> dict[str, Any]:
    """Return the rows beside which DGB is scored: the encoder untrained, and the features alone."""
    return {
        "random": trained.untrained_embeddings(),
        "raw": trained.raw_features(graph),
    }


def score_systems(trained: Trained, z: Array, graph: Graph) -> tuple[dict[str, Any], Array | None]:
    """Return the scores of DGB, of the same encoder untrained, and of the features alone.

    Beside them, the class of every node by the probe of DGB, where there is one such probe.
    """
    probe, seed = trained.recipe.probe, trained.recipe.train.seed
    scores, predicted = score_and_predict(z, graph, probe, seed)
    systems = untrained_systems(trained, graph)
    others = {k: score_embeddings(rows, graph, probe, seed) for k, rows in systems.items()}
    return {"dgb": scores} | others, predicted


def describe(graph: Graph | HeteroGraph, recipe: Recipe) -> dict[str, Any]:
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
