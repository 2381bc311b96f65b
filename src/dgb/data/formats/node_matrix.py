"""Features as a matrix file: .npy, or a .npz of scipy."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.formats.arrays import Arrays, Matrix, checked_places, open_npz, refuse_unless
from dgb.data.graph import Features
from dgb.errors import DGBError, refusing
from dgb.files.limits import refuse_nodes

SUFFIXES = (".npy", ".npz")
SPARSE_KEYS = ("format", "shape", "data", "indices", "indptr", "row", "col")


def node_matrix(path: Path) -> Features:
    """Read features, one row per node, from a .npy array or a sparse .npz of scipy."""
    x = read_npy(path) if path.suffix.lower() == ".npy" else read_sparse(path)
    if x.ndim != 2 or x.dtype.kind not in "biuf":
        raise DGBError(
            f"{path}: features must be numbers, one row per node and one column per feature, "
            f"not {x.dtype} of shape {x.shape}"
        )
    return x


def read_npy(path: Path) -> Array:
    """Open an array that holds no Python objects; it stays in its file until it is used."""
    if not path.is_file():
        raise DGBError(f"{path}: no such file; give the path of a .npy file")
    with refusing(path, "not a readable .npy array of numbers", "write it with numpy.save"):
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def read_sparse(path: Path) -> Matrix:
    """Read a matrix that scipy.sparse.save_npz has written, never unpickling anything."""
    arrays = open_npz(path, SPARSE_KEYS)
    with refusing(path, "not a sparse matrix", "write it with scipy.sparse.save_npz"):
        try:
            return sparse_matrix(arrays)
        except KeyError as error:
            raise DGBError(
                f"no array {error}; give a file of scipy.sparse.save_npz, "
                "or one with `edge_index` as write_npz writes it"
            ) from None


def sparse_matrix(arrays: Arrays) -> Matrix:
    """Join the parts of a CSR, CSC or COO matrix."""
    shape, data = _shape(arrays["shape"]), arrays["data"]
    form = _text(arrays["format"])
    refuse_unless(
        form in ("csr", "csc", "coo"), f"`format` must be one of csr, csc, coo, not {form!r}"
    )
    refuse_nodes(max(shape))  # rows and columns, of which not all forms have to hold something
    if form == "coo":
        return sparse.coo_array((data, (_places(arrays["row"]), _places(arrays["col"]))), shape)
    make: Any = sparse.csr_array if form == "csr" else sparse.csc_array
    matrix = make((data, _places(arrays["indices"]), _places(arrays["indptr"])), shape=shape)
    return sparse.csr_array(checked_places(matrix))


def _shape(shape: Array) -> tuple[int, ...]:
    refuse_unless(shape.shape == (2,) and shape.dtype.kind in "iu", "`shape` must be two integers")
    return tuple(int(size) for size in shape)


def _text(form: Array) -> str:
    return form.item().decode("ascii", "replace") if form.dtype.kind == "S" else str(form)


def _places(values: Array) -> Array:
    refuse_unless(values.dtype.kind in "iu", "positions must be integers")
    return values.astype(np.int64)
