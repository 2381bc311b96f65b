"""The verbs that look: at data, at recipes, at the machine."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from dgb.commands.options import data_of, data_options
from dgb.cookbook import load_recipe, recipe_names, split_override
from dgb.data.blocks import Blocks, make_blocks
from dgb.data.graph import Graph
from dgb.data.load import fetch_dataset, list_datasets
from dgb.data.look.check import check_graph
from dgb.data.look.trouble import trouble
from dgb.data.public.sources import cache_folder
from dgb.data.reading import read_graph
from dgb.readable import readable, setting_lines
from dgb.settings import make_section


def data(options: Namespace) -> None:
    """List the known data sets, fetch one, or check a graph."""
    if options.action == "list":
        print(f"{'name':18}{'nodes':>9}{'edges':>11}{'features':>10}{'classes':>9}  state")
        for row in list_datasets():
            counts = (
                f"{row['nodes']:>9,}{row['edges']:>11,}{row['features']:>10,}{row['classes']:>9}"
            )
            print(f"{row['name']:18}{counts}  {row['state']}")
    elif options.action == "fetch":
        print(fetch_dataset(options.graph, **data_options(options)) or "bundled: nothing to fetch")
    elif options.action == "make":
        _make(options)
    else:
        asked = data_of(options, load_recipe("default", options.set).data)
        print("\n".join(check_lines(read_graph(asked, **data_options(options)))))


def _make(options: Namespace) -> None:
    overrides = [split_override(f"blocks.{override}") for override in options.set]
    values = {name: value for _, name, value in overrides}
    make_blocks(Path(options.folder), make_section(Blocks, "blocks", values))
    print(f"written; try: dgb train {options.folder}")


def check_lines(graph: Graph) -> list[str]:
    """Return what a graph counts, what was done in reading it, and what is likely trouble."""
    counts = check_graph(graph)
    told = {name: value for name, value in counts.items() if value not in (None, [], {})}
    lines = [f"{name.replace('_', ' '):24}{_counted(value)}" for name, value in told.items()]
    lines += ["", "in reading:", *(f"- {note}" for note in graph.notes)] if graph.notes else []
    found = trouble(graph, counts)
    if not found:
        return [*lines, "", "likely trouble: none found"]
    return [*lines, "", "likely trouble:", *(f"- {sentence}" for sentence in found)]


def _counted(value: Any) -> str:
    if isinstance(value, list) and len(value) > 1:
        return f"{len(value)}, the first: {_counted(value[0])}"
    if isinstance(value, list):
        return _counted(value[0])
    if isinstance(value, dict):
        return ", ".join(f"{name} {_counted(part)}" for name, part in value.items())
    return f"{value:,}" if isinstance(value, int) else readable(value)


def info(options: Namespace) -> None:
    """Print versions, devices, recipes and folders, or every setting of one recipe."""
    from dgb.run.machine import devices, git_hash, versions

    if options.recipe:
        print("\n".join(setting_lines(load_recipe(options.recipe))))
        return
    facts = versions() | {"git": git_hash() or "no checkout"} | devices()
    facts |= {"recipes": ", ".join(recipe_names()), "cache": str(cache_folder())}
    for name, value in facts.items():
        print(f"{name:18}{value}")
