"""`dgb data`: list, fetch, check or make a graph."""

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgb.commands.graphs import choose_data, data_options
from dgb.commands.options import GRAPH, Verbs, add_data_options, add_graph_options, add_set_option
from dgb.cookbook import load_recipe, split_override
from dgb.recipe import Recipe
from dgb.settings import make_section
from dgb.terminal import output

if TYPE_CHECKING:
    from dgb.data.graph import Graph


def add_options(verbs: Verbs) -> ArgumentParser:
    """Add the verb and its options."""
    data: ArgumentParser = verbs.add_parser("data", help="list, fetch and check graphs")
    actions = data.add_subparsers(dest="action", required=True, metavar="list|fetch|check|make")
    actions.add_parser("list", help="known data sets and where they stand")
    fetch = actions.add_parser("fetch", help="get a data set into the cache")
    fetch.add_argument("graph", help="a known data set")
    add_data_options(fetch)
    make = actions.add_parser("make", help="write an invented graph of any size, for trying out")
    make.add_argument("folder", help="to write edges.npy, nodes.npy and labels.npy into")
    add_set_option(make, "nodes, edges, features, classes, homophily, signal, exponent or seed")
    check = actions.add_parser("check", help="describe a graph, and what may be wrong with it")
    check.add_argument("graph", help=GRAPH)
    add_set_option(check)
    add_graph_options(check)
    return data


def run(options: Namespace) -> None:
    """List the known data sets, fetch one, check a graph, or make one."""
    from dgb.data.public.datasets import fetch_dataset, list_datasets

    if options.action == "list":
        output(f"{'name':18}{'nodes':>9}{'edges':>11}{'features':>10}{'classes':>9}  state")
        for row in list_datasets():
            counts = (
                f"{row['nodes']:>9,}{row['edges']:>11,}{row['features']:>10,}{row['classes']:>9}"
            )
            output(f"{row['name']:18}{counts}  {row['state']}")
    elif options.action == "fetch":
        folder = fetch_dataset(options.graph, **data_options(options))
        output(str(folder or "bundled: nothing to fetch"))
    elif options.action == "make":
        _make(options)
    else:
        recipe = load_recipe("default", options.set)
        recipe = replace(recipe, data=choose_data(options, recipe.data))
        output(*_check(recipe, data_options(options)))


def _check(recipe: Recipe, options: dict[str, Any]) -> list[str]:
    from dgb.commands.counts import check_hetero_lines
    from dgb.data.load import read_graph
    from dgb.data.typed.graph import HeteroGraph

    graph = read_graph(recipe.data, **options)
    if isinstance(graph, HeteroGraph):
        return check_hetero_lines(graph, recipe.hetero)
    return check_lines(graph)


def _make(options: Namespace) -> None:
    from dgb.data.blocks import Blocks, make_blocks

    overrides = [split_override(f"blocks.{override}") for override in options.set]
    values = {name: value for _, name, value in overrides}
    make_blocks(Path(options.folder), make_section(Blocks, "blocks", values))
    output(f"written; try: dgb train {options.folder}")


def check_lines(graph: "Graph") -> list[str]:
    """Return what a graph counts, what was done in reading it, and what is likely trouble."""
    from dgb.commands.counts import count_lines, remark_lines
    from dgb.data.look.counts import count_graph
    from dgb.data.look.trouble import trouble

    counts = count_graph(graph)
    return [*count_lines(counts), *remark_lines(graph.notes, trouble(graph, counts))]
