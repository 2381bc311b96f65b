"""What the estimator is given as X, checked and remembered the way scikit-learn does."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.encoding import Encoding
from dgb.data.graph import Graph
from dgb.errors import DGBError


def is_table(X: Any) -> bool:  # noqa: N803
    """Tell whether X has rows that can be cut, and is no graph object."""
    has_rows = hasattr(X, "__array__") or hasattr(X, "__dataframe__")
    return has_rows or isinstance(X, list | tuple) or sparse.issparse(X)


def lone_nodes(estimator: Any, X: Any, *, is_fit: bool) -> Graph:  # noqa: N803
    """Return features given without edges as a graph of nodes that are each alone."""
    x = _validated(
        estimator,
        X,
        reset=is_fit,
        accept_sparse="csr",
        dtype=np.float32,
        ensure_min_samples=2 if is_fit else 1,
    )
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


def id_column(estimator: Any, X: Any, *, is_fit: bool) -> Array:  # noqa: N803
    """Return the node ids of a list, an array or a frame of one column."""
    if not is_table(X):
        raise DGBError("with DGB(graph=...), X is a column of node ids, not a graph; drop graph=")
    if not hasattr(X, "columns"):
        # As objects, because numpy would turn the numbers of a mixed list into text.
        X = np.asarray(X, dtype=object if isinstance(X, list | tuple) else None)  # noqa: N806
        X = X[:, None] if X.ndim == 1 else X  # noqa: N806
    ids: Array = _validated(estimator, X, reset=is_fit, dtype=None)
    if ids.shape[1] != 1:
        raise DGBError(
            f"with DGB(graph=...), X is one column of node ids, not {ids.shape[1]} columns"
        )
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


def _validated(estimator: Any, X: Any, **checks: Any) -> Any:  # noqa: N803
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # scikit-learn before 1.6
        return estimator._validate_data(X, **checks)
    return validate_data(estimator, X, **checks)
