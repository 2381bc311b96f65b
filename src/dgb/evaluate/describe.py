"""What sets a group of nodes apart, in the words of the user's table."""

import numpy as np

from dgb.arrays import Array
from dgb.data.graph import Graph
from dgb.data.names import Naming
from dgb.evaluate.labels import are_numbers
from dgb.evaluate.scores import class_names
from dgb.evaluate.why import Columns, unusual_columns


def describe_columns(columns: Columns, naming: Naming, nodes: Array, everyone: Array) -> list[str]:
    """Return the columns in which nodes differ most from all, the most so first."""
    places, means = unusual_columns(columns, nodes)
    usual = columns.mean[places]
    found = zip(places.tolist(), means.tolist(), usual.tolist(), strict=True)
    sets = (nodes, everyone)
    said = (naming.describe(place, (mean, most), sets, "all") for place, mean, most in found)
    return list(dict.fromkeys(said))


def describe_label(graph: Graph, nodes: Array) -> list[str]:
    """Return the most frequent label of nodes, nothing where they have none, or numbers."""
    if graph.labels is None or are_numbers(graph):
        return []
    labels = graph.labels[nodes]
    classes, counts = np.unique(labels[labels >= 0], return_counts=True)
    if not len(classes):
        return []
    best = counts.argmax()
    name = class_names(graph, classes[best : best + 1])[0]
    return [f"label {name} {counts[best] / counts.sum():.0%}"]
