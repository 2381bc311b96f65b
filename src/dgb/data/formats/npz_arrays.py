"""What of a graph is written into its npz file: as few and as small arrays as hold it."""

import numpy as np
from scipy import sparse

from dgb.data.column_names import scales_of
from dgb.data.formats.arrays import Arrays, Matrix, refuse_unless
from dgb.data.graph import Array, Features, Graph, Split

TRAIN, VALIDATION, TEST = 1, 2, 3  # in `split`; 0 is none of them


def arrays_of(graph: Graph) -> Arrays:
    """Return the arrays of a graph by the names they have in the file."""
    return _column_arrays(graph) | _edge_arrays(graph.adjacency) | _node_arrays(graph)


def _column_arrays(graph: Graph) -> Arrays:
    if graph.encoding is None:
        return _feature_arrays(graph.x)
    if graph.encoding.structure:  # made of the edges: the same will be made again
        return {"structure": np.array(graph.encoding.structure)}
    names = np.array(graph.encoding.feature_names())
    arrays = _feature_arrays(graph.x) | {"feature_names": names}
    # x is written as scaled; without its scales, another model would scale it a second time.
    scales = scales_of(graph.encoding)
    return arrays if scales is None else arrays | {"feature_scales": scales}


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
        (TRAIN, split.train),
        (VALIDATION, split.validation),
        (TEST, split.test),
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
