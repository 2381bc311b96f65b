"""`dgb train`: one training into a run folder, and a page to look at it."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from dgb.commands.graphs import choose_recipe, open_graph, open_later_graph, path_lines
from dgb.commands.options import GRAPH, add_count, add_recipe_options, check_counts
from dgb.commands.outcome import add_report_option, page_line, train_into, train_new
from dgb.errors import DGBError
from dgb.terminal import output

if TYPE_CHECKING:
    from dgb.ray.cluster import Cluster


HELP = "train once, write a run folder, score it if labelled"


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
