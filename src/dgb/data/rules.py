"""The rules for the parts of a graph: features, edges and their weights, labels, splits."""

from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array, are_finite, row_parts
from dgb.errors import DGBError
from dgb.files.limits import refuse_beyond_room
from dgb.terminal import byte_bar

Matrix = Any  # a scipy sparse array; scipy ships no types
_REPEATS = {
    "max": "each edge counts once, with its largest weight (data.repeats=sum adds them up, count "
    "counts them)",
    "sum": "their weights were added up (data.repeats=sum)",
    "count": "an edge weighs as often as it is listed (data.repeats=count)",
}


def check_features(x: Any, least_rows: int = 2) -> Any:
    """Return features as float32, sparse where given sparse, refusing what are not numbers."""
    if not sparse.issparse(x):
        x = np.asarray(x)
    if x.dtype.kind not in "biuf":
        raise DGBError(f"features must be numbers, not {x.dtype}; encode text and categories first")
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused below
        is_sparse = sparse.issparse(x)
        x = sparse.csr_array(x, dtype=np.float32) if is_sparse else np.asarray(x, np.float32)
    if x.ndim != 2 or x.shape[0] < least_rows or x.shape[1] < 1:
        raise DGBError(
            f"features must be a table of at least {least_rows} nodes × 1 column, not {x.shape}"
        )
    advice = "correct the number of columns that the file declares"
    refuse_beyond_room(f"means of {x.shape[1]:,} columns take", 8 * x.shape[1], advice)
    if not _holds_numbers(x.data if sparse.issparse(x) else x):
        raise DGBError(
            "features hold NaN or infinite values, or numbers beyond 3.4e38; replace them before "
            "training"
        )
    return compact(x) if sparse.issparse(x) else x


def check_weights(weight: Array) -> Array:
    """Return edge weights as float32, bits as they are, refusing negative and infinite ones."""
    with np.errstate(over="ignore"):
        weight = weight if weight.dtype.kind == "b" else weight.astype(np.float32, copy=False)
    if not are_finite(weight) or (len(weight) and weight.min() < 0):
        raise DGBError(
            "edge weights must be finite and not negative, at most 3.4e38; drop or rescale such "
            "edges"
        )
    return weight


def check_edges(edges: Matrix) -> Matrix:
    """Return a matrix of edges as a list with weights as they are taken: some round to zero."""
    edges = sparse.coo_array(edges)
    return sparse.coo_array((check_weights(edges.data), edges.coords), shape=edges.shape)


def check_labels(labels: Any) -> Array:
    """Return labels as int64, refusing what are not classes."""
    given: Array = np.asarray(labels)
    if given.dtype.kind not in "iu" and not (given == np.floor(given)).all():
        raise DGBError("labels must be whole numbers, -1 where unknown")
    if (given < -1).any():
        raise DGBError(f"labels must be one integer per node, -1 where unknown, not {given.min()}")
    return given.astype(np.int64)


def check_split(*parts: Array, num_nodes: int) -> None:
    """Refuse parts of a split that share a node or name one that is not there."""
    nodes = np.concatenate(parts)
    if len(nodes) and (nodes.min() < 0 or nodes.max() >= num_nodes):
        raise DGBError(f"the split names nodes beyond the {num_nodes} of the graph; fix it")
    if len(np.unique(nodes)) < len(nodes):
        raise DGBError("a node is in two parts of the split; train, validation and test are apart")


def compact(matrix: Any) -> Any:
    """Return CSR with sorted rows, each place once, and 32-bit places where they suffice."""
    matrix.sum_duplicates()
    index = np.int32 if max(*matrix.shape, matrix.nnz) < 2**31 else np.int64
    places = (part.astype(index, copy=False) for part in (matrix.indices, matrix.indptr))
    return sparse.csr_array((matrix.data, *places), shape=matrix.shape)


def _holds_numbers(values: Array) -> bool:
    width = values.size // max(len(values), 1)
    with byte_bar("features", values.nbytes) as bar:
        for part in row_parts(len(values), width):
            if not are_finite(values[part]):
                return False
            bar.update(values[part].nbytes)
    return True


def merge_repeats(edges: Matrix, repeats: str, notes: list[str]) -> Matrix:
    """Return a matrix of edges in which those that are listed several times are added or counted.

    The two directions are added as well, unless every edge is listed both ways: then that is how
    the file says that edges have no direction. With `max` it is what it was: a Graph keeps the
    largest weight, and says so itself.
    """
    if repeats == "max":
        return edges
    edges = check_edges(edges)
    weight = (edges.data if repeats == "sum" else edges.data > 0).astype(np.float64)
    notes += note_zeros(edges)
    is_edge = (edges.coords[0] != edges.coords[1]) & (weight > 0)
    ends = tuple(end[is_edge] for end in edges.coords)
    one_way = sparse.csr_array((weight[is_edge], ends), shape=edges.shape)
    other_way = sparse.csr_array(one_way.T)
    merged = one_way if (one_way != other_way).nnz == 0 else one_way + other_way
    notes += note_repeats(edges, merged, repeats)
    return merged


def note_zeros(edges: Matrix) -> tuple[str, ...]:
    """Say how many edges of a matrix weigh nothing, and so are none."""
    count = len(edges.data) - int(np.count_nonzero(edges.data))
    return (f"edges of weight 0, left out: {count:,}",) if count else ()


def note_repeats(edges: Matrix, adjacency: Matrix, repeats: str = "max") -> tuple[str, ...]:
    """Say how many entries of a matrix of edges repeat others, if any, given what it became."""
    row, column = edges.coords
    is_edge = (row != column) & (edges.data != 0)
    count, once = int(is_edge.sum()), adjacency.nnz // 2
    if count == once:
        return ()
    ends = (row[is_edge], column[is_edge])
    one_way = sparse.csr_array((np.ones(count, bool), ends), shape=edges.shape).nnz
    # Every edge in both directions is how many files list edges without any.
    more = count - (one_way if one_way == adjacency.nnz else once)
    what = f"edges listed again, also in the other direction: {more:,} of {count:,}"
    return (f"{what}; {_REPEATS[repeats]}",) if more else ()


def scale_weights(adjacency: Matrix, form: str) -> Matrix:
    """Return the adjacency with weights of log(1 + w), divided by their mean, or all 1.

    A graph without weights is left as it is.
    """
    weight = adjacency.data
    if form == "as-is" or not has_weights(adjacency):
        return adjacency
    if form == "none":
        scaled = np.ones_like(weight)
    else:
        scaled = np.log1p(weight) if form == "log" else weight / weight.mean(dtype=np.float64)
    parts = (scaled.astype(np.float32), adjacency.indices, adjacency.indptr)
    return sparse.csr_array(parts, shape=adjacency.shape)


def has_weights(adjacency: Matrix) -> bool:
    """Tell whether any edge weighs more or less than 1."""
    return bool((adjacency.data != 1).any())
