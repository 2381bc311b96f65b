"""The part of a graph that some of its nodes make up."""

from dataclasses import replace

import numpy as np

from dgb.arrays import Array
from dgb.data.graph import Graph, Split


def subgraph(graph: Graph, nodes: Array) -> Graph:
    """Return the graph of these nodes alone, in this order, with the edges among them."""
    place = np.full(graph.num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    splits = tuple(
        Split(*(_kept(place, part) for part in (split.train, split.validation, split.test)))
        for split in graph.splits
    )
    return replace(
        graph,
        x=graph.x[nodes],
        adjacency=graph.adjacency[nodes][:, nodes],
        node_ids=graph.node_ids[nodes],
        labels=None if graph.labels is None else graph.labels[nodes],
        splits=splits,
    )


def _kept(place: Array, part: Array) -> Array:
    moved = place[part]
    return moved[moved >= 0]
