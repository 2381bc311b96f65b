"""What the estimator is given as X, read as a graph and checked the way scikit-learn does."""

import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy import sparse

from dgb.arrays import Array
from dgb.cookbook import load_recipe, plain, recipe_from
from dgb.data.align import align_hetero, refuse_own_scales
from dgb.data.encoding import Encoding
from dgb.data.formats.pyg import from_hetero_data
from dgb.data.graph import Graph
from dgb.data.objects import index_ids, to_graph
from dgb.data.typed.graph import AnyGraph, HeteroGraph
from dgb.data.typed.resolve import with_target
from dgb.data.typed.schema import Schema
from dgb.errors import DGBError
from dgb.recipe import Recipe

SETTINGS = {  # parameters that stand for a setting of the recipe
    "width": ("encoder", "width"),
    "epochs": ("train", "epochs"),
    "learning_rate": ("train", "learning_rate"),
    "decay": ("train", "decay"),
    "random_state": ("train", "seed"),
    "device": ("train", "device"),
}
LONE = (
    "X came without edges, so every node is embedded alone; pass adjacency= or edges=, "
    "a graph as X, or DGB(graph=...) with node ids as X"
)
_INSIDE = tuple(str(Path(place).parent) + os.sep for place in (__file__, sklearn.__file__))


def is_hetero_object(x: Any) -> bool:
    """Tell whether X is a graph of several node types: dgb's own, or torch_geometric's."""
    return isinstance(x, HeteroGraph) or (hasattr(x, "edge_types") and hasattr(x, "node_types"))


def read_input(
    estimator: Any, x: Any, edges: dict[str, Any], recipe: Recipe, *, is_fit: bool
) -> AnyGraph:
    """Return the graph of an object.

    `edges` holds what the user gave as adjacency and edges. To embed, types and
    columns come in the order of what the estimator was fitted on.
    """
    has_edges = any(given is not None for given in edges.values())
    schema = None if is_fit else estimator.schema_
    graph: AnyGraph
    if schema is not None or is_hetero_object(x):
        graph = _read_typed(x, schema, recipe.data.target, has_edges=has_edges, is_fit=is_fit)
    elif has_rows(x) and not has_edges and not (is_fit and estimator.graph is not None):
        graph = lone_nodes(estimator, x, is_fit=is_fit)
    else:
        refuse_cut(edges.get("adjacency"))
        encoding = None if is_fit else estimator.encoding_
        graph = to_graph(x, **edges, encoding=encoding, **asdict(recipe.data))
        if not is_fit:
            refuse_own_scales(graph, encoding)
        elif estimator.graph is None:
            count_features(estimator, graph.encoding, graph.num_features)
    return graph


def read_known(estimator: Any, x: Any, edges: dict[str, Any]) -> AnyGraph:
    """Return the graph of an object for what is fitted, and warn of what was made or guessed."""
    graph = read_input(estimator, x, edges, estimator.recipe_, is_fit=False)
    warn_of(estimator, new_notes(x, graph))
    return graph


def read_arguments(estimator: Any, x: Any, y: Any, **edges: Any) -> tuple[Any, dict[str, Any]]:
    """Return X and what is given as edges, lazy frames collected; refuse edges given as y."""
    x, y = _collect(x), _collect(y)
    edges = {name: _collect(given) for name, given in edges.items()}
    is_lone = estimator.graph is None and all(given is None for given in edges.values())
    shape: tuple[int, ...] = np.shape(y[:1]) if isinstance(y, list) else getattr(y, "shape", ())
    if is_lone and has_rows(x) and len(shape) == 2 and shape[1] > 1:
        raise DGBError(
            "the second argument is y, labels that DGB does not look at, and this one is a table "
            f"of {shape[1]} columns; give edges as edges=…, or an n × n matrix as adjacency=…"
        )
    return x, edges


def _collect(frame: Any) -> Any:
    """Return a lazy frame of polars as a frame, and anything else as it is."""
    return frame.collect() if hasattr(frame, "collect") and hasattr(frame, "lazy") else frame


def new_notes(x: Any, graph: AnyGraph) -> tuple[str, ...]:
    """Return what was made or guessed in reading X; who brings a Graph knows what it tells."""
    return graph.notes[len(x.notes) if isinstance(x, Graph | HeteroGraph) else 0 :]


def warn_of(estimator: Any, notes: Sequence[str]) -> None:
    """Warn of all notes at once, at the line outside of dgb and scikit-learn that called them."""
    if not notes or not estimator.verbose:
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    head = f"{len(notes)} notes on what was read (verbose=False hides them):"
    message = notes[0] if len(notes) == 1 else "\n- ".join((head, *notes))
    warnings.warn(message, UserWarning, stacklevel=level)


def make_recipe(estimator: Any, usual: str) -> Recipe:
    """Return the recipe of an estimator with its parameters; `usual` stands for the default."""
    if isinstance(estimator.overrides, str):  # whose letters would be read one by one
        raise DGBError(f"overrides must be a list of texts, such as [{estimator.overrides!r}]")
    chosen = usual if estimator.recipe == "default" else estimator.recipe
    values = plain(load_recipe(chosen, estimator.overrides))
    for name, (section, key) in SETTINGS.items():
        value = getattr(estimator, name)
        if isinstance(value, np.random.RandomState):
            value = value.randint(np.iinfo(np.int32).max)
        if value is not None:
            values[section][key] = value.item() if isinstance(value, np.generic) else value
    return recipe_from(values)


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
    ids = index_ids(x)
    x = _validate(estimator, x, reset=is_fit, dtype=np.float32, **rows)
    size = x.shape[0]
    # Not by make_graph: there are no edges to check, and a single row can be embedded as well.
    x = sparse.csr_array(x) if sparse.issparse(x) else x
    no_edges = sparse.csr_array((size, size), dtype=np.float32)
    return Graph("graph", x, no_edges, np.arange(size) if ids is None else ids, notes=(LONE,))


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
