"""Run a method with the labels it may see, then score what it returned: one evaluator for all."""

from typing import Any

import numpy as np

from dgb.baselines.methods import METHODS, Method, lacks
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.evaluate.probe import accuracy, linear_probe
from dgb.evaluate.scores import choose_split, without_labels, without_test_labels
from dgb.recipe import Probe


def run_method(key: str, graph: Graph, settings: Any, seed: int) -> Any:
    """Return representations or classes; the method is shown no test label.

    A method that does not classify is shown no label at all.
    """
    method = METHODS[key]
    shown = without_test_labels(graph, seed)
    if reason := lacks(method, shown):
        raise DGBError(f"{key} cannot run on {graph.name}: {reason}")
    if method.task != "classify":
        shown = without_labels(shown)
    return method.run(shown, settings, seed)


def score_result(
    method: Method, result: Any, graph: Graph, seed: int, probe: Probe
) -> dict[str, Any]:
    """Return validation and test accuracy, which reads the test labels once."""
    assert graph.labels is not None
    split = choose_split(graph, seed)
    if method.task != "classify":
        scores = linear_probe(result, graph.labels, split, probe, seed)
        found = {"val_accuracy": scores.validation, "test_accuracy": scores.test}
        return found | scores.more | {"probe": scores.settings}
    parts = {"val_accuracy": split.validation, "test_accuracy": split.test}
    return {name: accuracy(np.asarray(result)[p], graph.labels[p]) for name, p in parts.items()}
