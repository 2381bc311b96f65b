"""The verbs that train."""

import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from dgb.commands.hetero import evaluate_hetero, tell_paths
from dgb.commands.options import any_graph_of, check_counts, describe, recipe_of
from dgb.cookbook import recipe_hash
from dgb.data.graph import Graph
from dgb.data.load import is_hetero
from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.files.atomic import UNWRITABLE
from dgb.files.lock import locked
from dgb.ray.cluster import Cluster, check_address, import_ray
from dgb.recipe import Data, Recipe
from dgb.run.folder import EMBEDDINGS, SCORES, make_folder, read_recipe
from dgb.terminal import log, output


def train(options: Namespace) -> None:
    """Train once into a run folder, or go on with one; the report is a page to look at it."""

    if bool(options.graph) == bool(options.resume):
        raise DGBError("give a graph to train on, or --resume RUN; `dgb data list` shows data sets")
    cluster = _cluster(options)
    if options.resume:
        _resume(options, cluster)
        return
    graph, recipe, folder = _begun(options)
    with locked(folder):
        make_folder(folder, recipe)
        _train(graph, recipe, folder, cluster)


def _resume(options: Namespace, cluster: Cluster | None) -> None:
    from dgb.report.page import REPORT, write_report
    from dgb.run.training import remove_leftovers

    if options.set or options.recipe or options.out or options.seed is not None:
        raise DGBError("--resume goes on with the run's own recipe and folder; leave out the rest")
    folder = Path(options.resume)
    recipe = read_recipe(folder)
    with locked(folder):
        if not (folder / SCORES).exists():
            _train(_graph(recipe.data, options), recipe, folder, cluster)
            return
        remove_leftovers(folder)  # which a kill after the last file may have left
        page = folder / REPORT if (folder / REPORT).exists() else write_report(folder)
    output(f"{folder} is finished", f"embeddings: {folder / EMBEDDINGS}", f"report: {page}")


def _train(
    graph: Graph | HeteroGraph, recipe: Recipe, folder: Path, cluster: Cluster | None
) -> None:
    """Train into a folder that is there; what stops it is told together with how to go on."""
    from dgb.measure.repeat import scores_table, split_table
    from dgb.report.page import write_report

    output(f"{describe(graph)} → {folder}")
    again = f"go on with `dgb train --resume {folder}{cluster.words if cluster else ''}`"
    try:
        scores = _trained(graph, recipe, folder, cluster)
        page = write_report(folder)
    except KeyboardInterrupt:
        log(f"dgb: stopped; {again}")
        raise
    except OSError as error:  # a full disk, most often
        what = f"cannot write to {folder}" if error.errno in UNWRITABLE else "stopped"
        raise DGBError(f"{what}: {error.strerror or error}; mend that and {again}") from error
    if "dgb" in scores:
        table = split_table if isinstance(graph, HeteroGraph) else scores_table
        output("", *table([scores]).splitlines(), "")
    output(f"trained in {scores['seconds']:.0f} s, effective rank {scores['effective_rank']:.0f}")
    output(f"embeddings: {folder / EMBEDDINGS}", f"report: {page}")


def _trained(
    graph: Graph | HeteroGraph, recipe: Recipe, folder: Path, cluster: Cluster | None
) -> dict[str, Any]:
    from dgb.run.hetero import train_hetero_run
    from dgb.run.training import train_run

    if isinstance(graph, HeteroGraph):
        return train_hetero_run(graph, recipe, folder)
    return train_run(graph, recipe, folder, cluster)


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


def _graph(data: Data, options: Namespace) -> Graph | HeteroGraph:
    if options.engine == "ray" and is_hetero(data.graph):
        raise DGBError("--engine ray is for graphs of one node type; leave it out")
    return any_graph_of(data, options)


def _begun(options: Namespace) -> tuple[Graph | HeteroGraph, Recipe, Path]:
    from dgb.run.hetero_parts import resolve
    from dgb.run.trained import check_recipe

    recipe = recipe_of(options)
    check_recipe(recipe)
    graph = _graph(recipe.data, options)
    if isinstance(graph, HeteroGraph):
        recipe = resolve(graph, recipe)
        tell_paths(graph, recipe)
    folder = Path(options.out or f"runs/{graph.name}-{time.strftime('%Y%m%d-%H%M%S')}")
    return graph, recipe, folder


def evaluate(options: Namespace) -> None:
    """Train N times and print mean ± std over the trainings, for one of three tasks."""
    from dgb.measure import links, repeat

    recipe = recipe_of(options)
    graph = any_graph_of(recipe.data, options)
    folder = Path(options.out or f"runs/evaluate-{graph.name}")
    if isinstance(graph, HeteroGraph):
        evaluate_hetero(graph, recipe, options, folder)
        return
    task = options.task
    output(f"{describe(graph)}, recipe {recipe_hash(recipe)}, {options.runs} trainings")
    if task == "links":
        path = folder / links.LINKS
        lines = links.evaluate_links(graph, recipe, options.runs, folder)
        table = links.links_table(lines)
    else:
        path = folder / repeat.RUNS
        lines = repeat.evaluate_runs(graph, recipe, options.runs, folder)
        is_cluster = task == "cluster"
        columns = repeat.CLUSTER_COLUMNS if is_cluster else tuple(repeat.COLUMNS)
        table = repeat.scores_table(lines, columns)
    counted = f"mean ± std over {len(lines)} independent trainings"
    output("", *table.splitlines(), "", counted if len(lines) > 1 else "one training")
    output(f"every training: {path}")
