"""The project's own graph file: one npz without pickles, small, and written in one piece."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.encoding import names_of, scales_of
from dgb.data.formats.arrays import (
    Arrays,
    class_labels,
    count_nodes,
    edge_matrix,
    open_npz,
    own_ids,
    refuse_unless,
    sparse_rows,
)
from dgb.data.graph import Graph, Split
from dgb.data.rules import merge_repeats
from dgb.data.structure import make_featured_graph
from dgb.errors import DGBError, refusing
from dgb.files.atomic import whole_file

_FEATURE_KEYS = ("x", "x_data", "x_indices", "x_indptr", "x_shape")
_COLUMN_KEYS = ("feature_names", "feature_scales", "structure")
_NODE_KEYS = ("y", "node_ids", "label_names", "split")
_SPLIT = {1: "train", 2: "validation", 3: "test"}  # codes in `split`; 0 is none of them
_KEYS = (*_FEATURE_KEYS, *_COLUMN_KEYS, *_NODE_KEYS, "edge_index", "edge_weight")


def read_npz(path: str | os.PathLike[str], structure: str = "walk", repeats: str = "max") -> Graph:
    """Read a graph from an npz file in the form that `write_npz` writes.

    A file without features gets those that `structure` names, made of its edges.
    """
    path = Path(path)
    arrays = open_npz(path, _KEYS)
    with refusing(path, "not a whole graph", "fix the file or write it with write_npz"):
        try:
            return _graph_from(path.stem, arrays, structure, repeats)
        except KeyError as error:
            raise DGBError(
                f"no array {error}; the file needs `edge_index`, and for features "
                "`x` or `x_indices`, `x_indptr` and `x_shape`"
            ) from None


def write_npz(path: str | os.PathLike[str], graph: Graph) -> None:
    """Write a graph compactly, through a temporary file, so that a crash leaves no half file."""
    path = Path(path)
    once = sparse.triu(graph.adjacency, k=1, format="coo")
    edges = {"edge_index": _smallest(np.stack([once.row, once.col]))}
    if not (once.data == 1).all():
        edges["edge_weight"] = once.data
    arrays: dict[str, Any] = _feature_arrays(graph) | edges | _node_arrays(graph)
    try:
        with whole_file(path, is_shared=True) as part, part.open("wb") as file:
            # No array holds objects; numpy before 2.1 would write allow_pickle as one more array.
            np.savez_compressed(file, **arrays)
    except OSError as error:
        raise DGBError(
            f"{path}: cannot be written ({error.strerror}); choose another place"
        ) from None


def _graph_from(name: str, arrays: Arrays, structure: str, repeats: str) -> Graph:
    x = arrays.get("x")
    if x is None and any(key in arrays for key in _FEATURE_KEYS):
        x = sparse_rows(arrays, "x_")
    rows = arrays.get("node_ids", arrays.get("y")) if x is None else x
    num_nodes = count_nodes(arrays["edge_index"]) if rows is None else rows.shape[0]
    edges = edge_matrix(arrays["edge_index"], num_nodes, arrays.get("edge_weight"))
    labels = class_labels(arrays.get("y"))
    names = tuple(str(label) for label in arrays.get("label_names", ()))
    refuse_unless(
        not names or labels is None or int(labels.max(initial=-1)) < len(names),
        f"`y` must count below {len(names)}, the number of `label_names`",
    )
    notes: list[str] = []
    graph = make_featured_graph(
        name,
        x,
        merge_repeats(edges, repeats, notes),
        str(arrays.get("structure", structure)),
        node_ids=own_ids(arrays.get("node_ids"), num_nodes),
        labels=labels,
        label_names=names,
        splits=_splits_from(arrays.get("split"), num_nodes),
    )
    graph = replace(graph, notes=(*notes, *graph.notes))
    if x is None:
        return graph
    encoding = names_of(arrays.get("feature_names"), x.shape[1], arrays.get("feature_scales"))
    return replace(graph, encoding=encoding)


def _splits_from(codes: Array | None, num_nodes: int) -> tuple[Split, ...]:
    if codes is None:
        return ()
    refuse_unless(
        codes.ndim in (1, 2) and codes.shape[-1] == num_nodes and codes.dtype.kind in "iu",
        f"`split` must be {num_nodes} integers (1 train, 2 validation, 3 test, 0 none)",
    )
    rows = np.atleast_2d(codes)
    return tuple(Split(*(np.flatnonzero(row == code) for code in _SPLIT)) for row in rows)


def _feature_arrays(graph: Graph) -> Arrays:
    x, encoding = graph.x, graph.encoding
    if encoding is not None and encoding.structure:  # made of the edges, as it will be again
        return {"structure": np.array(encoding.structure)}
    arrays = {"x": x}
    if sparse.issparse(x):
        arrays = {"x_indices": _smallest(x.indices), "x_indptr": _smallest(x.indptr)}
        arrays["x_shape"] = np.array(x.shape, np.int64)
        arrays |= {} if (x.data == 1).all() else {"x_data": x.data}
    if encoding is None:
        return arrays
    arrays["feature_names"] = np.array(encoding.feature_names())
    # x is written as scaled; without its scales, another model would scale it a second time.
    scales = scales_of(encoding)
    return arrays if scales is None else arrays | {"feature_scales": scales}


def _node_arrays(graph: Graph) -> Arrays:
    arrays: Arrays = {}
    if graph.labels is not None:
        arrays["y"] = _smallest(graph.labels)
    if graph.label_names:
        arrays["label_names"] = np.array(graph.label_names)
    if not np.array_equal(graph.node_ids, np.arange(graph.num_nodes)):
        arrays["node_ids"] = _plain_ids(graph.node_ids)
    codes = np.zeros((len(graph.splits), graph.num_nodes), np.int8)
    for row, split in zip(codes, graph.splits, strict=True):
        for code, part in _SPLIT.items():
            nodes = getattr(split, part)
            is_free = not row[nodes].any()
            refuse_unless(is_free, "a node stands in two parts of one split; give each one part")
            row[nodes] = code
    if graph.splits:
        arrays["split"] = codes[0] if len(codes) == 1 else codes
    return arrays


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
