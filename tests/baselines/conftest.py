"""A graph of two blocks that every method has to learn, and what it scores on it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from torch import Tensor

from dgb.baselines.inputs import as_dense, features
from dgb.baselines.methods import METHODS
from dgb.data.graph import Graph, Split, make_graph
from dgb.measure.measure import run_method, score_result
from dgb.recipe import Probe


@pytest.fixture(autouse=True, scope="session")
def _on_the_cpu() -> Iterator[None]:
    """Hide a GPU: what these tests hold against each other lies on the CPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torch.cuda.is_available", lambda: False)
        yield


@pytest.fixture(scope="session")
def two_blocks() -> Graph:
    """Return 120 nodes in two blocks; features hint at the block, too weakly to tell it alone."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 60)
    is_same = labels[:, None] == labels[None]
    edges = np.triu(rng.random((120, 120)) < np.where(is_same, 0.12, 0.01), 1)
    is_own = np.arange(40)[None] // 20 == labels[:, None]
    x = rng.random((120, 40)) < np.where(is_own, 0.16, 0.08)
    order = rng.permutation(120)
    split = Split(order[:20], order[20:50], order[50:])
    return make_graph(
        "two-blocks",
        sparse.csr_array(x.astype(np.float32)),
        sparse.csr_array(edges.astype(np.float32)),
        labels=labels,
        splits=(split,),
    )


def dense_features(graph: Graph) -> Tensor:
    """Return row-normalised X as an ordinary tensor."""
    return as_dense(features(graph))


def accuracy_of(key: str, graph: Graph, seed: int = 0, **changed: Any) -> float:
    """Return the test accuracy of a method with its defaults, some of them changed."""
    method = METHODS[key]
    settings = replace(method.settings_class(**method.fixed), **changed)
    result = run_method(key, graph, settings, seed)
    return score_result(method, result, graph, seed, Probe()).test
