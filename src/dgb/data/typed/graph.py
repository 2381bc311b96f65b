"""The record of a heterogeneous graph: nodes by type, relations, and the type to embed."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array, largest_weights
from dgb.data.encoding import Encoding
from dgb.data.graph import Features, Graph, Split, undirected
from dgb.data.rules import check_features, check_labels, check_split, check_weights, compact
from dgb.errors import DGBError
from dgb.recipe import ALL_TYPES
from dgb.settings import unknown_name

UNNAMED = "to"  # a relation that is only known by its two types, as in torch_geometric


@dataclass(frozen=True, eq=False)
class NodeType:
    """The nodes of one type; build them with `make_node_type`."""

    node_ids: Array  # [num_nodes], of any type: what the user calls the nodes
    x: Features | None = None  # [num_nodes, num_features]; None where they have no features
    encoding: Encoding | None = None  # what the columns of x are called and made of

    @property
    def num_nodes(self) -> int:
        """Number of nodes of this type."""
        return len(self.node_ids)


@dataclass(frozen=True, eq=False)
class Relation:
    """The edges of one kind. They are walked in both directions."""

    source: str
    name: str
    target: str
    matrix: Any  # scipy csr_array [source nodes, target nodes], the values are weights

    @property
    def label(self) -> str:
        """What the relation is called in messages: both types with its name between them."""
        return f"{self.source}-{self.name}-{self.target}"

    @property
    def num_edges(self) -> int:
        """Number of edges; within one type, each is counted once."""
        return int(self.matrix.nnz // (2 if self.source == self.target else 1))


@dataclass(frozen=True, eq=False, repr=False)
class HeteroGraph:
    """Nodes of several types with relations between them; build it with `make_hetero_graph`.

    Args: nodes by the name of their type, relations between two types each, and the target: the
    type that is embedded, and that labels and splits are of.

    Example:
        >>> sorted(load_hetero("examples/library", label="field").nodes)
        ['author', 'paper', 'venue']
    """

    name: str
    nodes: Mapping[str, NodeType]
    relations: tuple[Relation, ...]
    target: str  # the type that is embedded, and that labels and splits are of
    labels: Array | None = None  # [nodes of the target type] int64, -1 where unknown
    label_names: tuple[str, ...] = ()
    splits: tuple[Split, ...] = ()
    split_names: tuple[str, ...] = ()  # such as the labels a class: 20, 40, 60
    notes: tuple[str, ...] = ()  # what was made, guessed or left out while reading, for the user

    @property
    def num_nodes(self) -> int:
        """Number of nodes of all types."""
        return sum(nodes.num_nodes for nodes in self.nodes.values())

    @property
    def num_edges(self) -> int:
        """Number of edges of all relations."""
        return sum(relation.num_edges for relation in self.relations)

    def __repr__(self) -> str:
        """Return the name and the size, where its arrays would fill the screen."""
        sizes = ", ".join(f"{nodes.num_nodes:,} {name}" for name, nodes in self.nodes.items())
        return f"HeteroGraph({self.name!r}, {sizes}, {self.num_edges:,} edges)"

    def degrees(self, name: str) -> Array:
        """Return how many edges the nodes of a type have, of all relations."""
        total = np.zeros(self.nodes[name].num_nodes, np.int64)
        for relation in self.relations:
            if relation.source == name:
                total += np.diff(relation.matrix.indptr)
            elif relation.target == name:
                total += np.bincount(relation.matrix.indices, minlength=len(total))
        return total

    def target_graph(self) -> Graph:
        """Return the target nodes with their labels and splits, and without an edge: to score."""
        nodes = self.nodes[self.target]
        x = np.zeros((nodes.num_nodes, 1), np.float32) if nodes.x is None else nodes.x
        adjacency = sparse.csr_array((nodes.num_nodes,) * 2, dtype=np.float32)
        labelled = (self.labels, self.label_names, self.splits)
        return Graph(self.name, x, adjacency, nodes.node_ids, *labelled, nodes.encoding, self.notes)


AnyGraph = Graph | HeteroGraph


def make_node_type(node_ids: Array, x: Any = None, encoding: Encoding | None = None) -> NodeType:
    """Check the nodes of one type; `x` is None for nodes without features."""
    node_ids = np.asarray(node_ids)
    x = None if x is None else check_features(x, least_rows=1)
    if x is not None and x.shape[0] != len(node_ids):
        raise DGBError(f"{len(node_ids)} nodes but {x.shape[0]} rows of features; give one a node")
    return NodeType(node_ids, x, encoding)


def make_relation(source: str, name: str, target: str, edges: Any) -> Relation:
    """Check the edges of one kind, given as a sparse matrix of weights.

    An edge given twice is one edge with its largest weight. Within one type, edges have no
    direction and no node is its own neighbor, as in a graph of one type.
    """
    if source == target:
        return Relation(source, name, target, undirected(edges))
    edges = sparse.coo_array(edges)
    weight = check_weights(edges.data).astype(np.float32, copy=False)
    matrix = largest_weights(edges, weight)
    matrix.eliminate_zeros()
    return Relation(source, name, target, compact(matrix))


def make_hetero_graph(
    name: str,
    nodes: Mapping[str, NodeType],
    relations: Iterable[Relation],
    target: str,
    *,
    labels: Any = None,
    label_names: tuple[str, ...] = (),
    splits: tuple[Split, ...] = (),
    split_names: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> HeteroGraph:
    """Check that the parts of a heterogeneous graph fit each other, and join them."""
    relations = tuple(relations)
    _check_names(name, nodes, [relation.name for relation in relations])
    if target not in nodes:
        raise unknown_name("node type", target, list(nodes))
    for relation in relations:
        _check_relation(relation, nodes)
    count = nodes[target].num_nodes
    labels = None if labels is None else check_labels(labels)
    if labels is not None and labels.shape != (count,):
        raise DGBError(
            f"{name}: {count} nodes of type {target} but labels of shape {labels.shape}; "
            "give one a node"
        )
    for split in splits:
        check_split(split.train, split.validation, split.test, num_nodes=count)
    labelled = (labels, label_names, splits, split_names)
    return HeteroGraph(name, dict(nodes), relations, target, *labelled, notes)


def _check_relation(relation: Relation, nodes: Mapping[str, NodeType]) -> None:
    for place, end in enumerate((relation.source, relation.target)):
        if end not in nodes:
            raise unknown_name(f"node type of relation {relation.name}:", end, list(nodes))
        if relation.matrix.shape[place] != nodes[end].num_nodes:
            raise DGBError(
                f"relation {relation.label} is "
                f"{relation.matrix.shape[0]} × {relation.matrix.shape[1]}, but there are "
                f"{nodes[end].num_nodes} nodes of type {end}; give an edge list that fits them"
            )


def _check_names(graph: str, types: Collection[str], relations: list[str]) -> None:
    """Refuse names with a comma, which parts meta-paths in a list, and a type called all."""
    for name in (*types, *relations):
        if "," in name:
            what = "type" if name in types else "relation"
            raise DGBError(
                f"{graph}: the {what} {name!r} has a comma in its name, which stands between "
                f"meta-paths in hetero.metapaths; rename it, such as {name.replace(',', '_')!r}"
            )
    if ALL_TYPES in types:
        raise DGBError(
            f"{graph}: a type is called {ALL_TYPES!r}, but data.target={ALL_TYPES} means every "
            "type; rename it"
        )
