"""The verbs that look: at data, at recipes, at the machine."""

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from dgb.commands.counts import check_hetero_lines, count_lines, remark_lines
from dgb.commands.options import data_of, data_options
from dgb.cookbook import load_recipe, recipe_names, setting_lines, split_override
from dgb.data.blocks import Blocks, make_blocks
from dgb.data.graph import Graph
from dgb.data.load import read_graph
from dgb.data.look.counts import check_graph
from dgb.data.look.trouble import trouble
from dgb.data.public.datasets import fetch_dataset, list_datasets
from dgb.data.public.sources import cache_folder
from dgb.data.typed.graph import HeteroGraph
from dgb.recipe import Recipe
from dgb.settings import make_section
from dgb.terminal import output


def data(options: Namespace) -> None:
    """List the known data sets, fetch one, or check a graph."""
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
        recipe = replace(recipe, data=data_of(options, recipe.data))
        output(*_checked(recipe, data_options(options)))


def _checked(recipe: Recipe, options: dict[str, Any]) -> list[str]:
    graph = read_graph(recipe.data, **options)
    if isinstance(graph, HeteroGraph):
        return check_hetero_lines(graph, recipe.hetero)
    return check_lines(graph)


def _make(options: Namespace) -> None:
    overrides = [split_override(f"blocks.{override}") for override in options.set]
    values = {name: value for _, name, value in overrides}
    make_blocks(Path(options.folder), make_section(Blocks, "blocks", values))
    output(f"written; try: dgb train {options.folder}")


def check_lines(graph: Graph) -> list[str]:
    """Return what a graph counts, what was done in reading it, and what is likely trouble."""
    counts = check_graph(graph)
    return [*count_lines(counts), *remark_lines(graph.notes, trouble(graph, counts))]


def info(options: Namespace) -> None:
    """Print versions, devices, recipes and folders, or every setting of one recipe."""
    from dgb.run.machine import devices, git_hash, versions

    if options.recipe:
        output(*setting_lines(load_recipe(options.recipe)))
        return
    facts = versions() | {"git": git_hash() or "no checkout"} | devices()
    facts |= {"recipes": ", ".join(recipe_names()), "cache": str(cache_folder())}
    for name, value in facts.items():
        output(f"{name:18}{value}")
