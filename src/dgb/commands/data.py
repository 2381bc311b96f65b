"""`dgb data`: list, fetch, check or make a graph."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dgb.commands.graphs import check_lines, choose_data, data_options, label_lines
from dgb.commands.options import GRAPH, add_data_options, add_graph_options, add_set_option
from dgb.cookbook import load_recipe, split_override
from dgb.settings import check_names, make_section
from dgb.terminal import output

HELP = "list, fetch and check graphs"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|fetch|check|make")
    actions.add_parser("list", help="known data sets and where they stand")
    fetch = actions.add_parser("fetch", help="get a data set into the cache")
    fetch.add_argument("graph", help="a known data set")
    add_data_options(fetch)
    make = actions.add_parser("make", help="write an invented graph of any size, for trying out")
    make.add_argument("folder", help="to write edges.npy, nodes.npy and labels.npy into")
    kinds = "noise-features, chance-edges or heterophily, of 3,000 nodes (default: classes)"
    make.add_argument("--kind", default="classes", metavar="KIND", help=kinds)
    keys = "nodes, edges, features, classes, latent, homophily, bordering, signal, exponent or seed"
    add_set_option(make, keys)
    check = actions.add_parser("check", help="describe a graph, and what may be wrong with it")
    check.add_argument("graph", help=GRAPH)
    add_set_option(check)
    add_graph_options(check)


def run(options: Namespace) -> None:
    """List the known data sets, fetch one, check a graph, or make one."""
    from dgb.data.public.datasets import fetch_dataset
    from dgb.data.public.sources import list_datasets

    if options.action == "list":
        output(f"{'name':18}{'nodes':>9}{'edges':>11}{'features':>10}{'classes':>9}  state")
        form = "{name:18}{nodes:>9,}{edges:>11,}{features:>10,}{classes:>9}  {state}"
        output(*(form.format(**row) for row in list_datasets()))
    elif options.action == "fetch":
        folder = fetch_dataset(options.graph, **data_options(options))
        output(str(folder or "bundled: nothing to fetch"))
    elif options.action == "make":
        from dgb.data.blocks import KINDS, Blocks, make_blocks

        check_names("kind of graph", [options.kind], KINDS)
        overrides = [split_override(f"blocks.{override}") for override in options.set]
        values = KINDS[options.kind] | {name: value for _, name, value in overrides}
        make_blocks(Path(options.folder), make_section(Blocks, "blocks", values))
        output(f"written; try: dgb train {options.folder}")
    else:
        from dgb.data.load import read_graph

        recipe = load_recipe("default", options.set)
        graph = read_graph(choose_data(options, recipe.data), **data_options(options))
        lines = check_lines(graph, recipe.hetero, are_divided=recipe.data.normalise == "row")
        output(*lines, *label_lines(graph, recipe.train.seed))
