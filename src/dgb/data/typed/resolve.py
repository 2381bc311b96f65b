"""What a graph of several types may leave open: its target, features, relations given twice."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.encoding import Encoding
from dgb.data.graph import undirected
from dgb.data.rules import compact
from dgb.data.structure import structural_features
from dgb.data.typed.graph import UNNAMED, HeteroGraph, NodeType, Relation, make_hetero_graph
from dgb.errors import DGBError
from dgb.recipe import ALL_TYPES, LEARNT
from dgb.settings import unknown_name


def choose_target(
    asked: str, types: Iterable[str], labelled: Collection[str], featured: Collection[str]
) -> str:
    """Return the type asked for, else the only one with labels, else the only one with features.

    Where all are asked for, the first of those that may be meant.
    """
    known = list(types)
    if asked not in ("", ALL_TYPES, *known):
        raise unknown_name("node type", asked, known)
    if asked in known:
        return asked
    meant = list(labelled or featured)
    if asked == ALL_TYPES:
        return [*meant, *known][0]
    if len(meant) == 1:
        return meant[0]
    what = "labels" if labelled else "features"
    having = f"{', '.join(meant)} have {what}" if meant else "none has labels or features"
    raise target_unclear(having, known)


def target_unclear(reason: str, types: Iterable[str]) -> DGBError:
    """Return the error for a graph of which no one type is plainly meant."""
    known = list(types)
    return DGBError(
        f"which type of nodes to embed is not clear: {reason}; name it, such as with "
        f"data.target={known[0] if known else 'TYPE'} (types: {', '.join(known)})"
    )


def with_target(graph: HeteroGraph, target: str) -> HeteroGraph:
    """Return the graph with another type to embed, whose labels are then not known."""
    if target in ("", ALL_TYPES, graph.target):
        return graph
    if target not in graph.nodes:
        raise unknown_name("node type", target, list(graph.nodes))
    note = f"labels and splits are of {graph.target} and not used, since {target} is embedded"
    has_labels = graph.labels is not None or graph.splits
    notes = (*graph.notes, note) if has_labels else graph.notes
    return make_hetero_graph(graph.name, graph.nodes, graph.relations, target, notes=notes)


def without_reverse(relations: Iterable[Relation]) -> tuple[list[Relation], list[str]]:
    """Take a relation and its exact transpose once, and name those between two types apart.

    Relations are walked in both directions, so the second would only count edges twice. Notes
    on what was left out or named otherwise are returned as well.
    """
    kept: list[Relation] = []
    notes: list[str] = []
    for relation in relations:
        same = next((other for other in kept if _is_reverse(relation, other)), None)
        if same is None:
            kept.append(relation)
        else:
            notes.append(
                f"relation {relation.label} is {same.label} from the other end and is taken once"
            )
    return _name_apart(kept, notes), notes


def _name_apart(relations: list[Relation], notes: list[str]) -> list[Relation]:
    """Give one of two relations that lead both ways under one name a name of its own.

    It is the one whose types are not in the order of the alphabet, so that another graph with the
    same relations names them alike, in whichever order it lists them.
    """
    known = {(r.source, r.name, r.target): r for r in relations}
    types = {end for relation in relations for end in (relation.source, relation.target)}
    for place, relation in enumerate(relations):
        other = known.get((relation.target, relation.name, relation.source))
        if other is None or relation.source <= relation.target:
            continue
        ends = {relation.source, relation.target}
        # No type either: meta-paths name both types and relations.
        taken = types | {r.name for r in relations if {r.source, r.target} == ends}
        name = "back" if relation.name == UNNAMED else f"{relation.name}_back"
        while name in taken:
            name += "_"
        relations[place] = replace(relation, name=name)
        notes.append(
            f"relation {relation.label} has the name of {other.label} and other edges, and is "
            f"called {relations[place].label}"
        )
    return relations


def _is_reverse(relation: Relation, other: Relation) -> bool:
    if (relation.source, relation.target) != (other.target, other.source):
        return False
    if relation.matrix.nnz != other.matrix.nnz:
        return False
    one, two = compact(sparse.csr_array(relation.matrix.T)), other.matrix
    parts = ("indptr", "indices", "data")
    return all(np.array_equal(getattr(one, part), getattr(two, part)) for part in parts)


def with_features(graph: HeteroGraph, types: Iterable[str], structure: str) -> HeteroGraph:
    """Return the graph with features for those of the types that have none.

    `learnt` is a column for every node: its row of the encoder's first weight matrix is then a
    vector that is learnt for this node alone.
    """
    missing = [name for name in types if graph.nodes[name].x is None]
    if not missing:
        return graph
    nodes = dict(graph.nodes)
    if structure == LEARNT:
        made = {name: sparse.eye_array(nodes[name].num_nodes, format="csr") for name in missing}
    else:
        x = structural_features(union_graph(graph), union_ids(graph), structure)
        ends = np.cumsum([found.num_nodes for found in nodes.values()])
        made = dict(zip(nodes, np.split(x, ends[:-1]), strict=True))
    for name in missing:
        rows = made[name].astype(np.float32, copy=False)
        nodes[name] = NodeType(nodes[name].node_ids, rows, Encoding(structure=structure))
    note = f"no features of {', '.join(missing)}: made by data.structure={structure}"
    return replace(graph, nodes=nodes, notes=(*graph.notes, note))


def union_graph(graph: HeteroGraph) -> Any:
    """Return the adjacency of all nodes, the types one after the other, by any relation."""
    sizes = [nodes.num_nodes for nodes in graph.nodes.values()]
    starts = dict(zip(graph.nodes, accumulate(sizes, initial=0), strict=False))
    rows, cols, weights = [], [], []
    for relation in graph.relations:
        edges = sparse.coo_array(relation.matrix)
        rows.append(edges.coords[0] + np.int64(starts[relation.source]))
        cols.append(edges.coords[1] + np.int64(starts[relation.target]))
        weights.append(edges.data)
    ends = tuple(np.concatenate(part) if part else np.zeros(0, int) for part in (rows, cols))
    weight = np.concatenate(weights) if weights else np.zeros(0, np.float32)
    return undirected(sparse.coo_array((weight, ends), shape=(sum(sizes),) * 2))


def union_ids(graph: HeteroGraph) -> Array:
    """Return the ids of all nodes as text, each with its type before it: ids are per type."""
    parts = [
        np.char.add(f"{name}:", nodes.node_ids.astype(np.str_))
        for name, nodes in graph.nodes.items()
    ]
    return np.concatenate(parts).astype(object)
