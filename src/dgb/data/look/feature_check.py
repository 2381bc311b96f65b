"""What the columns and rows of features hold, dense or sparse."""

import numpy as np
from scipy import sparse

from dgb.data.graph import Array, Features, Graph
from dgb.data.id_hash import mixed

_CHUNK = 1 << 20  # numbers hashed at a time


def filled_per_row(x: Features) -> Array:
    """Count the numbers of each row that are not zero."""
    return np.asarray((x != 0).sum(axis=1)).ravel()


def constant_columns(graph: Graph) -> Array:
    """Return the positions of the columns that hold one number throughout.

    A column that words are hashed to may well be empty, and is not counted.
    """
    low, high = graph.x.min(axis=0), graph.x.max(axis=0)
    if sparse.issparse(graph.x):
        low, high = low.toarray(), high.toarray()
    is_constant = np.ravel(low) == np.ravel(high)
    columns = graph.encoding.columns if graph.encoding is not None else ()
    kinds = [column.kind for column in columns for _ in column.names()]
    return np.flatnonzero(is_constant & (np.array(kinds or [""]) != "words"))


def column_shares(x: Features) -> Array:
    """Return each column's share of the size of all features together."""
    sizes = np.asarray(abs(x).sum(axis=0, dtype=np.float64)).ravel()
    return sizes / (sizes.sum() or 1.0)


def count_repeated_rows(x: Features) -> int:
    """Count the rows that equal an earlier one; rows without features are left out."""
    hashes = _row_hashes(x)[filled_per_row(x) > 0]
    return len(hashes) - len(np.unique(hashes))


def _row_hashes(x: Features) -> Array:
    # Whole numbers, not a product with a random vector: its last digits may differ by the place
    # of a row, so that equal rows would not be found.
    keys = mixed(np.arange(1, x.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    if sparse.issparse(x):
        terms = _bits(x.data) * keys[x.indices]
        rows = sparse.csr_array((terms, x.indices, x.indptr), shape=x.shape)
        return np.asarray(rows @ np.ones(x.shape[1], np.uint64))
    step = max(1, _CHUNK // x.shape[1])
    chunks = [x[i : i + step] for i in range(0, len(x), step)]
    return np.concatenate([(_bits(chunk) * keys).sum(axis=1) for chunk in chunks])


def _bits(values: Array) -> Array:
    # Adding zero turns −0 into 0, which is equal but has other bits.
    plain = np.ascontiguousarray(values, np.float32) + np.float32(0)
    return mixed(plain.view(np.uint32).astype(np.uint64))
