"""Small graphs that every test can use."""

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from xdist.scheduler import LoadScopeScheduling

from dgb.arrays import Array
from dgb.data.graph import Graph, Split, make_graph
from dgb.evaluate import cluster as clustering
from dgb.evaluate import map as drawing
from dgb.recipe import Recipe
from dgb.train import loop
from dgb.views.inputs import Inputs
from dgb.views.sampler import epoch_sampler
from dgb.views.view import View

torch.set_num_threads(1)  # the graphs are tiny: a second thread would only wait


# One setting of the probe in place of sixteen, three times a run: for tests of all but scores.
QUICK_PROBE = ("probe.weight_decays=[0.01]", "probe.normalise=l2")

# Parts with the longest tests, the longest first: begun last, one would be waited for alone.
LONG = ("ray", "test_docs.py", "measure", "supply", "kill", "fuzz", "reproduce", "run", "tune")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    parts = {part: place for place, part in enumerate(LONG)}
    folder = Path(__file__).parent
    items.sort(key=lambda item: parts.get(item.path.relative_to(folder).parts[0], len(LONG)))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process, for what they share, and one Ray at a time."""
    # xdist has groups for this, which it looks for in vain in names of tests since pytest 9.
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = lambda test: "ray" if "tests/ray/" in test else test.split("::")[0]
    return scheduler


@pytest.fixture(autouse=True, scope="session")
def _one_core() -> Iterator[None]:
    """Let measurements share one core among their threads: two would spin, here and hereafter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.cpu_count", lambda: 1)
        yield


@pytest.fixture(autouse=True, scope="session")
def _few_steps() -> Iterator[None]:
    """Draw maps and clusters in few steps."""
    with pytest.MonkeyPatch.context() as patch:
        cut_short(patch.setattr)
        yield


def cut_short(set_value: Callable[[Any, str, Any], None] = setattr) -> None:
    """Cut short what takes several times as long as all else that tiny runs do."""
    for name in ("EARLY_STEPS", "STEPS"):
        set_value(drawing, name, 5)
    set_value(clustering, "COUNTS", range(2, 6))


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture
def adjacency() -> Any:
    """Return a weighted graph of 12 nodes with two components and one isolated node."""
    rng = np.random.default_rng(1)
    dense = np.triu(rng.random((12, 12)) < 0.35, 1) * rng.uniform(0.5, 2, (12, 12))
    dense[:8, 8:] = 0  # nodes 8–10 are a component of their own, node 11 is alone
    dense[8, 9] = dense[9, 10] = 1.5
    dense[:, 11] = 0
    return sparse.csr_array((dense + dense.T).astype(np.float32))


@pytest.fixture
def ctrl_c_in_epoch_3(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Press Ctrl-C within the third epoch; return a list that grows by one an epoch."""
    real, calls = loop.train_epoch, []

    def pressing(*arguments: Any) -> dict[str, Any]:
        calls.append(1)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return real(*arguments)

    monkeypatch.setattr(loop, "train_epoch", pressing)
    return calls


@pytest.fixture
def blocks() -> Graph:
    """Return 90 nodes in three planted classes with sparse features and a split."""
    return make_blocks(90)


@pytest.fixture(params=["sparse", "dense"])
def graph(request: pytest.FixtureRequest, blocks: Graph) -> Graph:
    """Return the blocks with their sparse features, and with dense ones."""
    return blocks if request.param == "sparse" else with_dense_features(blocks)


def with_dense_features(graph: Graph) -> Graph:
    """Return the graph with other features, none of which is zero."""
    rng = np.random.default_rng(7)
    return replace(graph, x=rng.random((graph.num_nodes, 11), dtype=np.float32) + 0.1)


def take_nodes(graph: Graph, nodes: Array) -> Graph:
    """Return the graph of some nodes, without labels."""
    adjacency = graph.adjacency[nodes][:, nodes]
    part = replace(graph, x=graph.x[nodes], adjacency=adjacency, node_ids=graph.node_ids[nodes])
    return replace(part, labels=None, label_names=(), splits=())


def draw_views(inputs: Inputs, recipe: Recipe, generator: torch.Generator) -> tuple[View, View]:
    """Draw both views of the whole graph once."""
    ((view1, view2),) = epoch_sampler(inputs, recipe, generator)()
    assert isinstance(view1, View) and isinstance(view2, View)
    return view1, view2


def make_blocks(num_nodes: int, seed: int = 0) -> Graph:
    """Return a planted-partition graph whose features point at its three classes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, num_nodes)
    is_same = labels[:, None] == labels[None]
    edges = np.triu(rng.random((num_nodes, num_nodes)) < np.where(is_same, 0.12, 0.01), 1)
    x = (rng.random((num_nodes, 60)) < 0.05).astype(np.float32)
    x[np.arange(num_nodes), labels * 20 + rng.integers(0, 20, num_nodes)] = 1
    order = rng.permutation(num_nodes)
    third = num_nodes // 3
    split = Split(order[:third], order[third : 2 * third], order[2 * third :])
    ids = np.array([f"paper-{i}" for i in range(num_nodes)])
    return make_graph(
        "blocks",
        sparse.csr_array(x),
        sparse.csr_array(edges.astype(np.float32)),
        node_ids=ids,
        labels=labels,
        label_names=("a", "b", "c"),
        splits=(split,),
    )
