"""One training on a heterogeneous graph: to a run folder, or to a line of scores."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.data.fingerprint import identity
from dgb.data.graph import Graph
from dgb.data.structure import union_graph, union_ids
from dgb.data.typed.graph import HeteroGraph
from dgb.evaluate.hetero_scores import scores_by_split, why_not_scored_by_split
from dgb.files.atomic import write_json
from dgb.recipe import ALL_TYPES, Recipe
from dgb.run import folder as files
from dgb.run.hetero_parts import target_rows
from dgb.run.hetero_trained import HeteroTrained, train_hetero
from dgb.run.machine import peak_mb
from dgb.run.map import write_map
from dgb.run.model_file import save_encoder
from dgb.run.training import describe, remove_leftovers
from dgb.run.vectors import write_embeddings
from dgb.terminal import log
from dgb.train.monitor import measured_rank, read_metrics
from dgb.views.inputs import normalised


def train_hetero_run(graph: HeteroGraph, recipe: Recipe, folder: Path) -> dict[str, Any]:
    """Train into a run folder: model, embeddings and scores; return the scores."""
    files.check_graph(folder, identity(graph))
    reason = why_not_scored_by_split(graph, recipe.train.seed)
    if reason:
        log(f"no scores: {reason}")
    trained = train_hetero(graph, recipe, folder)
    z = trained.embeddings()
    write_embeddings(folder / files.EMBEDDINGS, trained.parts.node_ids, z, npy=recipe.embed.npy)
    files.save_schema(trained.parts.schema, folder)
    save_encoder(trained.encoder, folder)
    scores = describe(graph, trained.recipe) | {
        "seconds": round(sum(line["seconds"] for line in read_metrics(folder)), 2),
        "effective_rank": measured_rank(z),
        "attention": trained.attention(),
    }
    scores |= {} if reason else score_systems(trained, z, graph)
    scores |= {"peak_mb": peak_mb()}
    _write_map(graph, trained.recipe, z, folder)
    write_json(folder / files.SCORES, scores)
    remove_leftovers(folder)
    return scores


def score_hetero_training(graph: HeteroGraph, recipe: Recipe) -> dict[str, Any]:
    """Train once and return the scores, with what is needed to measure them again."""
    trained = train_hetero(graph, recipe)
    scores = score_systems(trained, trained.embeddings(), graph)
    told = {"seconds": round(trained.seconds, 2), "attention": trained.attention()}
    return describe(graph, recipe) | told | scores


def score_systems(trained: HeteroTrained, z: Array, graph: HeteroGraph) -> dict[str, Any]:
    """Return the scores of DGB, of the same encoder untrained, and of the features alone."""
    recipe = trained.recipe
    systems: dict[str, Any] = {"dgb": z, "random": trained.untrained_embeddings()}
    systems = {name: target_rows(graph, rows, recipe) for name, rows in systems.items()}
    x = graph.nodes[graph.target].x
    if x is not None:
        systems["raw"] = normalised(x, recipe.data)
    scores = {}
    for name, rows in systems.items():
        found = scores_by_split(rows, graph, recipe.probe, recipe.train.seed)
        # What has room for one split shows the first, and says which that is.
        split, told = next(iter(found["splits"].items()))
        scores[name] = {"probe": told | {"split": split}} | found
    return scores


def _write_map(graph: HeteroGraph, recipe: Recipe, z: Array, folder: Path) -> None:
    if recipe.data.target == ALL_TYPES:
        write_map(folder, _typed_graph(graph), z, None, None)
        return
    split = graph.splits[0] if graph.splits else None
    write_map(folder, graph.target_graph(), z, None, split, graph.degrees(graph.target))


def _typed_graph(graph: HeteroGraph) -> Graph:
    """Return the nodes of all types, each with its type for a label."""
    sizes = [nodes.num_nodes for nodes in graph.nodes.values()]
    kinds = np.repeat(np.arange(len(sizes)), sizes)
    names = tuple(graph.nodes)
    return replace(
        graph.target_graph(),
        adjacency=union_graph(graph),
        node_ids=union_ids(graph),
        labels=kinds,
        label_names=names,
        splits=(),
    )
