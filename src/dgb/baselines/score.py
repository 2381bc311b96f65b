"""Run a method with the labels it may see, then score what it returned: one evaluator for all."""

from typing import Any

import numpy as np

from dgb.baselines.methods import METHODS, Method
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph, HeteroGraph
from dgb.errors import DGBError
from dgb.evaluate.labels import choose_split
from dgb.evaluate.probe import ProbeScores, accuracy, linear_probe
from dgb.evaluate.scores import without_labels, without_test_labels
from dgb.recipe import Probe


def lacks(method: Method, graph: AnyGraph) -> str | None:
    """Return why a method cannot run on this graph, None where it can."""
    if isinstance(graph, HeteroGraph):
        if "several" not in method.graphs:
            return "it needs a graph of one node type"
        lacks_features = method.function == "raw" and graph.nodes[graph.target].x is None
    else:
        if "one" not in method.graphs:
            return "it needs a graph of several node types"
        if "labels" in method.needs and graph.labels is None:
            return "it learns from labels, and the graph has none to learn from"
        lacks_features = "features" in method.needs and graph.num_features == 0
    return "it learns from features, and the graph has none" if lacks_features else None


def run_method(key: str, graph: AnyGraph, settings: Any, seed: int) -> Any:
    """Return representations or classes; the method is shown no test label.

    A method that does not classify is shown no label at all.
    """
    method = METHODS[key]
    shown = without_test_labels(graph, seed)
    if reason := lacks(method, shown):
        raise DGBError(f"{key} cannot run on {graph.name}: {reason}")
    if not method.classifies:
        shown = without_labels(shown)
    return method.run(shown, settings, seed)


def score_result(method: Method, result: Any, graph: Graph, seed: int, probe: Probe) -> ProbeScores:
    """Return accuracy on validation and test, which reads the test labels once."""
    assert graph.labels is not None
    labels, split = graph.labels, choose_split(graph, seed)
    if not method.classifies:
        return linear_probe(result, labels, split, probe, seed)
    predicted = np.asarray(result)
    right = [accuracy(predicted[part], labels[part]) for part in (split.validation, split.test)]
    return ProbeScores(right[0], right[1], settings={})
