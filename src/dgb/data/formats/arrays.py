"""Plain arrays of files, and the parts of a graph made of them: every index is checked."""

import zipfile
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.graph import Features
from dgb.data.rules import check_labels
from dgb.errors import DGBError, refusing
from dgb.files.kinds import NPY, find_kind
from dgb.files.limits import check_members, refuse_nodes
from dgb.terminal import some

Arrays = dict[str, Array]
Matrix = Any  # a scipy sparse array; scipy ships no types
_SPARSE_KEYS = ("format", "shape", "data", "indices", "indptr", "row", "col")
_ROWS = "give a row for each of them"
_FEW = 1000  # nodes that any file may have without an edge


def open_npz(path: Path, keys: Collection[str]) -> Arrays:
    """Return those of the wanted arrays that the npz file holds, never unpickling anything."""
    if not path.is_file():
        raise DGBError(f"{path}: no such file; give the path of an npz file")
    problem, advice = "not a readable npz file of plain arrays", "write it with write_npz"
    with refusing(path, problem, f"get it again or {advice}"), zipfile.ZipFile(path) as archive:
        # By name: public files carry pickled lists of names next to the numbers, which stay unread.
        names = set(archive.namelist())
        found = {key: archive.getinfo(f"{key}.npy") for key in keys if f"{key}.npy" in names}
        check_members(path, found.values())
        arrays = {}
        for key, member in found.items():
            with archive.open(member) as file:
                arrays[key] = np.asarray(np.lib.format.read_array(file, allow_pickle=False))
        return arrays


def read_npy(path: Path) -> Array:
    """Open an array that holds no Python objects; it stays in its file until it is used."""
    if not path.is_file():
        raise DGBError(f"{path}: no such file; give the path of a .npy file")
    with refusing(path, "not a readable .npy array of numbers", "write it with numpy.save"):
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def node_matrix(path: Path) -> Features:
    """Read features, one row per node, from an array of numpy or a sparse matrix of scipy."""
    x = read_npy(path) if find_kind(path) == NPY else read_sparse(path)
    if x.ndim != 2 or x.dtype.kind not in "biuf":
        raise DGBError(
            f"{path}: features must be numbers, one row per node and one column per feature, "
            f"not {x.dtype} of shape {x.shape}"
        )
    return x


def read_sparse(path: Path) -> Matrix:
    """Read a matrix that scipy.sparse.save_npz has written, never unpickling anything."""
    arrays = open_npz(path, _SPARSE_KEYS)
    with refusing(path, "not a sparse matrix", "write it with scipy.sparse.save_npz"):
        try:
            return _join_parts(arrays)
        except KeyError as error:
            raise DGBError(
                f"no array {error}; give a file of scipy.sparse.save_npz, "
                "or one with `edge_index` as write_npz writes it"
            ) from None


def _join_parts(arrays: Arrays) -> Matrix:
    shape, data, form = arrays["shape"], arrays["data"], str(arrays["format"].astype(np.str_))
    is_shape = shape.shape == (2,) and shape.dtype.kind in "iu"
    refuse_unless(is_shape, "`shape` must be two integers")
    is_known = form in ("csr", "csc", "coo")
    refuse_unless(is_known, f"`format` must be one of csr, csc, coo, not {form!r}")
    refuse_nodes(int(shape.max()))  # rows or columns, of which a form may hold none
    if form == "coo":
        places = tuple(_check_integers(arrays[end], end) for end in ("row", "col"))
        return sparse.coo_array((data, places), tuple(shape.tolist()))
    if form == "csr":
        return sparse_rows(arrays, "")
    return sparse.csr_array(sparse_rows(arrays | {"shape": shape[::-1]}, "").T)


def sparse_rows(arrays: Arrays, prefix: str) -> Matrix:
    """Join the CSR parts `<prefix>data`, `indices`, `indptr`, `shape`; without data, all ones."""
    names = (f"{prefix}indices", f"{prefix}indptr")
    indices, indptr = (_check_integers(arrays[name], name) for name in names)
    shape = tuple(int(size) for size in arrays[f"{prefix}shape"])
    data = arrays.get(f"{prefix}data")
    data = np.ones(len(indices), np.float32) if data is None else data
    matrix = sparse.csr_array((data, indices, indptr), shape=shape)
    # A place that leads out of the matrix would end the process.
    matrix.check_format(full_check=True)
    # scipy does not look at the starts of a matrix that ends with none.
    refuse_unless(bool((np.diff(matrix.indptr) >= 0).all()), "`indptr` must not fall; fix it")
    return matrix


def _check_integers(places: Array, name: str) -> Array:
    refuse_unless(places.dtype.kind in "iu", f"`{name}` must be integers; fix it")
    return places.astype(np.int64)


def edge_matrix(
    edge_index: Array, shape: int | tuple[int, int], edge_weight: Array | None = None
) -> Matrix:
    """Turn [2, num_edges] node positions into the sparse matrix that `make_graph` takes.

    `shape` is the number of nodes, or those of the two types that the edges join.
    """
    shape = shape if isinstance(shape, tuple) else (shape, shape)
    refuse_unless(
        edge_index.ndim == 2 and edge_index.shape[0] == 2 and edge_index.dtype.kind in "iu",
        f"`edge_index` must be integers of shape [2, num_edges], not {edge_index.shape}",
    )
    for end, num_nodes in zip(edge_index, shape, strict=True):
        refuse_nodes(num_nodes)
        if end.size and not 0 <= end.min() <= end.max() < num_nodes:
            is_shifted = edge_index.min() == 1 and edge_index.max() == num_nodes
            advice = "they seem to count from 1; subtract 1" if is_shifted else _ROWS
            raise DGBError(f"`edge_index` names nodes outside 0 … {num_nodes - 1}; {advice}")
    # A bit for each edge where all weigh the same; scipy takes 32-bit positions as they are.
    weight = np.ones(edge_index.shape[1], bool) if edge_weight is None else edge_weight
    refuse_unless(weight.shape == edge_index.shape[1:], "`edge_weight` must be one value per edge")
    return sparse.coo_array((weight, tuple(edge_index)), shape=shape)


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
    if len(set(ids.tolist()) if ids.dtype.hasobject else np.unique(ids)) < count:
        twice = [repr(name) for name, times in Counter(ids.tolist()).items() if times > 1]
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
    if y.ndim == 1 and y.dtype.kind == "f":  # what gaps make of integers
        is_known = ~np.isnan(y)
        is_whole = bool((np.isfinite(y) & (y == np.floor(y)))[is_known].all())
        y = np.where(is_known, y, -1).astype(np.int64) if is_whole else y
    refuse_unless(
        y.ndim == 1 and y.dtype.kind in "iu",
        f"labels must be one integer per node, -1 where unknown, not {y.dtype} of shape {y.shape}; "
        "training needs none: leave them out",
    )
    return check_labels(y)


def refuse_unless(is_right: bool, problem: str) -> None:
    """Raise the project's exception with `problem` when the check failed."""
    if not is_right:
        raise DGBError(problem)
