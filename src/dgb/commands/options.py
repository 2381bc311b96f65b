"""What the verbs share: options, and the recipe and the graph that they ask for."""

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgb.cookbook import load_recipe, recipe_names
from dgb.errors import DGBError
from dgb.recipe import Data, Recipe
from dgb.terminal import log

if TYPE_CHECKING:
    from dgb.data.graph import Graph
    from dgb.data.typed.graph import HeteroGraph


Verbs = Any  # what argparse adds verbs to has no public name
GRAPH = "a known data set (dgb data list), a file of edges, or a folder with edges.* and nodes.*"


def add_recipe_options(parser: ArgumentParser) -> None:
    """Add which recipe, with which settings."""
    parser.add_argument("--recipe", help="a name or a .toml file (default: the graph's own recipe)")
    add_set_option(parser)
    parser.add_argument("--seed", type=int, help="short for --set train.seed=SEED")


def add_set_option(parser: ArgumentParser, keys: str = "such as train.decay=0.9") -> None:
    """Add `--set`."""
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=keys)


def add_graph_options(parser: ArgumentParser) -> None:
    """Add which files and columns a graph is read from."""
    parser.add_argument("--nodes", metavar="FILE", help="node rows, where GRAPH is a file of edges")
    parser.add_argument("--labels", metavar="FILE", help="ids and labels (and splits)")
    parser.add_argument("--id", metavar="COLUMN", help="id column of the node rows")
    parser.add_argument("--label", metavar="COLUMN", help="label column of the node rows")
    parser.add_argument("--drop", metavar="A,B", help="columns of the node rows to leave out")
    add_data_options(parser)


def add_data_options(parser: ArgumentParser) -> None:
    """Add where data may come from."""
    parser.add_argument("--data-folder", metavar="DIR", help="local folder with data files")
    parser.add_argument("--offline", action="store_true", help="refuse to use the network")


def add_count(parser: ArgumentParser, name: str, default: int | None, about: str) -> None:
    """Add an option that is a number of things."""
    parser.add_argument(name, type=int, default=default, metavar="N", help=about)


def choose_recipe(options: Namespace) -> Recipe:
    """Return the recipe asked for, else the one named like the graph, else that of its kind."""
    from dgb.data.load import is_hetero
    from dgb.data.public.sources import dataset_name

    name = dataset_name(options.graph) or Path(options.graph).stem
    is_typed = is_hetero(options.graph)
    named = "hetero" if is_typed else name if name in recipe_names() else "default"
    seed = [] if options.seed is None else [f"train.seed={options.seed}"]
    recipe = load_recipe(options.recipe or named, [*options.set, *seed])
    return replace(recipe, data=choose_data(options, recipe.data))


def choose_data(options: Namespace, data: Data) -> Data:
    """Return which files and columns to read, with absolute paths to find them again later."""
    from dgb.data.load import is_path

    columns = {key: getattr(options, key, None) for key in ("id", "label", "drop")}
    data = replace(data, **{key: value for key, value in columns.items() if value})
    files = {key: getattr(options, key) or getattr(data, key) for key in ("nodes", "labels")}
    graph = _absolute(options.graph) if is_path(options.graph) else options.graph
    return replace(data, graph=graph, **{k: _absolute(path) for k, path in files.items()})


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().resolve()) if path else ""


def open_graph(data: Data, options: Namespace, **run: Any) -> "Graph | HeteroGraph":
    """Return the graph that a recipe describes, and log what was made or guessed in reading it.

    `run` is the encoding or the schema of a finished run, to read another graph as it was read.
    """
    from dgb.data.load import read_graph

    graph = read_graph(data, **data_options(options), **run)
    for note in graph.notes:
        log(f"note: {note}")
    return graph


def open_plain_graph(data: Data, options: Namespace, **run: Any) -> "Graph":
    """Return the graph that a recipe describes, refusing one of several node types."""
    from dgb.data.graph import Graph
    from dgb.data.load import is_hetero

    if is_hetero(data.graph):
        raise DGBError(
            f"{data.graph} has several types of nodes, and this is for graphs of one; `dgb train`, "
            "`dgb evaluate` and `dgb embed` take such a graph"
        )
    graph = open_graph(data, options, **run)
    assert isinstance(graph, Graph), "others are refused above"
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


def describe_graph(graph: "Graph | HeteroGraph") -> str:
    """Return a graph's name and size in a line."""
    from dgb.data.typed.graph import HeteroGraph

    if isinstance(graph, HeteroGraph):
        types = ", ".join(f"{nodes.num_nodes:,} {name}" for name, nodes in graph.nodes.items())
        return f"{graph.name}: {types} nodes, {graph.num_edges:,} edges; target {graph.target}"
    return (
        f"{graph.name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
        f"{graph.num_features:,} features"
    )
