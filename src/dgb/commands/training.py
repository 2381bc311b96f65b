"""The verbs that train and embed."""

import shutil
import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from dgb.commands.hetero import evaluate_hetero, tell_paths
from dgb.commands.options import (
    any_graph_of,
    check_counts,
    check_out,
    data_of,
    describe,
    graph_of,
    recipe_of,
)
from dgb.cookbook import load_recipe, recipe_hash, split_override
from dgb.data.align import refuse_own_scales
from dgb.data.graph import Graph
from dgb.data.hetero.graph import HeteroGraph
from dgb.engine.cluster import Cluster, check_address, import_ray
from dgb.errors import DGBError
from dgb.progress import say
from dgb.recipe import Recipe


def train(options: Namespace) -> None:
    """Train once into a run folder, or go on with one; the report is a page to look at it."""
    from dgb.report.write import write_report
    from dgb.run import folder as files
    from dgb.run.hetero import train_hetero_run
    from dgb.run.repeat import scores_table
    from dgb.run.split_table import split_table
    from dgb.run.training import train_run

    if bool(options.graph) == bool(options.resume):
        raise DGBError("give a graph to train on, or --resume RUN; `dgb data list` shows data sets")
    cluster = _cluster(options)
    graph, recipe, folder = _resumed(options) if options.resume else _begun(options)
    print(f"{describe(graph)} → {folder}")
    is_hetero = isinstance(graph, HeteroGraph)
    if is_hetero and cluster:
        raise DGBError("--engine ray is for graphs of one node type; leave it out")
    try:
        if isinstance(graph, HeteroGraph):
            scores = train_hetero_run(graph, recipe, folder)
        else:
            scores = train_run(graph, recipe, folder, cluster)
    except KeyboardInterrupt:
        engine = cluster.words if cluster else ""
        say(f"dgb: stopped; go on with `dgb train --resume {folder}{engine}`")
        raise
    if "dgb" in scores:
        print(f"\n{split_table([scores]) if is_hetero else scores_table([scores])}\n")
    print(f"trained in {scores['seconds']:.0f} s, effective rank {scores['effective_rank']:.0f}")
    print(f"embeddings: {folder / files.EMBEDDINGS}\nreport: {write_report(folder)}")


def _cluster(options: Namespace) -> Cluster | None:
    if options.engine == "ray":
        check_counts(options, "workers")
        import_ray()
        if options.address:
            check_address(options.address)
        return Cluster(options.address, options.workers)
    if options.address or options.workers is not None:
        raise DGBError("--address and --workers go with --engine ray")
    return None


def _resumed(options: Namespace) -> tuple[Graph | HeteroGraph, Recipe, Path]:
    from dgb.run import folder as files

    if options.set or options.recipe or options.out or options.seed is not None:
        raise DGBError("--resume goes on with the run's own recipe and folder; leave out the rest")
    folder = Path(options.resume)
    recipe = files.read_recipe(folder)
    if (folder / files.SCORES).exists():
        raise DGBError(
            f"{folder} is finished; its embeddings are {folder / files.EMBEDDINGS}, and "
            f"`dgb report {folder}` makes its page"
        )
    return any_graph_of(recipe.data, options), recipe, folder


def _begun(options: Namespace) -> tuple[Graph | HeteroGraph, Recipe, Path]:
    from dgb.run import folder as files
    from dgb.run.hetero_parts import resolve
    from dgb.run.trained import check_recipe

    recipe = recipe_of(options)
    check_recipe(recipe)
    graph = any_graph_of(recipe.data, options)
    if isinstance(graph, HeteroGraph):
        recipe = resolve(graph, recipe)
        tell_paths(graph, recipe)
    folder = Path(options.out or f"runs/{graph.name}-{time.strftime('%Y%m%d-%H%M%S')}")
    files.make_folder(folder, recipe)
    return graph, recipe, folder


def embed(options: Namespace) -> None:
    """Embed a graph with the encoder of a finished run."""
    from dgb.run import folder as files
    from dgb.run.embedding import embed_graph
    from dgb.run.machine import choose_device
    from dgb.run.memory import SCRATCH
    from dgb.run.vectors import remove_parts, write_embeddings

    folder = Path(options.run)
    _check_embed_options(options)
    recipe = files.read_recipe(folder)
    out = check_out(options.out, folder / files.EMBEDDINGS, (".parquet",))
    if options.graph:  # read as the run's own was, from other files
        recipe = replace(recipe, data=replace(recipe.data, nodes="", labels=""))
    recipe = load_recipe(recipe, options.set)
    if options.operator:
        recipe = replace(recipe, embed=replace(recipe.embed, operator=options.operator))
    if not options.graph and not recipe.data.graph:  # saved from Python, which reads no file
        raise DGBError(f"{folder} does not say which graph it was trained on; name one")
    data = data_of(options, recipe.data) if options.graph else recipe.data
    encoding = files.read_encoding(folder)
    graph = graph_of(data, options, encoding)
    refuse_own_scales(graph, encoding)
    encoder = files.load_encoder(folder, recipe, choose_device("auto"))
    z = embed_graph(encoder, graph, recipe, folder)
    if out.is_dir():  # as an engine has written them
        remove_parts(out)
    write_embeddings(out, graph.node_ids, z, npy=options.npy or recipe.embed.npy)
    print(f"{z.shape[0]} × {z.shape[1]} embeddings: {out}")
    del z  # which may map the files
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)


def _check_embed_options(options: Namespace) -> None:
    if (options.graph or options.operator or options.set) and not options.out:
        raise DGBError("give --out FILE.parquet, so that the run keeps its own embeddings")
    if (options.nodes or options.labels) and not options.graph:
        raise DGBError("--nodes and --labels go with a graph of their own; name its edges before")
    for override in options.set:
        if split_override(override)[0] not in ("data", "embed"):
            raise DGBError(f"--set {override}: the model is trained already; set data.… or embed.…")


def evaluate(options: Namespace) -> None:
    """Train N times and print mean ± std over the trainings, for one of three tasks."""
    from dgb.run import links, repeat

    recipe = recipe_of(options)
    graph = any_graph_of(recipe.data, options)
    folder = Path(options.out or f"runs/evaluate-{graph.name}")
    if isinstance(graph, HeteroGraph):
        evaluate_hetero(graph, recipe, options, folder)
        return
    task = options.task
    print(f"{describe(graph)}, recipe {recipe_hash(recipe)}, {options.runs} trainings")
    if task == "links":
        path = folder / links.FILE
        lines = links.evaluate_links(graph, recipe, options.runs, folder)
        table = links.links_table(lines)
    else:
        path = folder / repeat.FILE
        lines = repeat.evaluate_runs(graph, recipe, options.runs, folder)
        is_cluster = task == "cluster"
        columns = repeat.CLUSTER_COLUMNS if is_cluster else tuple(repeat.COLUMNS)
        table = repeat.scores_table(lines, columns)
    counted = f"mean ± std over {len(lines)} independent trainings"
    print(f"\n{table}\n\n{counted if len(lines) > 1 else 'one training'}")
    print(f"every training: {path}")
