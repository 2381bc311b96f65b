"""What holds for all methods: no test label seen, the same answer twice, settings that load."""

from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dgb.baselines.methods import METHODS, _read_settings, settings_hash, settings_of
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.measure.compare import choose_methods
from dgb.measure.measure import lacks, run_method
from dgb.recipe import Recipe

PLAIN = [key for key, method in METHODS.items() if "one" in method.graphs]


def quick(key: str) -> Any:
    """Return settings of a method that take no time."""
    settings = settings_of(key, "two-blocks", Recipe())
    if isinstance(settings, Recipe):
        return replace(settings, train=replace(settings.train, epochs=2))
    return replace(settings, epochs=2) if hasattr(settings, "epochs") else settings


def dense(result: Any) -> Any:
    return result.toarray() if hasattr(result, "toarray") else np.asarray(result)


@pytest.mark.parametrize("key", PLAIN)
def test_test_labels_are_not_seen(key: str, two_blocks: Graph) -> None:
    assert two_blocks.labels is not None
    swapped = two_blocks.labels.copy()
    test = two_blocks.splits[0].test
    swapped[test] = 1 - swapped[test]
    first, second = (
        run_method(key, graph, quick(key), 0)
        for graph in (two_blocks, replace(two_blocks, labels=swapped))
    )
    np.testing.assert_array_equal(dense(first), dense(second))


@pytest.mark.parametrize("key", [k for k in PLAIN if not METHODS[k].classifies])
def test_no_label_at_all_reaches_a_method_that_represents(
    key: str, two_blocks: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Graph] = []

    def spy(graph: Graph, settings: Any, seed: int) -> Any:  # noqa: ARG001
        seen.append(graph)
        return graph.x

    monkeypatch.setattr(METHODS[key].file, METHODS[key].function, spy)
    run_method(key, two_blocks, quick(key), 0)
    assert seen[0].labels is None and not seen[0].splits


@pytest.mark.parametrize("key", PLAIN)
def test_a_graph_without_edges_is_no_failure(key: str, two_blocks: Graph) -> None:
    nothing = sparse.csr_array(two_blocks.adjacency.shape, dtype=np.float32)
    bare = replace(two_blocks, adjacency=nothing)
    assert np.isfinite(dense(run_method(key, bare, quick(key), 0))).all()


@pytest.mark.parametrize("key", PLAIN)
def test_a_result_has_a_row_or_a_class_a_node(key: str, two_blocks: Graph) -> None:
    result = dense(run_method(key, two_blocks, quick(key), 1))
    assert result.shape[0] == two_blocks.num_nodes
    assert np.isfinite(result).all()
    if METHODS[key].classifies:
        assert set(result) <= {0, 1}
    else:
        assert result.ndim == 2


@pytest.mark.parametrize("key", METHODS)
@pytest.mark.parametrize(
    "graph", sorted({"another", *(g for t in _read_settings().values() for g in t)})
)
def test_settings_load(key: str, graph: str) -> None:
    settings = settings_of(key, graph, Recipe())
    for name, value in METHODS[key].fixed.items():
        assert attrgetter(name)(settings) == value


def test_settings_are_of_methods_that_exist() -> None:
    assert set(_read_settings()) <= set(METHODS)


def test_methods_of_one_file_have_different_hashes() -> None:
    hashes = {
        settings_hash(k, settings_of(k, "cora", Recipe())) for k in ("gmi-mean", "gmi-adaptive")
    }
    assert len(hashes) == 2


def test_an_unknown_method_is_refused_with_the_nearest() -> None:
    with pytest.raises(DGBError, match="did you mean 'dgi'"):
        choose_methods(["dgii"])


def test_what_a_graph_lacks_is_said(two_blocks: Graph) -> None:
    bare = replace(two_blocks, labels=None, splits=())
    assert "labels" in (lacks(METHODS["gcn"], bare) or "")
    assert lacks(METHODS["dgi"], bare) is None
    assert lacks(METHODS["deepwalk-alone"], replace(bare, x=two_blocks.x[:, :0])) is None
    assert "features" in (lacks(METHODS["dgi"], replace(bare, x=two_blocks.x[:, :0])) or "")
