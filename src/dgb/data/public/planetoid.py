"""Planetoid's raw files (Cora, Citeseer, Pubmed), read without running what a pickle might hold."""

import pickle
import pickletools
from collections import defaultdict
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.formats.arrays import Matrix, edge_matrix, refuse_unless, sparse_rows
from dgb.data.graph import Graph, Split, make_graph
from dgb.errors import DGBError, refusing
from dgb.files.limits import read_whole

NUM_VALIDATION = 500
FETCH = "fetch the data set again"
Content = Any  # what a pickle holds is known only once it is read


def read_planetoid(name: str, folder: Path) -> Graph:
    """Read the eight files `ind.<name>.*` of a folder, with the public split."""
    test = read_test_index(folder / f"ind.{name}.test.index")
    parts = ("x", "tx", "allx", "ty", "ally", "graph")
    x, tx, allx, ty, ally, graph = (read_pickle(folder / f"ind.{name}.{part}") for part in parts)
    with refusing(folder / f"ind.{name}.*", "the files do not fit together", FETCH):
        rows = join_rows(allx, tx, test)
        # Citeseer's 15 nodes that no file describes stay unknown. (The usual argmax over an empty
        # row calls them class 0; no split contains them.)
        labels = np.full(rows.shape[0], -1, np.int64)
        for classes, nodes in ((ally, np.arange(len(ally))), (ty, test)):
            labels[nodes] = np.where(classes.any(axis=1), classes.argmax(axis=1), -1)
        edges = edge_matrix(edge_list(graph), rows.shape[0])
        split = public_split(x.shape[0], test)
        return make_graph(name, rows, edges, labels=labels, splits=(split,))


def read_test_index(path: Path) -> Array:
    """Read the listed test nodes: line i is the node of row i of `tx` and `ty`."""
    with refusing(path, "not a list of test nodes", FETCH):
        test = np.array(path.read_text("ascii").split(), dtype=np.int64)
    is_whole = len(set(test.tolist())) == len(test) > 0
    refuse_unless(is_whole, f"{path}: empty, or a node named twice; {FETCH}")
    return test


def join_rows(first: Matrix, listed: Matrix, test: Array) -> Matrix:
    """Put row i of `listed` at node test[i], after the rows of `first`; gaps stay empty rows."""
    refuse_unless(
        listed.shape[0] == len(test) and int(test.min()) >= first.shape[0],
        f"the listed test nodes do not match the rows of the features; {FETCH}",
    )
    one, two = sparse.coo_array(first), sparse.coo_array(listed)
    row = np.concatenate([one.row, test[two.row]])
    col, data = np.concatenate([one.col, two.col]), np.concatenate([one.data, two.data])
    num_nodes = max(int(test.max()) + 1, first.shape[0])
    x = sparse.csr_array((data, (row, col)), shape=(num_nodes, first.shape[1]))
    x.eliminate_zeros()
    return x


def edge_list(neighbors: dict[int, list[int]]) -> Array:
    """Turn the neighbor lists into [2, num_entries] positions, as listed."""
    pairs = ((node, other) for node, others in neighbors.items() for other in others)
    # Number by number: lists within lists could unfold to more than any memory.
    return np.fromiter((end for pair in pairs for end in pair), np.int64).reshape(-1, 2).T


def public_split(num_train: int, test: Array) -> Split:
    """Give the public split: 20 a class come first, then 500 to choose on, and the listed test."""
    validation = np.arange(num_train, num_train + NUM_VALIDATION)
    is_enough = int(validation[-1]) < int(test.min())
    refuse_unless(is_enough, f"too few nodes for the public split; {FETCH}")
    return Split(np.arange(num_train), validation, np.sort(test))


def read_pickle(path: Path) -> Content:
    """Load one raw file; a CSR matrix comes back as a checked scipy csr_array.

    The reader builds numbers, lists and dicts, nothing else.
    """
    with refusing(path, "not a Planetoid file", FETCH):
        written = read_whole(path)
        # Memory is taken by the place at which a pickle remembers a thing. The walk over the whole
        # pickle also finds texts that claim to be longer than the file.
        for opcode, place, _ in pickletools.genops(written):
            if opcode.name in ("PUT", "LONG_BINPUT") and int(place or 0) > len(written):
                raise DGBError(f"remembers things at place {place}; do not use this file")
        content = _Unpickler(BytesIO(written), encoding="latin1").load()
        return sparse_rows(content.parts, "") if isinstance(content, _CSRParts) else content


class _CSRParts:
    """Stands in for scipy's csr_matrix, whose inside has changed since these files were made."""

    parts: dict[str, Any]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.parts = {key: state[key] for key in ("data", "indices", "indptr")}
        self.parts["shape"] = state["_shape"]


def _empty_array(_kind: object, _shape: tuple[int, ...], _code: object) -> Array:
    return np.ndarray.__new__(np.ndarray, (0,), "b")  # its content follows in the pickle


def _number_type(code: str, *_flags: object) -> Content:
    # The flags of these old files are integers, against which some numpy versions warn.
    kind = np.dtype(code, copy=True)
    if kind.kind not in "biuf":
        raise DGBError(f"holds an array of type {code}, not of numbers; do not use this file")
    return kind


_ALLOWED: dict[tuple[str, str], Any] = {
    ("builtins", "int"): int,
    ("builtins", "list"): list,
    ("__builtin__", "int"): int,  # Python 2's name, which the published files carry
    ("__builtin__", "list"): list,
    ("collections", "defaultdict"): defaultdict,
    ("_codecs", "encode"): lambda text, _encoding="latin1": text.encode("latin1"),
    ("numpy", "dtype"): _number_type,
    ("numpy", "ndarray"): None,  # files name it, and none has to call it
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy._core.multiarray", "_reconstruct"): _empty_array,
    ("scipy.sparse.csr", "csr_matrix"): _CSRParts,
    ("scipy.sparse._csr", "csr_matrix"): _CSRParts,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Content:
        """Look a name up in the allow-list instead of importing it."""
        if (module, name) not in _ALLOWED:
            raise DGBError(
                f"asks for {module}.{name}, which no Planetoid file needs; do not use it"
            )
        return _ALLOWED[module, name]
