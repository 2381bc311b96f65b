"""`dgb update`: a finished run on a new version of its graph, in the same axes."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dgb.commands.graphs import choose_later_recipe, open_later_graph
from dgb.commands.options import add_graph_options, add_set_option
from dgb.commands.train import add_report_option, train_new
from dgb.cookbook import split_override
from dgb.errors import DGBError

HELP = "train a finished run further on a new version of its graph, and list what moved"
SETTABLE = ("data", "train", "probe")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("run", help="run folder, whose model and axes are taken")
    about = "new version of the graph (default: the run's own files, which have changed)"
    parser.add_argument("graph", nargs="?", help=about)
    parser.add_argument("--out", metavar="DIR", help="new run folder (default: runs/GRAPH-TIME)")
    add_report_option(parser)
    add_set_option(parser, "of data, train or probe, such as train.epochs=10")
    add_graph_options(parser)


def run(options: Namespace) -> None:
    """Train the model of a run further on a new graph, into a run folder of its own."""
    from dgb.run.folder import read_recipe
    from dgb.run.resolve import resolve_recipe
    from dgb.run.update import find_origin, lengthen, open_source, shorten

    for override in options.set:
        if split_override(override)[0] not in SETTABLE:
            raise DGBError(
                f"--set {override}: an update keeps the model and the form of its vectors; set "
                "data.…, train.… or probe.…, or train again"
            )
    before = Path(options.run)
    origin = find_origin(before)
    recipe = choose_later_recipe(options, shorten(lengthen(read_recipe(before), origin)))
    graph = open_later_graph(recipe, options, before)
    recipe = resolve_recipe(graph, recipe)
    open_source(origin, graph, recipe)  # what cannot be updated is refused before a folder is made
    train_new(graph, recipe, options, origin=origin)
