"""What the verbs share: the recipe and the graph that options ask for."""

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from dgb.cookbook import load_recipe, recipe_names
from dgb.data.encoding import Encoding
from dgb.data.graph import Graph
from dgb.data.load import is_hetero, is_path, read_graph
from dgb.data.public.sources import dataset_name
from dgb.data.typed.graph import HeteroGraph
from dgb.data.typed.schema import Schema
from dgb.errors import DGBError
from dgb.recipe import Data, Recipe
from dgb.terminal import log


def recipe_of(options: Namespace) -> Recipe:
    """Return the recipe asked for, else the one named like the graph, else that of its kind."""
    name = dataset_name(options.graph) or Path(options.graph).stem
    is_typed = is_hetero(options.graph)
    named = "hetero" if is_typed else name if name in recipe_names() else "default"
    seed = [] if options.seed is None else [f"train.seed={options.seed}"]
    recipe = load_recipe(options.recipe or named, [*options.set, *seed])
    return replace(recipe, data=data_of(options, recipe.data))


def data_of(options: Namespace, data: Data) -> Data:
    """Return which files and columns to read; paths are made whole, to be found again later."""
    columns = {key: getattr(options, key, None) for key in ("id", "label", "drop")}
    data = replace(data, **{key: value for key, value in columns.items() if value})
    files = {key: getattr(options, key) or getattr(data, key) for key in ("nodes", "labels")}
    graph = _whole(options.graph) if is_path(options.graph) else options.graph
    return replace(data, graph=graph, **{k: _whole(path) for k, path in files.items()})


def _whole(path: str) -> str:
    return str(Path(path).expanduser().resolve()) if path else ""


def graph_of(data: Data, options: Namespace, encoding: Encoding | None = None) -> Graph:
    """Return the graph that a recipe describes, and say what was made or guessed in reading it."""
    if is_hetero(data.graph):
        raise DGBError(
            f"{data.graph} has several types of nodes, and this is for graphs of one; `dgb train`, "
            "`dgb evaluate` and `dgb embed` take such a graph"
        )
    graph = any_graph_of(data, options, encoding=encoding)
    assert isinstance(graph, Graph), "others are refused above"
    return graph


def hetero_of(data: Data, options: Namespace, schema: Schema) -> HeteroGraph:
    """Return the graph of several node types that a recipe describes, as `graph_of` does."""
    graph = any_graph_of(data, options, schema=schema)
    assert isinstance(graph, HeteroGraph), "with a schema, others are refused"
    return graph


def any_graph_of(data: Data, options: Namespace, **run: Any) -> Graph | HeteroGraph:
    """Return the graph that a recipe describes; `run` is the encoding or schema of a run."""
    graph = read_graph(data, **data_options(options), **run)
    for note in graph.notes:
        log(f"note: {note}")
    return graph


def data_options(options: Namespace) -> dict[str, Any]:
    """Return where data may come from."""
    return {"data_folder": options.data_folder, "offline": options.offline}


def check_counts(options: Namespace, *names: str) -> None:
    """Refuse a number of runs, jobs and the like below one; what was not given is None."""
    for name in names:
        if (value := getattr(options, name)) is not None and value < 1:
            raise DGBError(f"--{name} must be at least 1, not {value}")


def check_out(out: str | None, default: Path, suffixes: tuple[str, ...]) -> Path:
    """Return the file to write, refusing another kind, or a folder that does not exist."""
    path = Path(out) if out else default
    if path.suffix not in suffixes or not path.parent.is_dir():
        kinds = " or ".join(suffixes)
        raise DGBError(f"--out must be a {kinds} file in a folder that exists, not {path}")
    return path


def describe(graph: Graph | HeteroGraph) -> str:
    """Return a graph's name and size in a line."""
    if isinstance(graph, HeteroGraph):
        types = ", ".join(f"{nodes.num_nodes:,} {name}" for name, nodes in graph.nodes.items())
        return f"{graph.name}: {types} nodes, {graph.num_edges:,} edges; target {graph.target}"
    return (
        f"{graph.name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
        f"{graph.num_features:,} features"
    )
