"""What the estimator is given as X, read as a graph and checked the way scikit-learn does."""

import warnings
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.align import refuse_own_scales
from dgb.data.encoding import Encoding
from dgb.data.formats.pyg import from_hetero_data
from dgb.data.graph import Graph
from dgb.data.objects import to_graph
from dgb.data.typed.align import align_hetero
from dgb.data.typed.graph import AnyGraph, HeteroGraph
from dgb.data.typed.resolve import with_target
from dgb.data.typed.schema import Schema
from dgb.errors import DGBError
from dgb.recipe import Recipe


def is_hetero_object(x: Any) -> bool:
    """Tell whether X is a graph of several node types: dgb's own, or torch_geometric's."""
    return isinstance(x, HeteroGraph) or (hasattr(x, "edge_types") and hasattr(x, "node_types"))


def read_input(
    estimator: Any, x: Any, edges: dict[str, Any], recipe: Recipe, *, is_fit: bool
) -> AnyGraph:
    """Return the graph of an object, and warn of what was made or guessed in reading it.

    `edges` holds what the user gave as adjacency and edges. To embed, types and
    columns come in the order of what the estimator was fitted on.
    """
    has_edges = any(given is not None for given in edges.values())
    schema = None if is_fit else estimator.schema_
    graph: AnyGraph
    if schema is not None or is_hetero_object(x):
        graph = _read_typed(x, schema, recipe.data.target, has_edges=has_edges, is_fit=is_fit)
    elif has_rows(x) and not has_edges and not (is_fit and estimator.graph is not None):
        return lone_nodes(estimator, x, is_fit=is_fit)
    else:
        refuse_cut(edges.get("adjacency"))
        encoding = None if is_fit else estimator.encoding_
        graph = to_graph(x, **edges, encoding=encoding, **asdict(recipe.data))
        if not is_fit:
            refuse_own_scales(graph, encoding)
        elif estimator.graph is None:
            count_features(estimator, graph.encoding, graph.num_features)
    known = x.notes if isinstance(x, Graph | HeteroGraph) else ()  # who brings one knows these
    warn_of(graph.notes[len(known) :], 5)
    return graph


def warn_of(notes: Iterable[str], level: int) -> None:
    """Warn the user, who is this many calls away."""
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=level)


def _read_typed(
    x: Any, schema: Schema | None, target: str, *, has_edges: bool, is_fit: bool
) -> HeteroGraph:
    if has_edges:
        raise DGBError(f"{type(x).__name__} has its edges already; leave out adjacency= and edges=")
    if not is_fit and schema is None:
        raise DGBError(
            f"a {type(x).__name__} has several types of nodes, but the model was trained on a "
            "graph of one; fit it on such a graph"
        )
    if schema is not None and not is_hetero_object(x):
        raise DGBError(
            f"the model was trained on nodes of the types {', '.join(schema.types)}; give a "
            f"HeteroData or HeteroGraph that has them, not a {type(x).__name__}"
        )
    target = schema.target if schema else target
    graph = with_target(x, target) if isinstance(x, HeteroGraph) else from_hetero_data(x, target)
    return align_hetero(graph, schema) if schema else graph


def has_rows(x: Any) -> bool:
    """Tell whether X has rows that can be cut, and is not a graph object."""
    has_rows = hasattr(x, "__array__") or hasattr(x, "__dataframe__")
    return has_rows or isinstance(x, list | tuple) or sparse.issparse(x)


def lone_nodes(estimator: Any, x: Any, *, is_fit: bool) -> Graph:
    """Return features given without edges as a graph of nodes that are each alone."""
    rows = {"accept_sparse": "csr", "ensure_min_samples": 2 if is_fit else 1}
    x = _validate(estimator, x, reset=is_fit, dtype=np.float32, **rows)
    warnings.warn(
        "X came without edges, so every node is embedded alone; pass adjacency= or edges=, "
        "a graph as X, or DGB(graph=...) with node ids as X",
        UserWarning,
        stacklevel=4,
    )
    size = x.shape[0]
    # Not by make_graph: there are no edges to check, and a single row can be embedded as well.
    x = sparse.csr_array(x) if sparse.issparse(x) else x
    return Graph("graph", x, sparse.csr_array((size, size), dtype=np.float32), np.arange(size))


def id_column(estimator: Any, x: Any, *, is_fit: bool) -> Array:
    """Return the node ids of a list, an array or a frame of one column."""
    if not has_rows(x):
        raise DGBError("with DGB(graph=...), X is a column of node ids, not a graph; drop graph=")
    if not hasattr(x, "columns"):
        # As objects, because numpy would turn the numbers of a mixed list into text.
        x = np.asarray(x, dtype=object if isinstance(x, list | tuple) else None)
        x = x[:, None] if x.ndim == 1 else x
    ids: Array = _validate(estimator, x, reset=is_fit, dtype=None)
    if ids.shape[1] != 1:
        raise DGBError(f"DGB(graph=...): X is one column of node ids, not {ids.shape[1]} columns")
    return ids[:, 0]


def refuse_cut(adjacency: Any) -> None:
    """Refuse an adjacency that cross-validation has cut rows of, and say what to do instead."""
    rows, *columns = np.shape(adjacency) or (0,)
    if columns and columns[0] != rows:
        raise DGBError(
            f"the adjacency must be square, not {rows} × {columns[0]}; cross-validation cuts its "
            "rows, and what is left is no graph: give the whole graph to the constructor, "
            "DGB(graph=...), and node ids as X"
        )


def count_features(estimator: Any, encoding: Encoding | None, num_features: int) -> None:
    """Set `n_features_in_` and, where the columns have names, `feature_names_in_`."""
    names = [column.name for column in encoding.columns] if encoding else []
    estimator.n_features_in_ = len(names) or num_features
    vars(estimator).pop("feature_names_in_", None)
    if names:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def _validate(estimator: Any, x: Any, **checks: Any) -> Any:
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # scikit-learn before 1.6
        return estimator._validate_data(x, **checks)
    return validate_data(estimator, x, **checks)
