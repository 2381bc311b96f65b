"""What a heterogeneous graph counts, type by type and relation by relation."""

from collections.abc import Iterator
from typing import Any

from dgb.data.hetero.graph import HeteroGraph, Relation
from dgb.data.look.check import label_counts
from dgb.data.look.feature_check import filled_per_row
from dgb.data.look.trouble import MANY, label_trouble


def check_hetero(graph: HeteroGraph) -> dict[str, Any]:
    """Count what matters before training: types, relations, and the labels of the target."""
    return {
        "name": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "target": graph.target,
        "types": {kind: _type_counts(graph, kind) for kind in graph.nodes},
        "relations": {relation.label: _relation_counts(relation) for relation in graph.relations},
        "split_names": ", ".join(graph.split_names) or None,
    } | label_counts(graph.target_graph())


def hetero_trouble(counts: dict[str, Any]) -> list[str]:
    """Return a sentence on each likely trouble; `counts` are those of `check_hetero`."""
    return [*_type_trouble(counts), *label_trouble(counts)]


def _type_trouble(counts: dict[str, Any]) -> Iterator[str]:
    for kind, counted in counts["types"].items():
        nodes, alone = counted["nodes"], counted["isolated"]
        if alone and alone >= MANY * nodes:
            yield (
                f"{alone:,} nodes of type {kind} ({alone / nodes:.0%}) have no edge; add their "
                "edges, or check that ids are spelt alike in edges and nodes"
            )


def _type_counts(graph: HeteroGraph, kind: str) -> dict[str, Any]:
    nodes = graph.nodes[kind]
    width = 0 if nodes.x is None else int(nodes.x.shape[1])
    filled = None if nodes.x is None else float(filled_per_row(nodes.x).mean() / width)
    return {
        "nodes": nodes.num_nodes,
        "features": width,
        "non_zero": filled,
        "isolated": int((graph.degrees(kind) == 0).sum()),
    }


def _relation_counts(relation: Relation) -> dict[str, Any]:
    sources, targets = relation.matrix.shape
    return {
        "edges": relation.num_edges,
        "per_source": relation.matrix.nnz / max(sources, 1),
        "per_target": relation.matrix.nnz / max(targets, 1),
    }
