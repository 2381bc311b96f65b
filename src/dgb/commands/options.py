"""What the verbs share: the graph and the recipe that options ask for."""

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from dgb.cookbook import load_recipe, recipe_names
from dgb.data.graph import Graph
from dgb.data.load import load_graph
from dgb.errors import DGBError
from dgb.recipe import Recipe


def named_graph(source: str, options: Namespace) -> Graph:
    """Return the graph of this name or file."""
    return load_graph(source, **data_options(options))


def data_options(options: Namespace) -> dict[str, Any]:
    """Return where data may come from."""
    return {"data_folder": options.data_folder, "offline": options.offline}


def recipe_of(options: Namespace, graph: Graph) -> Recipe:
    """Return the recipe asked for, else the one named like the graph, else the default."""
    named = graph.name if graph.name in recipe_names() else "default"
    seed = [] if options.seed is None else [f"train.seed={options.seed}"]
    recipe = load_recipe(options.recipe or named, [*options.set, *seed])
    is_file = options.graph.endswith(".npz")
    source = str(Path(options.graph).resolve()) if is_file else graph.name
    return replace(recipe, data=replace(recipe.data, graph=source))


def check_counts(options: Namespace, *names: str) -> None:
    """Refuse a number of runs, jobs and the like below one; what was not given is None."""
    for name in names:
        if (value := getattr(options, name)) is not None and value < 1:
            raise DGBError(f"--{name} must be at least 1, not {value}")


def describe(graph: Graph) -> str:
    """Return a graph's name and size in a line."""
    return (
        f"{graph.name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
        f"{graph.num_features:,} features"
    )
