"""The project's own graph file: one npz without pickles, small, and written in one piece."""

import os
from pathlib import Path

import numpy as np
from scipy import sparse

from dgb.data.arrays import (
    Arrays,
    Matrix,
    class_labels,
    edge_matrix,
    open_npz,
    refuse_unless,
    sparse_rows,
)
from dgb.data.graph import Array, Features, Graph, Split, make_graph
from dgb.errors import DGBError
from dgb.whole_file import whole_file

_FEATURE_KEYS = ("x", "x_data", "x_indices", "x_indptr", "x_shape")
_KEYS = (*_FEATURE_KEYS, "edge_index", "edge_weight", "y", "node_ids", "label_names", "split")
_TRAIN, _VALIDATION, _TEST = 1, 2, 3


def read_npz(path: str | os.PathLike[str]) -> Graph:
    """Read a graph from an npz file in the form that `write_npz` writes."""
    path = Path(path)
    arrays = open_npz(path, _KEYS)
    try:
        return _graph_from(path.stem, arrays)
    except KeyError as error:
        raise DGBError(
            f"{path}: no array {error}; the file needs `edge_index` and either `x` "
            "or `x_indices`, `x_indptr` and `x_shape`"
        ) from None
    except DGBError as error:
        raise DGBError(f"{path}: {error}") from None
    except (ValueError, TypeError, IndexError, OverflowError, MemoryError) as error:
        raise DGBError(f"{path}: {error}; mend the file or write it with write_npz") from None


def write_npz(path: str | os.PathLike[str], graph: Graph) -> None:
    """Write a graph compactly, through a temporary file, so that a crash leaves no half file."""
    path = Path(path)
    arrays = _feature_arrays(graph.x) | _edge_arrays(graph.adjacency) | _node_arrays(graph)
    try:
        with whole_file(path, is_shared=True) as part, part.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
    except OSError as error:
        raise DGBError(
            f"{path}: cannot be written ({error.strerror}); choose another place"
        ) from None


def _graph_from(name: str, arrays: Arrays) -> Graph:
    x = arrays["x"] if "x" in arrays else sparse_rows(arrays, "x_")
    edges = edge_matrix(arrays["edge_index"], x.shape[0], arrays.get("edge_weight"))
    labels = class_labels(arrays.get("y"))
    names = tuple(str(label) for label in arrays.get("label_names", ()))
    refuse_unless(
        not names or labels is None or int(labels.max(initial=-1)) < len(names),
        f"`y` counts beyond the {len(names)} `label_names`",
    )
    return make_graph(
        name,
        x,
        edges,
        node_ids=arrays.get("node_ids"),
        labels=labels,
        label_names=names,
        splits=_splits_from(arrays.get("split"), x.shape[0]),
    )


def _splits_from(codes: Array | None, num_nodes: int) -> tuple[Split, ...]:
    if codes is None:
        return ()
    refuse_unless(
        codes.ndim in (1, 2) and codes.shape[-1] == num_nodes and codes.dtype.kind in "iu",
        f"`split` must be {num_nodes} integers (1 train, 2 validation, 3 test, 0 none)",
    )
    parts = (_TRAIN, _VALIDATION, _TEST)
    return tuple(
        Split(*(np.flatnonzero(row == part) for part in parts)) for row in np.atleast_2d(codes)
    )


def _feature_arrays(x: Features) -> Arrays:
    if not sparse.issparse(x):
        return {"x": x}
    arrays = {"x_indices": _smallest(x.indices), "x_indptr": _smallest(x.indptr)}
    arrays["x_shape"] = np.array(x.shape, np.int64)
    return arrays if (x.data == 1).all() else arrays | {"x_data": x.data}


def _edge_arrays(adjacency: Matrix) -> Arrays:
    once = sparse.triu(adjacency, k=1, format="coo")
    arrays = {"edge_index": _smallest(np.stack([once.row, once.col]))}
    return arrays if (once.data == 1).all() else arrays | {"edge_weight": once.data}


def _node_arrays(graph: Graph) -> Arrays:
    arrays: Arrays = {}
    if graph.labels is not None:
        arrays["y"] = _smallest(graph.labels)
    if graph.label_names:
        arrays["label_names"] = np.array(graph.label_names)
    if not np.array_equal(graph.node_ids, np.arange(graph.num_nodes)):
        arrays["node_ids"] = _plain_ids(graph.node_ids)
    if graph.splits:
        codes = np.stack([_split_codes(split, graph.num_nodes) for split in graph.splits])
        arrays["split"] = codes[0] if len(codes) == 1 else codes
    return arrays


def _split_codes(split: Split, num_nodes: int) -> Array:
    codes = np.zeros(num_nodes, np.int8)
    for part, nodes in (
        (_TRAIN, split.train),
        (_VALIDATION, split.validation),
        (_TEST, split.test),
    ):
        refuse_unless(
            not codes[nodes].any(),
            "a node stands in two parts of one split; give each node one part",
        )
        codes[nodes] = part
    return codes


def _plain_ids(node_ids: Array) -> Array:
    if node_ids.dtype.kind in "iu":
        return _smallest(node_ids)
    plain = np.array(node_ids.tolist()) if node_ids.dtype.hasobject else node_ids
    # numpy turns a mix such as [1, "a"] into text, which would silently rename nodes.
    refuse_unless(
        not plain.dtype.hasobject and plain.tolist() == node_ids.tolist(),
        "node ids of mixed types cannot be written; make them all text or all integers",
    )
    return plain


def _smallest(values: Array) -> Array:
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    return values.astype(np.promote_types(np.min_scalar_type(low), np.min_scalar_type(high)))
