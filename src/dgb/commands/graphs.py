"""The recipe and the graph that the options of a verb ask for, and what is printed of a graph."""

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgb.commands.options import as_options
from dgb.cookbook import DEFAULT, load_recipe
from dgb.errors import DGBError
from dgb.recipe import Data, Hetero, Recipe
from dgb.settings import listed_names
from dgb.terminal import log, readable

if TYPE_CHECKING:
    from dgb.data.typed.graph import AnyGraph, HeteroGraph
    from dgb.views.metapaths.paths import MetaPath

_WIDTH = 24  # of the first column of what is counted


def choose_recipe(options: Namespace) -> Recipe:
    """Return the recipe asked for, else that of the graph's kind."""
    from dgb.data.load import is_hetero

    usual = "hetero" if is_hetero(options.graph) else DEFAULT
    seed = [] if options.seed is None else [f"train.seed={options.seed}"]
    recipe = load_recipe(options.recipe or usual, [*options.set, *seed])
    return replace(recipe, data=choose_data(options, recipe.data))


def choose_data(options: Namespace, data: Data) -> Data:
    """Return which files and columns to read, with absolute paths to find them again later."""
    from dgb.data.load import is_path

    keys = ("id", "label", "ends", "weight", "drop", "charset")
    columns = {key: getattr(options, key, None) for key in keys}
    data = replace(data, **{key: value for key, value in columns.items() if value})
    files = {key: getattr(options, key) or getattr(data, key) for key in ("nodes", "labels")}
    graph = _absolute(options.graph) if is_path(options.graph) else options.graph
    return replace(data, graph=graph, **{k: _absolute(path) for k, path in files.items()})


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().resolve()) if path else ""


def open_graph(data: Data, options: Namespace, **run: Any) -> "AnyGraph":
    """Return the graph that a recipe describes, and log what was made or guessed in reading it.

    `run` is the encoding or the schema of a finished run, to read another graph as it was read.
    """
    from dgb.data.load import read_graph

    graph = read_graph(data, **data_options(options), **run)
    for note in graph.notes:
        log(f"note: {as_options(note)}")
    return graph


def choose_later_recipe(options: Namespace, run: Recipe) -> Recipe:
    """Return a run's recipe with what is set now, and the graph that is asked for."""
    recipe = run
    if options.graph:  # read as the run's own was, from other files
        recipe = replace(recipe, data=replace(recipe.data, nodes="", labels=""))
    elif options.nodes or options.labels:
        raise DGBError("--nodes and --labels go with a graph of their own; name its edges before")
    recipe = load_recipe(recipe, options.set)
    if recipe.data.target != run.data.target:
        raise DGBError("data.target: the model is trained already; train again for another type")
    if options.graph:
        return replace(recipe, data=choose_data(options, recipe.data))
    if not recipe.data.graph:  # saved from Python, which reads no file
        raise DGBError(f"{options.run} does not say which graph it was trained on; name one")
    return recipe


def open_later_graph(recipe: Recipe, options: Namespace, folder: Path) -> "AnyGraph":
    """Return the graph of a recipe, with the columns and types that the model of a run knows."""
    from dgb.data.align import refuse_own_scales
    from dgb.data.graph import Graph
    from dgb.data.load import is_hetero
    from dgb.run import folder as files

    schema, encoding = files.read_schema(folder), files.read_encoding(folder)
    if schema is None and is_hetero(recipe.data.graph):
        raise DGBError(
            f"{recipe.data.graph} has several types of nodes, and {folder} holds no model of such "
            "a graph; train one on it"
        )
    graph = open_graph(recipe.data, options, encoding=encoding, schema=schema)
    if isinstance(graph, Graph):
        refuse_own_scales(graph, encoding)
    return graph


def data_options(options: Namespace) -> dict[str, Any]:
    """Return where data may come from."""
    return {"data_folder": options.data_folder, "offline": options.offline}


def describe_graph(graph: "AnyGraph") -> str:
    """Return a graph's name and size in a line."""
    from dgb.data.typed.graph import HeteroGraph

    if isinstance(graph, HeteroGraph):
        types = ", ".join(f"{nodes.num_nodes:,} {name}" for name, nodes in graph.nodes.items())
        return f"{graph.name}: {types} nodes, {graph.num_edges:,} edges; target {graph.target}"
    counts = f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges"
    return f"{graph.name}: {counts}, {graph.num_features:,} features"


def label_lines(graph: "AnyGraph", seed: int) -> list[str]:
    """Return in a line how many labels are used for what; nothing of a graph without any."""
    from dgb.evaluate.labels import describe_labels

    return [] if graph.labels is None else [describe_labels(graph, seed)]


def check_lines(graph: "AnyGraph", recipe: Hetero, *, are_divided: bool = True) -> list[str]:
    """Return what a graph counts, what was done in reading it, and what is likely trouble."""
    from dgb.data.look.counts import count_graph
    from dgb.data.look.trouble import trouble
    from dgb.data.typed.graph import HeteroGraph

    counts = count_graph(graph)
    remarks = trouble(graph, counts, are_divided=are_divided)
    tables: list[list[str]] = []
    if isinstance(graph, HeteroGraph):
        tables = [_table(kind, counts.pop(f"{kind}s")) for kind in ("type", "relation")]
        tables += [_paths(graph, recipe)]
    known = {name: value for name, value in counts.items() if value not in (None, [], {})}
    if "largest_component" in known:
        known["largest_component"] = f"{known['largest_component']:.0%} of the nodes"
    lines = [f"{name.replace('_', ' '):{_WIDTH}}{_text(value)}" for name, value in known.items()]
    lines += [line for table in tables for line in ("", *table)]
    if graph.notes:
        lines += ["", "in reading:", *(f"- {as_options(note)}" for note in graph.notes)]
    if not remarks:
        return [*lines, "", "likely trouble: none found"]
    return [*lines, "", "likely trouble:", *(f"- {sentence}" for sentence in remarks)]


def _paths(graph: "HeteroGraph", recipe: Hetero) -> list[str]:
    from dgb.views.metapaths.paths import MOST, find_metapaths, parse_metapath

    names = listed_names(recipe.metapaths)
    if names:
        return path_lines(graph, [parse_metapath(graph, name) for name in names])
    paths = find_metapaths(graph, recipe.max_length, MOST)
    if not paths:
        return [f"meta-paths of at most {recipe.max_length} steps: none"]
    more = [f"and more: name some, or lower hetero.max_length={recipe.max_length}"]
    return [*path_lines(graph, paths[:MOST]), *(more if len(paths) > MOST else [])]


def path_lines(graph: "HeteroGraph", paths: Iterable["MetaPath"]) -> list[str]:
    """Return how many nodes a node reaches over every meta-path, and the share of all pairs."""
    from dgb.views.metapaths.density import measure_densities

    counts = {
        name: {"reached": f"{density.mean:,.1f}", "density": f"{density.share:.2%}"}
        for name, density in measure_densities(graph, paths).items()
    }
    return _table("meta-path", counts)


def _table(what: str, counts: dict[str, dict[str, Any]]) -> list[str]:
    from dgb.pages import text_table

    heads = [head.replace("_", " ") for head in next(iter(counts.values()), {})]
    rows = [(name, *map(_text, row.values())) for name, row in counts.items()]
    return text_table((what, *heads), rows, _WIDTH, 12).splitlines()


def _text(value: Any) -> str:
    if isinstance(value, list):
        more = f"{len(value)}, the first: " if len(value) > 1 else ""
        return more + _text(value[0])
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(part)}" for name, part in value.items())
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else readable(value)
