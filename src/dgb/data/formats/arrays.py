"""From the plain arrays of a file to the parts of a graph, every index checked on the way."""

import zipfile
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.checked import check_labels
from dgb.errors import DGBError, refusing
from dgb.files.limits import check_members, refuse_nodes
from dgb.terminal import some

Arrays = dict[str, Array]
Matrix = Any  # a scipy sparse array; scipy ships no types
_FEW = 1000  # nodes that any file may have without an edge


def open_npz(path: Path, keys: Collection[str]) -> Arrays:
    """Return those of the wanted arrays that the npz file holds, never unpickling anything."""
    if not path.is_file():
        raise DGBError(f"{path}: no such file; give the path of an npz file")
    advice = "get it again or write it with write_npz"
    with (
        refusing(path, "not a readable npz file of plain arrays", advice),
        zipfile.ZipFile(path) as archive,
    ):
        # By name: public files carry pickled lists of names next to the numbers, which stay unread.
        names = set(archive.namelist())
        found = {key: archive.getinfo(f"{key}.npy") for key in keys if f"{key}.npy" in names}
        check_members(path, found.values())
        arrays = {}
        for key, member in found.items():
            with archive.open(member) as file:
                arrays[key] = np.asarray(np.lib.format.read_array(file, allow_pickle=False))
        return arrays


def sparse_rows(arrays: Arrays, prefix: str) -> Matrix:
    """Join the CSR parts `<prefix>data`, `indices`, `indptr`, `shape`; without data, all ones."""
    indices, indptr = arrays[f"{prefix}indices"], arrays[f"{prefix}indptr"]
    shape = tuple(int(size) for size in arrays[f"{prefix}shape"])
    data = arrays.get(f"{prefix}data")
    data = np.ones(len(indices), np.float32) if data is None else data
    for part in (indices, indptr):
        refuse_unless(
            part.dtype.kind in "iu", f"`{prefix}…` holds positions that are not integers; fix them"
        )
    rows = sparse.csr_array((data, indices.astype(np.int64), indptr.astype(np.int64)), shape=shape)
    return check_places(rows)


def check_places(matrix: Matrix) -> Matrix:
    """Check that no place of a CSR or CSC matrix leads out of it, which would end the process."""
    matrix.check_format(full_check=True)
    # scipy does not look at the starts of a matrix that ends with none.
    refuse_unless(bool((np.diff(matrix.indptr) >= 0).all()), "`indptr` must not fall; fix it")
    return matrix


def edge_matrix(edge_index: Array, num_nodes: int, edge_weight: Array | None = None) -> Matrix:
    """Turn [2, num_edges] node positions into the sparse matrix that `make_graph` takes."""
    return relation_matrix(edge_index, (num_nodes, num_nodes), edge_weight)


def relation_matrix(
    edge_index: Array, shape: tuple[int, int], edge_weight: Array | None = None
) -> Matrix:
    """Turn [2, num_edges] positions into a sparse matrix; its ends may be of different types."""
    refuse_unless(
        edge_index.ndim == 2 and edge_index.shape[0] == 2 and edge_index.dtype.kind in "iu",
        f"`edge_index` must be integers of shape [2, num_edges], not {edge_index.shape}",
    )
    for end, num_nodes in zip(edge_index, shape, strict=True):
        refuse_nodes(num_nodes)
        refuse_unless(
            end.size == 0 or bool(end.min() >= 0 and end.max() < num_nodes),
            f"`edge_index` names nodes outside 0 … {num_nodes - 1}; give a row for each of them",
        )
    # A bit for each edge where all weigh the same; scipy takes 32-bit positions as they are.
    weight = np.ones(edge_index.shape[1], bool) if edge_weight is None else edge_weight
    refuse_unless(weight.shape == edge_index.shape[1:], "`edge_weight` must be one value per edge")
    row, col = edge_index
    return sparse.coo_array((weight, (row, col)), shape=shape)


def count_nodes(ends: Array) -> int:
    """Count nodes by the last position that edges name, refusing numbers that are not positions."""
    count = int(ends.max()) + 1 if ends.size else 0
    if count > _FEW + 10 * ends.size:
        raise DGBError(
            f"node {count - 1} but only {ends.size} ends of edges: positions must be 0 … n−1; "
            "number the nodes so, or give a table (CSV, Parquet), which takes any ids"
        )
    return count


def own_ids(ids: Array | None, count: int) -> Array | None:
    """Check ids of nodes that a file gives: one for each node, and none for two of them."""
    if ids is None:
        return None
    refuse_unless(ids.shape == (count,), f"{count} nodes but {ids.size} node_ids; give one a node")
    # Asked first: texts of no letters take no room in a file, and each its own in a list.
    refuse_unless(ids.dtype.itemsize > 0, "node_ids hold no letters; give every node an id")
    has_objects = ids.dtype.hasobject
    if len(set(ids.tolist()) if has_objects else np.unique(ids)) < count:
        listed = ids.tolist()
        twice = [repr(name) for name, times in Counter(listed).items() if times > 1]
        raise DGBError(
            f"node_ids that stand for several nodes: {some(twice)}; give every node an id of "
            "its own"
        )
    return ids


def class_labels(y: Array | None) -> Array | None:
    """Check labels: one class 0, 1, 2 … per node, -1 where unknown; one column is flattened."""
    if y is None:
        return None
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    refuse_unless(
        y.ndim == 1 and y.dtype.kind in "iu",
        f"labels must be one integer per node, -1 where unknown, not {y.dtype} of shape {y.shape}",
    )
    return check_labels(y)


def refuse_unless(is_right: bool, problem: str) -> None:
    """Raise the project's exception with `problem` when the check failed."""
    if not is_right:
        raise DGBError(problem)
