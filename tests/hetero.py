"""Small heterogeneous graphs that the tests share."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from dgb.data.graph import Split
from dgb.data.typed.graph import HeteroGraph, make_hetero_graph, make_node_type, make_relation


def make_library(num_papers: int = 90, *, seed: int = 0) -> HeteroGraph:
    """Return papers in three planted classes, with authors and venues of mostly one class.

    Papers and authors have features, venues none. Papers also cite papers.
    """
    rng = np.random.default_rng(seed)
    labels = np.arange(num_papers) % 3
    authors, venues = np.arange(num_papers) % 3, np.arange(6) % 3
    nodes = {
        "paper": make_node_type(np.arange(num_papers) + 1000, _features(labels, rng)),
        "author": make_node_type(_names("a", len(authors)), _features(authors, rng, width=8)),
        "venue": make_node_type(_names("v", len(venues))),
    }
    relations = [
        make_relation("paper", "written", "author", _edges(labels, authors, 0.08, rng)),
        make_relation("venue", "prints", "paper", _edges(venues, labels, 0.4, rng)),
        make_relation("paper", "cites", "paper", _edges(labels, labels, 0.05, rng)),
    ]
    order = rng.permutation(num_papers)
    third = num_papers // 3
    split = Split(order[:third], order[third : 2 * third], order[2 * third :])
    return make_hetero_graph(
        "library",
        nodes,
        relations,
        "paper",
        labels=labels,
        label_names=("art", "law", "sea"),
        splits=(split,),
        split_names=("all",),
    )


def _names(letter: str, count: int) -> np.ndarray:
    return np.array([f"{letter}{i}" for i in range(count)], dtype=object)


def _features(labels: np.ndarray, rng: np.random.Generator, width: int = 12) -> sparse.csr_array:
    """Return words of which those of a class are more frequent in it."""
    rate = np.where(np.arange(width)[None] % 3 == labels[:, None], 0.5, 0.15)
    return sparse.csr_array((rng.random(rate.shape) < rate).astype(np.float32))


def _edges(
    left: np.ndarray, right: np.ndarray, rate: float, rng: np.random.Generator
) -> sparse.coo_array:
    """Return edges that mostly join the same class."""
    probability = np.where(left[:, None] == right[None], rate, rate / 10)
    return sparse.coo_array((rng.random(probability.shape) < probability).astype(np.float32))


def write_library(folder: Path, graph: HeteroGraph, *, has_labels: bool = True) -> str:
    """Write a library as a folder of tables, with years and kinds of papers; return its path."""
    for name, nodes in graph.nodes.items():
        frame = pd.DataFrame({"id": nodes.node_ids})
        if nodes.x is not None:
            words = {f"word{i}": column for i, column in enumerate(nodes.x.toarray().T)}
            frame = frame.assign(**words)
        if name == "paper":
            frame["year"] = 1990 + nodes.node_ids % 7
            frame["kind"] = np.array(["book", "note", "talk"])[nodes.node_ids % 3]
        if name == graph.target and has_labels:
            frame["label"] = np.array(graph.label_names)[graph.labels]
        write_table(folder / "nodes" / f"{name}.csv", frame)
    for relation in graph.relations:
        ends = (graph.nodes[relation.source].node_ids, graph.nodes[relation.target].node_ids)
        source, target = (ids[at] for ids, at in zip(ends, relation.matrix.nonzero(), strict=True))
        frame = pd.DataFrame({"source": source, "target": target})
        write_table(folder / "edges" / f"{relation.label}.csv", frame)
    return str(folder)


def write_table(path: Path, frame: pd.DataFrame) -> None:
    """Write a table of nodes or edges as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(path, index=False)


def shuffle_nodes(graph: HeteroGraph, name: str, order: np.ndarray) -> HeteroGraph:
    """Return the graph with the nodes of one type in another order; labels stay as they are."""
    nodes = graph.nodes[name]
    moved = make_node_type(nodes.node_ids[order], None if nodes.x is None else nodes.x[order])
    relations = []
    for relation in graph.relations:
        matrix = relation.matrix
        matrix = matrix[order] if relation.source == name else matrix
        matrix = matrix[:, order] if relation.target == name else matrix
        relations.append(make_relation(relation.source, relation.name, relation.target, matrix))
    return replace(graph, nodes={**graph.nodes, name: moved}, relations=tuple(relations))
