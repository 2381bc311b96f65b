"""The one record that every stage reads: features, edges, ids, labels and splits of a graph."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array, symmetric
from dgb.data.encoding import Encoding
from dgb.data.rules import (
    check_edges,
    check_features,
    check_labels,
    check_split,
    check_weights,
    compact,
    note_repeats,
    note_zeros,
)
from dgb.errors import DGBError

# numpy array, also one that lies in a file (memory-mapped), or scipy.sparse.csr_array,
# float32 [num_nodes, num_features]
Features = Any

FEW = 20  # different numbers that may well be names of classes


@dataclass(frozen=True, eq=False)
class Split:
    """Node positions that a probe learns from, chooses on, and is scored on."""

    train: Array
    validation: Array
    test: Array


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph with features; build it with `make_graph`, which applies the rules.

    Args: those of `make_graph`; `x`, `adjacency`, `node_ids` and `labels` have a row per node.

    Example:
        >>> load_graph("cora").num_nodes
        2708
    """

    name: str
    x: Features  # [num_nodes, num_features], sparse when given sparse
    adjacency: Any  # scipy csr_array [num_nodes, num_nodes], symmetric, empty diagonal
    node_ids: Array  # [num_nodes], of any type: what the user calls the nodes
    labels: Array | None = None  # [num_nodes] int64, -1 where unknown
    label_names: tuple[str, ...] = ()
    splits: tuple[Split, ...] = ()
    encoding: Encoding | None = None  # what the columns of x are called and made of
    notes: tuple[str, ...] = ()  # what was made, guessed or left out while reading, for the user

    @property
    def num_nodes(self) -> int:
        """Number of nodes n."""
        return int(self.adjacency.shape[0])

    @property
    def num_edges(self) -> int:
        """Number of undirected edges, self-loops and duplicates not counted."""
        return int(self.adjacency.nnz // 2)

    @property
    def num_features(self) -> int:
        """Number of feature columns d."""
        return int(self.x.shape[1])

    @property
    def num_classes(self) -> int:
        """Number of distinct labels, 0 without labels."""
        return 0 if self.labels is None else len(np.unique(self.labels[self.labels >= 0]))

    def __repr__(self) -> str:
        """Return the name and the size, where its arrays would fill the screen."""
        size = f"{self.num_nodes:,} nodes, {self.num_edges:,} edges"
        return f"Graph({self.name!r}, {size}, {self.num_features:,} features)"

    def target_graph(self) -> "Graph":
        """Return the nodes that labels and splits are of: all, where there is one type of them."""
        return self


def make_graph(
    name: str,
    x: Any,
    edges: Any,
    *,
    node_ids: Array | None = None,
    labels: Array | None = None,
    label_names: tuple[str, ...] = (),
    splits: tuple[Split, ...] = (),
) -> Graph:
    """Check the parts of a graph, apply the rules for edges (`undirected`), and join them.

    Args:
        name: What the graph is called.
        x: Features, [num_nodes, num_features], dense or sparse.
        edges: An n × n scipy sparse matrix; its values are the edge weights.
        node_ids: What the nodes are called; 0, 1, … by default.
        labels: A whole number for each node, -1 where unknown.
        label_names: What the classes are called.
        splits: Nodes of train, validation and test.

    Returns:
        The graph, undirected and without self-loops; `notes` counts edges that are listed again.

    Example:
        >>> graph = make_graph("mine", np.eye(2), sparse.csr_array([[0, 1], [0, 0]]))
    """
    x = check_features(x)
    edges = check_edges(edges)
    adjacency = undirected(edges)
    num_nodes = x.shape[0]
    if adjacency.shape[0] != num_nodes:
        raise DGBError(
            f"{name}: {num_nodes} rows of features but an adjacency of {adjacency.shape[0]} nodes; "
            "give one feature row per node, in the same order"
        )
    node_ids = np.arange(num_nodes) if node_ids is None else np.asarray(node_ids)
    labels = None if labels is None else check_labels(labels)
    for what, values in (("node ids", node_ids), ("labels", labels)):
        if values is not None and values.shape != (num_nodes,):
            raise DGBError(
                f"{name}: {num_nodes} nodes but {what} of shape {values.shape}; give one a node"
            )
    for split in splits:
        check_split(split.train, split.validation, split.test, num_nodes=num_nodes)
    notes = (*note_zeros(edges), *note_repeats(edges, adjacency))
    return Graph(name, x, adjacency, node_ids, labels, label_names, splits, notes=notes)


def undirected(edges: Any) -> Any:
    """Return the symmetric CSR adjacency of a list of edges given as a sparse matrix.

    An edge given twice, or in both directions, is one edge with its largest weight: the only rule
    under which listing an edge once, twice or both ways means the same. Self-loops go, because
    Eq. 1 adds its own. Edges of weight zero go too; a negative or infinite weight is refused.
    """
    edges = sparse.coo_array(edges)
    if edges.shape[0] != edges.shape[1]:
        raise DGBError(f"the adjacency must be square, not {edges.shape[0]} × {edges.shape[1]}")
    return compact(symmetric(edges, check_weights(edges.data)))


def label_numbers(graph: Graph) -> Array | None:
    """Return the labels as numbers, NaN where unknown, or None where they are other texts."""
    assert graph.labels is not None
    if not graph.label_names:
        return np.where(graph.labels >= 0, graph.labels, np.nan)
    try:
        values = np.array([*map(float, graph.label_names), np.nan])
    except ValueError:
        return None
    is_named = graph.labels.max() < len(graph.label_names) and np.isfinite(values[:-1]).all()
    return values[graph.labels] if is_named else None


def are_numbers(graph: Graph) -> bool:
    """Tell whether labels are read as numbers: more than 20, with fractions or mostly unique."""
    names = graph.label_names
    if graph.labels is None or len(names) <= FEW or label_numbers(graph) is None:
        return False
    has_fractions = any(float(name) % 1 for name in names)
    return has_fractions or 2 * len(names) > int((graph.labels >= 0).sum())
