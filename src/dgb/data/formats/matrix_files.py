"""Arrays in files: features as .npy or sparse .npz; edges also as pairs or MatrixMarket."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.formats.arrays import (
    Arrays,
    Matrix,
    check_places,
    count_nodes,
    edge_matrix,
    open_npz,
    refuse_unless,
)
from dgb.data.graph import Features
from dgb.data.tables.text_file import BLOCK, single_space
from dgb.errors import DGBError, refusing
from dgb.files.limits import read_whole, refuse_nodes

MATRIX_SUFFIXES = (".npy", ".npz")
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
            return _join_parts(arrays)
        except KeyError as error:
            raise DGBError(
                f"no array {error}; give a file of scipy.sparse.save_npz, "
                "or one with `edge_index` as write_npz writes it"
            ) from None


def _join_parts(arrays: Arrays) -> Matrix:
    shape, data = _shape(arrays["shape"]), arrays["data"]
    written = arrays["format"]
    form = written.item().decode("ascii", "replace") if written.dtype.kind == "S" else str(written)
    refuse_unless(
        form in ("csr", "csc", "coo"), f"`format` must be one of csr, csc, coo, not {form!r}"
    )
    refuse_nodes(max(shape))  # rows and columns, of which not all forms have to hold something
    if form == "coo":
        return sparse.coo_array((data, (_places(arrays["row"]), _places(arrays["col"]))), shape)
    make: Any = sparse.csr_array if form == "csr" else sparse.csc_array
    matrix = make((data, _places(arrays["indices"]), _places(arrays["indptr"])), shape=shape)
    return sparse.csr_array(check_places(matrix))


def _shape(shape: Array) -> tuple[int, ...]:
    refuse_unless(shape.shape == (2,) and shape.dtype.kind in "iu", "`shape` must be two integers")
    return tuple(int(size) for size in shape)


def _places(values: Array) -> Array:
    refuse_unless(values.dtype.kind in "iu", "positions must be integers")
    return values.astype(np.int64)


ARRAY_SUFFIXES = (".npy", ".npz", ".mtx", ".mtx.gz")


def read_edge_array(path: Path, num_nodes: int | None) -> tuple[Matrix, tuple[str, ...]]:
    """Read edges between positions as an n × n matrix, with notes on what was guessed.

    `num_nodes` is known where there are node rows; pairs alone end at the last node they name.
    """
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return _read_pairs(path, num_nodes)
    matrix = read_sparse(path) if suffix == ".npz" else read_market(path)
    if matrix.shape[0] != matrix.shape[1]:
        raise DGBError(
            f"{path}: {matrix.shape[0]} × {matrix.shape[1]} is not an adjacency; give a square "
            "matrix whose rows and columns are the same nodes"
        )
    if matrix.dtype.kind not in "biuf":
        raise DGBError(f"{path}: edge weights must be real numbers, not {matrix.dtype}")
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise DGBError(f"{path}: edge weights must be finite and not negative; fix them")
    return matrix, ()


def _read_pairs(path: Path, num_nodes: int | None) -> tuple[Matrix, tuple[str, ...]]:
    pairs = read_npy(path)
    if pairs.ndim != 2 or 2 not in pairs.shape or pairs.dtype.kind not in "iu":
        raise DGBError(
            f"{path}: edges must be integers of shape [2, E] or [E, 2], not {pairs.dtype} of "
            f"shape {list(pairs.shape)}; give a table (CSV, Parquet) for other ids or weights"
        )
    edge_index = pairs if pairs.shape[0] == 2 else pairs.T
    note = f"{path.name}: 2 × 2 was read as two columns of edges, [[sources], [targets]]"
    notes = (note,) if pairs.shape == (2, 2) else ()
    return edge_matrix(edge_index, num_nodes or count_nodes(edge_index)), notes


_ADVICE = "get it again or write it with scipy.io.mmwrite"
# The banner, comments and empty lines, then rows, columns and entries.
_HEAD = re.compile(
    rb"%%MatrixMarket[ \t]++matrix[ \t]++(\w++)[ \t]++([\w-]++)[ \t]++([\w-]++)[ \t]*+\r?\n"
    rb"(?:[ \t]*+(?:%[^\n]*+)?+\r?\n)*+"
    rb"[ \t]*+(\d{1,18})[ \t]++(\d{1,18})[ \t]++(\d{1,18})[ \t]*+(?:\r?\n|\Z)",
    re.IGNORECASE,
)
_NUMBERS = ("real", "double", "integer", "unsigned-integer")


def read_market(path: Path) -> Matrix:
    """Read a sparse matrix; of a symmetric one, only the half that the file holds."""
    with refusing(path, "not a readable MatrixMarket file", _ADVICE):
        content = read_whole(path)
        head = _HEAD.match(content)
        if head is None:
            raise ValueError("no head of `%%MatrixMarket matrix coordinate …`, rows, columns")
        form, kind, *_ = (word.decode("ascii").lower() for word in head.groups()[:3])
        refuse_unless(form == "coordinate", f"the form must be coordinate, not {form}")
        is_known = kind == "pattern" or kind in _NUMBERS
        refuse_unless(is_known, f"edge weights must be real numbers, not {kind}")
        rows, columns, entries = (int(size) for size in head.groups()[3:])
        refuse_nodes(max(rows, columns))
        places, values = _entries(content[head.end() :], has_values=kind != "pattern")
        if len(values) != entries:
            raise ValueError(f"{entries:,} entries declared, {len(values):,} there")
        for end, size in zip(places, (rows, columns), strict=True):
            if len(end) and not 1 <= end.min() <= end.max() <= size:
                raise ValueError(f"positions must be from 1 to {size}")
        return sparse.coo_array((values, tuple(places - 1)), shape=(rows, columns))


def _entries(body: bytes, *, has_values: bool) -> tuple[Array, Array]:
    """Return the positions [2, entries], counted from 1 as they stand there, and the values."""
    import pyarrow as pa
    from pyarrow import csv

    types: dict[str, Any] = {"row": pa.int64(), "column": pa.int64()}
    types |= {"value": pa.float64()} if has_values else {}
    if not body or body.isspace():
        return np.zeros((2, 0), np.int64), np.zeros(0)
    table = csv.read_csv(
        BytesIO(single_space(body)),
        csv.ReadOptions(column_names=list(types), block_size=BLOCK),
        csv.ParseOptions(delimiter=" ", quote_char=False),
        csv.ConvertOptions(column_types=types, null_values=[]),
    )
    found = [np.asarray(column.to_numpy()) for column in table.columns]
    values = found[2] if has_values else np.ones(table.num_rows)
    return np.stack(found[:2]), values
