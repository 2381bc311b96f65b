"""One training: from a graph to an encoder and its embeddings, or to a run folder with scores."""

import shutil
import time
from pathlib import Path
from typing import Any

import torch

from dgb.arrays import Array
from dgb.data.fingerprint import identity
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.evaluate.drift import Vectors
from dgb.evaluate.scores import why_not_scored
from dgb.files.atomic import write_json
from dgb.model.encoder import Encoder
from dgb.ray.cluster import Cluster, connect_engine, refuse_other_engine
from dgb.recipe import ALL_TYPES, Recipe
from dgb.run import folder as files
from dgb.run.machine import choose_device, has_bf16, peak_mb, set_threads
from dgb.run.map import write_map
from dgb.run.memory import SCRATCH, choose_scratch, describe_memory
from dgb.run.model import save_decoder, save_encoder
from dgb.run.resolve import resolve_recipe
from dgb.run.score import describe, describe_classes, score_own, score_references
from dgb.run.setup import Setup, Trained, draw_model, make_setup
from dgb.run.update import Source, keep_axes, open_source, write_drift
from dgb.run.vectors import read_embeddings, remove_parts, write_embeddings, write_npy
from dgb.terminal import log
from dgb.train.checkpoint import remove_states
from dgb.train.loop import fit
from dgb.train.monitor import measure_rank, read_metrics
from dgb.views.inputs import Inputs


def train(
    graph: AnyGraph, recipe: Recipe, folder: Path | None = None, start: Encoder | None = None
) -> Trained:
    """Train DGB on a graph; with a folder, resume from the checkpoint in it if there is one.

    With `start`, an encoder that is trained already is trained further, and keeps its axes.
    """
    recipe = resolve_recipe(graph, recipe)
    set_threads(recipe.train.threads)
    device, begun = choose_device(recipe.train.device), time.perf_counter()
    scratch = choose_scratch(graph, recipe, folder)
    memory = describe_memory(graph, recipe, is_on_disk=scratch is not None)
    setup = make_setup(graph, recipe, device, is_own=start is None, scratch=scratch)
    if folder:
        _log_setup(setup, memory, device)
    model, loss, for_masks = draw_model(setup, recipe, device, start)
    fit(model, setup.sampler(for_masks), recipe.train, for_masks, folder=folder, loss=loss)
    setup.settle(model.encoder)
    if start is not None:
        keep_axes(setup, model.encoder, start)
    return Trained(model.encoder, loss, setup, time.perf_counter() - begun, start)


def _log_setup(setup: Setup, memory: str, device: torch.device) -> None:
    log(f"{setup.describe_steps()}; {memory}")
    for note in setup.notes:
        log(f"note: {note}")
    if setup.recipe.train.bf16 and not has_bf16(device):
        log("warning: this device has no bfloat16 of its own; train.bf16=false is faster here")


def train_run(
    graph: AnyGraph,
    recipe: Recipe,
    folder: Path,
    cluster: Cluster | None = None,
    *,
    has_map: bool = True,
) -> dict[str, Any]:
    """Train into a run folder: model, embeddings, scores and a map; return the scores.

    With a cluster, its machines train and embed; the rest is the same.
    """
    try:
        scores = _train_and_score(graph, recipe, folder, cluster, has_map=has_map)
    finally:  # only now does nothing map its files, which would keep them on Windows
        shutil.rmtree(folder / SCRATCH, ignore_errors=True)
    remove_leftovers(folder)
    return scores


def remove_leftovers(folder: Path) -> None:
    """Remove what only an unfinished run needs."""
    remove_states(folder)
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)
    (folder / files.BEGUN).unlink(missing_ok=True)
    for part in folder.glob("*.part"):  # which a kill has left
        part.unlink(missing_ok=True)
    for left in folder.glob(f".{files.EMBEDDINGS}-*"):  # and one of `dgb embed`
        shutil.rmtree(left, ignore_errors=True)


def _train_and_score(
    graph: AnyGraph, recipe: Recipe, folder: Path, cluster: Cluster | None, *, has_map: bool
) -> dict[str, Any]:
    files.check_graph(folder, identity(graph))
    reason = why_not_scored(graph, recipe.train.seed)
    if reason:
        log(f"no scores: {reason}")
    origin = files.read_origin(folder)
    source = open_source(origin, graph, recipe) if origin else None
    if cluster is None:
        trained, z = _train_here(graph, recipe, folder, source)
    elif source is not None:
        raise DGBError("an update is trained on one machine; leave out --engine ray")
    else:
        trained, z = _train_on_cluster(graph, recipe, folder, cluster)
    setup = trained.setup
    files.save_encoding(setup.encoding, folder)
    files.save_schema(setup.schema, folder)
    save_encoder(trained.encoder, folder)
    save_decoder(trained.loss, folder)
    scores = describe(graph, trained.recipe) | {
        "seconds": round(sum(line["seconds"] for line in read_metrics(folder)), 2),
        "effective_rank": measure_rank(z),
    }
    if setup.schema:
        scores["attention"] = trained.attention()
    if source is not None:
        first = trained.first_embeddings()
        scores["drift"] = write_drift(folder, source, Vectors(setup.node_ids, z), first)
        del first
    names = split = None
    if not reason:
        own, predicted = score_own(trained, z, graph)
        table, names, split = describe_classes(graph, predicted, recipe.train.seed)
    if has_map:
        write_map(folder, graph, z, names, split, is_whole=recipe.data.target == ALL_TYPES)
    del z  # before there are other vectors
    if not reason:
        scores |= {"dgb": own} | score_references(trained, graph) | table
    scores["peak_mb"] = peak_mb()
    write_json(folder / files.SCORES, scores)
    return scores


def _train_here(
    graph: AnyGraph, recipe: Recipe, folder: Path, source: Source | None
) -> tuple[Trained, Array]:
    refuse_other_engine(folder)
    trained = train(graph, recipe, folder, source.encoder if source else None)
    z = trained.embeddings()
    ids = trained.setup.node_ids
    write_embeddings(folder / files.EMBEDDINGS, ids, z, npy=recipe.embed.npy)
    return trained, z


def _train_on_cluster(
    graph: AnyGraph, recipe: Recipe, folder: Path, cluster: Cluster
) -> tuple[Trained, Array]:
    recipe = resolve_recipe(graph, recipe, is_on_cluster=True)
    path, cpu = folder / files.EMBEDDINGS, torch.device("cpu")
    with connect_engine(cluster, recipe, graph.num_nodes, folder) as (machines, ranks):
        from dgb.ray import blocks, embedding, training  # only now is it known that Ray is there

        start = time.perf_counter()
        setup = make_setup(graph, recipe, cpu)
        assert isinstance(setup.inputs, Inputs)
        drawn = draw_model(setup, recipe, cpu)
        encoder, layout = drawn[0].encoder, blocks.make_layout(setup.inputs.shape, machines)
        kept = blocks.put_blocks(setup.inputs, layout)
        training.fit_ranks(drawn, kept, recipe, folder=folder, ranks=ranks)
        trained = Trained(encoder, drawn[1], setup, time.perf_counter() - start)
        if path.is_dir():  # parts of a run that was stopped, which may have had others
            remove_parts(path)
        path.unlink(missing_ok=True)
        path.mkdir()
        write = path.resolve(), write_embeddings
        embedding.write_parts(encoder, kept, recipe.embed, setup.node_ids, write)
    _, z = read_embeddings(path)
    if recipe.embed.npy:
        write_npy(path.with_suffix(".npy"), z)
    return trained, z
