"""A finished run together with the graph that it was trained on, and what that says of nodes."""

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgb.commands.graphs import data_options
from dgb.commands.options import add_data_options
from dgb.errors import DGBError
from dgb.recipe import ALL_TYPES, Recipe
from dgb.terminal import some

if TYPE_CHECKING:
    from dgb.arrays import Array
    from dgb.data.names import Naming
    from dgb.data.typed.graph import AnyGraph

NAMED = 3  # common neighbors


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """A run's recipe, its graph read again, its ids, and its vectors, a row for each id."""

    folder: Path
    recipe: Recipe
    graph: "AnyGraph"
    ids: "Array"

    @cached_property
    def z(self) -> "Array":
        """The vectors, read when they are asked for: of a large graph they take a gigabyte."""
        from dgb.run import folder as files
        from dgb.run.vectors import read_embeddings

        return read_embeddings(self.folder / files.EMBEDDINGS)[1]

    def edges(self) -> Any:
        """Return the adjacency of the rows, by any relation between them."""
        from dgb.data.typed.graph import HeteroGraph
        from dgb.data.typed.resolve import union_graph
        from dgb.evaluate.links import links_of

        if isinstance(self.graph, HeteroGraph) and self.recipe.data.target == ALL_TYPES:
            return union_graph(self.graph)
        return links_of(self.graph)

    def features(self) -> Any:
        """Return the features of the rows, or None where they have none of their own."""
        from dgb.data.names import own_features

        return own_features(self.graph, is_whole=self.recipe.data.target == ALL_TYPES)

    def name_columns(self, x: Any) -> "Naming":
        """Return what every column of the features is called and made of."""
        from dgb.data.graph import Graph
        from dgb.data.names import Naming, features_of, read_texts

        features = features_of(self.graph.target_graph().encoding, x.shape[1])
        if isinstance(self.graph, Graph):
            return Naming(features, read_texts(self.recipe.data, self.graph))
        return Naming(features)


def add_run_options(parser: ArgumentParser) -> None:
    """Add the run folder, and where its graph may come from."""
    parser.add_argument("run", help="run folder")
    add_data_options(parser)


def open_run(options: Namespace) -> FinishedRun:
    """Read a run and its graph, with another column or file of labels where one is named."""
    from dgb.data.load import read_graph
    from dgb.run import folder as files
    from dgb.run.setup import embedded_ids
    from dgb.run.vectors import read_ids

    folder = Path(options.run)
    recipe = files.read_recipe(folder)
    if not recipe.data.graph:  # saved from Python, which reads no file
        raise DGBError(f"{folder} does not say which graph it was trained on; train with `dgb`")
    labels = getattr(options, "labels", None)
    asked = {
        "label": getattr(options, "label", None),
        "labels": str(Path(labels).expanduser().resolve()) if labels else None,
    }
    data = replace(recipe.data, **{key: value for key, value in asked.items() if value})
    ids = read_ids(folder / files.EMBEDDINGS)
    # Without the notes on how it was read, which the training has shown.
    graph = read_graph(data, **data_options(options), **_known_columns(folder, asked))
    _refuse_other_nodes(folder, ids, embedded_ids(graph, recipe))
    return FinishedRun(folder, replace(recipe, data=data), graph, ids)


def _known_columns(folder: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Return how an update has read its graph: as the first run did, not by the graph's own values.

    Where other labels are asked for, a column may be one of them now.
    """
    from dgb.run import folder as files

    if files.read_origin(folder) is None or any(asked.values()):
        return {}
    return {"encoding": files.read_encoding(folder), "schema": files.read_schema(folder)}


def _refuse_other_nodes(folder: Path, ids: "Array", now: "Array") -> None:
    # As text: a file of embeddings may hold ids that Arrow has no type for.
    before, after = list(map(str, ids.tolist())), list(map(str, now.tolist()))
    if before == after:
        return
    new, gone = len(set(after) - set(before)), len(set(before) - set(after))
    raise DGBError(
        f"the graph's files have changed since {folder} was embedded: {new:,} new nodes, {gone:,} "
        f"gone, others moved; bring its vectors up to date with `dgb embed {folder}`"
    )


class Reasons:
    """What two nodes of a run share, and what is unusual in some of them."""

    def __init__(self, run: FinishedRun) -> None:
        """Measure what is usual in the columns, where the nodes have any."""
        import numpy as np

        from dgb.evaluate.why import measure_columns

        x = run.features()
        self.run, self.edges = run, run.edges()
        self.columns = None if x is None else measure_columns(x)
        self.naming = None if x is None else run.name_columns(x)
        self.everyone = np.random.default_rng(0).permutation(len(run.ids))

    def of_pair(self, one: int, other: int) -> list[str]:
        """Return the common neighbors of two nodes, and the columns they are both unusual in."""
        from dgb.evaluate.why import common_neighbors, shared_columns

        common = common_neighbors(self.edges, one, other)
        names = [str(node) for node in self.run.ids[common].tolist()]
        said = [f"common neighbors: {some(names, NAMED)}"] if names else []
        if one in self.edges.indices[slice(*self.edges.indptr[other : other + 2])]:
            said.insert(0, "joined by an edge")
        if self.columns is not None:
            for place in shared_columns(self.columns, one, other).tolist():
                said.append(self._share(place, one, other))
        return list(dict.fromkeys(said)) or ["no neighbor and no unusual column in common"]

    def of_group(self, nodes: "Array") -> list[str]:
        """Return the columns in which nodes differ most from all, and their most frequent label."""
        from dgb.evaluate.why import describe_columns, describe_label

        graph = self.run.graph.target_graph()
        said = describe_label(graph, nodes) if graph.num_nodes == len(self.run.ids) else []
        if self.columns is not None:
            assert self.naming is not None
            said += describe_columns(self.columns, self.naming, nodes, self.everyone)
        return said or ["no column that differs from all nodes"]

    def _share(self, place: int, one: int, other: int) -> str:
        import numpy as np

        assert self.columns is not None and self.naming is not None
        feature, pair = self.naming.features[place], np.array([one, other])
        first, second = self.columns.rows(pair)[:, place].tolist()
        usual = float(self.columns.mean[place])
        if feature.column.kind != "number" or first == second:
            nodes = (pair, self.everyone)
            return f"both {self.naming.describe(place, (first, usual), nodes, 'all')}"
        alike = f"{feature.name} {feature.text(first)} and {feature.text(second)}"
        return f"{alike} (all {feature.text(usual)})"
