"""What the estimator does with graphs of several node types."""

import warnings
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.data.formats.pyg import from_hetero_data
from dgb.data.ids import find_nodes
from dgb.data.typed.align import align_hetero
from dgb.data.typed.graph import HeteroGraph
from dgb.data.typed.schema import Schema
from dgb.data.typed.target import with_target
from dgb.errors import DGBError
from dgb.estimator_inputs import count_features, id_column
from dgb.recipe import Recipe
from dgb.run.embedding import embed_graph
from dgb.run.setup import embedded_ids
from dgb.run.train import train

RECIPE = "hetero"  # what is taken where nobody has chosen


def is_hetero_object(X: Any) -> bool:  # noqa: N803
    """Tell whether X is a graph of several node types: dgb's own, or torch_geometric's."""
    return isinstance(X, HeteroGraph) or (hasattr(X, "edge_types") and hasattr(X, "node_types"))


def fit_hetero(estimator: Any, X: Any, recipe: Recipe, *edges: Any) -> Array:  # noqa: N803
    """Train on the graph that X is, or whose node ids X holds, and return the rows asked for."""
    _refuse_edges(edges)
    is_whole = estimator.graph is None
    graph = _read(X if is_whole else estimator.graph, recipe.data.target)
    rows: Any = slice(None)
    if not is_whole:
        ids = id_column(estimator, X, is_fit=True)
        rows = find_nodes(embedded_ids(graph, recipe), ids)
    trained = train(graph, recipe)
    _warn(trained.setup.notes, 5)
    z, schema = trained.embeddings(), trained.setup.schema
    assert schema is not None
    estimator.recipe_, estimator.encoder_ = trained.recipe, trained.encoder
    estimator.schema_, estimator.encoding_ = schema, schema.columns.encoding
    estimator.node_ids_ = trained.setup.node_ids
    estimator.embeddings_ = None if is_whole else z
    if is_whole:
        count_features(estimator, schema.columns.encoding, schema.columns.width or 0)
    return np.asarray(z[rows])


def embed_hetero_object(estimator: Any, X: Any, *edges: Any) -> tuple[Array, Array]:  # noqa: N803
    """Return node ids and embeddings of a graph, this one or another of the same types."""
    _refuse_edges(edges)
    schema = estimator.schema_
    if schema is None:
        raise DGBError(
            f"a {type(X).__name__} has several types of nodes, but the model was trained on a "
            "graph of one; fit it on such a graph"
        )
    if not is_hetero_object(X):
        raise DGBError(
            f"the model was trained on nodes of the types {', '.join(schema.types)}; give a "
            f"HeteroData or HeteroGraph that has them, not a {type(X).__name__}"
        )
    graph, recipe = _read(X, schema.target, schema), estimator.recipe_
    return embedded_ids(graph, recipe), embed_graph(estimator.encoder_, graph, recipe)


def _refuse_edges(edges: tuple[Any, ...]) -> None:
    if any(given is not None for given in edges):
        raise DGBError(
            "a graph of several node types has its edges already; leave out adjacency= and edges="
        )


def _read(data: Any, target: str, schema: Schema | None = None) -> HeteroGraph:
    """Return the graph of an object, and warn of what was made or guessed in reading it."""
    if isinstance(data, HeteroGraph):
        graph, known = with_target(data, target), len(data.notes)
    else:
        graph, known = from_hetero_data(data, target), 0
    graph = graph if schema is None else align_hetero(graph, schema)
    _warn(graph.notes[known:], 6)
    return graph


def _warn(notes: tuple[str, ...], level: int) -> None:
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=level)
