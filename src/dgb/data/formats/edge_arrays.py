"""Edges as arrays: a sparse matrix in .npz or MatrixMarket form, or a .npy list of pairs."""

from pathlib import Path

import numpy as np

from dgb.data.formats.arrays import Matrix, count_nodes, edge_matrix
from dgb.data.formats.market import read_market
from dgb.data.formats.node_matrix import read_npy, read_sparse
from dgb.errors import DGBError

SUFFIXES = (".npy", ".npz", ".mtx", ".mtx.gz")


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
            f"{path}: {matrix.shape[0]} × {matrix.shape[1]} is no adjacency; give a square matrix "
            "whose rows and columns are the same nodes"
        )
    if matrix.dtype.kind not in "biuf":
        raise DGBError(f"{path}: edge weights must be real numbers, not {matrix.dtype}")
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise DGBError(f"{path}: edge weights must be finite and not negative; mend them")
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
