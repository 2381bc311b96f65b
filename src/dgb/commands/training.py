"""The verbs that train."""

import time
from argparse import Namespace
from pathlib import Path

from dgb.commands.hetero import evaluate_hetero, tell_paths
from dgb.commands.options import any_graph_of, check_counts, describe, recipe_of
from dgb.cookbook import recipe_hash
from dgb.data.graph import Graph
from dgb.data.hetero.graph import HeteroGraph
from dgb.data.hetero.load import is_hetero
from dgb.engine.cluster import Cluster, check_address, import_ray
from dgb.errors import DGBError
from dgb.progress import say
from dgb.recipe import Data, Recipe


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
        table = split_table if isinstance(graph, HeteroGraph) else scores_table
        print(f"\n{table([scores])}\n")
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
    return _graph(recipe.data, options), recipe, folder


def _graph(data: Data, options: Namespace) -> Graph | HeteroGraph:
    if options.engine == "ray" and is_hetero(data.graph):
        raise DGBError("--engine ray is for graphs of one node type; leave it out")
    return any_graph_of(data, options)


def _begun(options: Namespace) -> tuple[Graph | HeteroGraph, Recipe, Path]:
    from dgb.run import folder as files
    from dgb.run.hetero_parts import resolve
    from dgb.run.trained import check_recipe

    recipe = recipe_of(options)
    check_recipe(recipe)
    graph = _graph(recipe.data, options)
    if isinstance(graph, HeteroGraph):
        recipe = resolve(graph, recipe)
        tell_paths(graph, recipe)
    folder = Path(options.out or f"runs/{graph.name}-{time.strftime('%Y%m%d-%H%M%S')}")
    files.make_folder(folder, recipe)
    return graph, recipe, folder


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
