"""Planetoid's raw files (Cora, Citeseer, Pubmed), read without running what a pickle might hold."""

from pathlib import Path

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.formats.arrays import Matrix, edge_matrix, refuse_unless
from dgb.data.graph import Graph, Split, make_graph
from dgb.data.public.unpickle import read_pickle
from dgb.errors import refusing

NUM_VALIDATION = 500
FETCH = "fetch the data set again"


def read_planetoid(name: str, folder: Path) -> Graph:
    """Read the eight files `ind.<name>.*` of a folder, with the public split."""
    test = read_test_index(folder / f"ind.{name}.test.index")
    parts = ("x", "tx", "allx", "ty", "ally", "graph")
    x, tx, allx, ty, ally, graph = (read_pickle(folder / f"ind.{name}.{part}") for part in parts)
    with refusing(folder / f"ind.{name}.*", "the files do not fit together", FETCH):
        rows = join_rows(allx, tx, test)
        labels = _labels(ally, ty, test, rows.shape[0])
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
    num_nodes = max(int(test.max()) + 1, first.shape[0])
    refuse_unless(
        listed.shape[0] == len(test) and int(test.min()) >= first.shape[0],
        f"the listed test nodes do not match the rows of the features; {FETCH}",
    )
    rows = sparse.coo_array(listed)
    row = np.concatenate([sparse.coo_array(first).row, test[rows.row]])
    col = np.concatenate([sparse.coo_array(first).col, rows.col])
    data = np.concatenate([first.data, rows.data])
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
    refuse_unless(
        int(validation[-1]) < int(test.min()), f"too few nodes for the public split; {FETCH}"
    )
    return Split(np.arange(num_train), validation, np.sort(test))


def _labels(ally: Array, ty: Array, test: Array, num_nodes: int) -> Array:
    # Citeseer's 15 nodes that no file describes stay unknown. (The usual argmax over an empty
    # row calls them class 0; no split contains them.)
    labels = np.full(num_nodes, -1, np.int64)
    for rows, nodes in ((ally, np.arange(len(ally))), (ty, test)):
        labels[nodes] = np.where(rows.any(axis=1), rows.argmax(axis=1), -1)
    return labels
