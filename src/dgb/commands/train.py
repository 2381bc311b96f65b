"""`dgb train`: one training into a run folder, a page to look at it, and what came out.

`dgb update`, a training that starts from the model of a run, shares all but where it starts.
"""

import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgb.commands.graphs import (
    choose_recipe,
    describe_graph,
    label_lines,
    open_graph,
    open_later_graph,
    path_lines,
)
from dgb.commands.options import GRAPH, add_count, add_recipe_options, check_counts
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.terminal import output, resumable

if TYPE_CHECKING:
    from dgb.data.typed.graph import AnyGraph
    from dgb.ray.cluster import Cluster
    from dgb.run.folder import Origin

HELP = "train once, write a run folder, score it if labelled"
HEAD = ("cluster", "before", "after", "left", "moved", "angle", "noise")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("graph", nargs="?", help=GRAPH)
    parser.add_argument("--out", metavar="DIR", help="run folder (default: runs/GRAPH-TIME)")
    parser.add_argument("--resume", metavar="RUN", help="resume an unfinished run folder")
    add_report_option(parser)
    engines, about = ("local", "ray"), "one process, or many machines"
    parser.add_argument("--engine", choices=engines, default="local", help=about)
    about = "of a Ray cluster (default: this machine)"
    parser.add_argument("--address", metavar="HOST:PORT", help=about)
    add_count(parser, "--workers", None, "ranks that share the rows (default: one a machine)")
    add_recipe_options(parser)


def run(options: Namespace) -> None:
    """Train once into a run folder, or resume one; the report is a page to look at it."""
    from dgb.data.typed.graph import HeteroGraph
    from dgb.run.resolve import check_recipe, resolve_recipe
    from dgb.views.metapaths.inputs import metapaths_of

    if options.graph and options.resume:
        raise DGBError(
            f"--resume finishes {options.resume} on its own graph; leave out {options.graph}, or "
            f"train a finished run on a new version with `dgb update {options.resume} "
            f"{options.graph}`"
        )
    if not options.graph and not options.resume:
        raise DGBError("give a graph to train on, or --resume RUN; `dgb data list` shows data sets")
    cluster = _choose_cluster(options)
    if options.resume:
        _resume(options, cluster)
        return
    recipe = choose_recipe(options)
    check_recipe(recipe)
    graph = open_graph(recipe.data, options)
    recipe = resolve_recipe(graph, recipe, is_on_cluster=cluster is not None)
    if isinstance(graph, HeteroGraph) and recipe.hetero.encoder != "relations":
        output(*path_lines(graph, metapaths_of(graph, recipe)), "")
    train_new(graph, recipe, options, cluster)


def _choose_cluster(options: Namespace) -> "Cluster | None":
    from dgb.ray.cluster import Cluster, check_address, import_ray

    if options.engine == "ray":
        check_counts(options, "workers")
        import_ray()
        if options.address:
            check_address(options.address)
        return Cluster(options.address, options.workers)
    if options.address or options.workers is not None:
        raise DGBError("--address and --workers go with --engine ray")
    return None


def _resume(options: Namespace, cluster: "Cluster | None") -> None:
    from dgb.files.atomic import locked
    from dgb.report.page import REPORT, write_report
    from dgb.run.folder import EMBEDDINGS, SCORES, read_origin, read_recipe
    from dgb.run.train import remove_leftovers

    if options.set or options.recipe or options.out or options.seed is not None:
        raise DGBError("--resume takes the run's own recipe and folder; leave out the rest")
    folder = Path(options.resume)
    recipe = read_recipe(folder)
    with locked(folder):
        if not (folder / SCORES).exists():
            origin = read_origin(folder)
            if origin is None:
                graph = open_graph(recipe.data, options)
            else:  # an update: columns as the run before has them
                graph = open_later_graph(recipe, options, Path(origin.run))
            train_into(graph, recipe, folder, cluster, has_report=not options.no_report)
            return
        remove_leftovers(folder)  # which a kill after the last file may have left
        if not (folder / REPORT).exists() and not options.no_report:
            write_report(folder)
    output(f"{folder} is finished", f"embeddings: {folder / EMBEDDINGS}", *page_line(folder))


def add_report_option(parser: ArgumentParser) -> None:
    """Add `--no-report`."""
    about = "write neither the map nor report.html"
    parser.add_argument("--no-report", action="store_true", help=about)


def train_new(
    graph: "AnyGraph",
    recipe: Recipe,
    options: Namespace,
    cluster: "Cluster | None" = None,
    origin: "Origin | None" = None,
) -> None:
    """Train into a run folder that is made now: the one asked for, or one by graph and time."""
    from dgb.files.atomic import locked
    from dgb.run.folder import make_folder

    folder = Path(options.out or f"runs/{graph.name}-{time.strftime('%Y%m%d-%H%M%S')}")
    with locked(folder):
        make_folder(folder, recipe, origin)
        train_into(graph, recipe, folder, cluster, has_report=not options.no_report)


def train_into(
    graph: "AnyGraph", recipe: Recipe, folder: Path, cluster: "Cluster | None", *, has_report: bool
) -> None:
    """Train into a folder that is there; what stops it is said together with how to resume."""
    from dgb.data.typed.graph import HeteroGraph
    from dgb.files.atomic import UNWRITABLE
    from dgb.measure.repeat import blocks_lines, scores_table, split_table
    from dgb.report.page import write_report
    from dgb.run.folder import EMBEDDINGS
    from dgb.run.train import train_run

    output(f"{describe_graph(graph)} → {folder}", *label_lines(graph, recipe.train.seed))
    again = f"resume it with `dgb train --resume {folder}{cluster.words if cluster else ''}`"
    try:
        with resumable(again):
            scores = train_run(graph, recipe, folder, cluster, has_map=has_report)
            if has_report:
                write_report(folder)
    except OSError as error:  # a full disk, most often
        what = f"cannot write to {folder}" if error.errno in UNWRITABLE else "stopped"
        raise DGBError(f"{what}: {error.strerror or error}; fix that and {again}") from error
    if "dgb" in scores:
        table = split_table if isinstance(graph, HeteroGraph) else scores_table
        output("", *table([scores]).splitlines(), *blocks_lines([scores]), "")
    output(f"trained in {scores['seconds']:.0f} s, effective rank {scores['effective_rank']:.0f}")
    if "drift" in scores:
        output("", *drift_lines(scores["drift"], folder), "")
    output(f"embeddings: {folder / EMBEDDINGS}", *page_line(folder))


def page_line(folder: Path) -> list[str]:
    """Return where the page of a run is, nothing where there is none."""
    from dgb.report.page import REPORT

    return [f"report: {folder / REPORT}"] if (folder / REPORT).exists() else []


def drift_lines(drift: dict[str, Any], folder: Path) -> list[str]:
    """Return the summary of a drift, and where the rest of it lies."""
    from dgb.evaluate.drift import SHARE
    from dgb.run.update import DRIFT

    kept, new, gone, moved = (f"{drift[name]:,}" for name in ("kept", "new", "gone", "moved"))
    return [
        f"drift from {drift['run']}: {kept} nodes kept, {new} new, {gone} gone",
        f"cosine of kept nodes, before and after, median: {drift['median_cosine']:.3f}",
        f"noise: two seeds place {SHARE:.0%} of the nodes at most {drift['noise']:.1f}° apart",
        f"moved beyond the noise: {moved} nodes",
        *(f"  {node}  {times:.1f} × the noise" for node, times in drift["moved_most"] if times > 1),
        "".join(f"{name:>9}" for name in HEAD),
        *map(_cluster_line, drift["clusters"]),
        f"drift of every node: {folder / DRIFT}",
    ]


def _cluster_line(cluster: dict[str, Any]) -> str:
    counts = "".join(f"{cluster[name]:>9,}" for name in HEAD[:5])
    angles = "".join(f"{cluster[name]:>8.1f}°" for name in HEAD[5:])
    mark = "  moved" if cluster["angle"] > cluster["noise"] else ""
    return f"{counts}{angles}{mark}"
