"""Link prediction on graphs of several node types: what is hidden, drawn and refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dgb.cookbook import load_recipe
from dgb.data.typed.graph import HeteroGraph
from dgb.data.typed.resolve import union_graph
from dgb.errors import DGBError
from dgb.evaluate.link_split import split_edges
from dgb.evaluate.links import LinkSplit, edge_scores, link_scores
from dgb.run.train import train
from tests.hetero import make_library

PARTS = ("train", "validation", "test")


@pytest.fixture
def library() -> HeteroGraph:
    return make_library()


def positions(graph: HeteroGraph) -> dict[str, range]:
    ends = np.cumsum([0, *(nodes.num_nodes for nodes in graph.nodes.values())])
    return {name: range(ends[i], ends[i + 1]) for i, name in enumerate(graph.nodes)}


def kinds(graph: HeteroGraph, pairs: np.ndarray) -> list[tuple[str, str]]:
    def kind(row: int) -> str:
        return next(name for name, rows in positions(graph).items() if row in rows)

    return sorted((kind(i), kind(j)) for i, j in pairs.tolist())


def hidden(split: LinkSplit) -> np.ndarray:
    return np.concatenate([split.validation.edges, split.test.edges])


def test_edges_of_all_relations_are_hidden_from_every_view(library: HeteroGraph) -> None:
    split = split_edges(library, 0, is_whole=True)
    whole, left = union_graph(library).toarray(), union_graph(split.train_graph).toarray()
    rows, columns = hidden(split).T
    assert (whole[rows, columns] > 0).all()
    assert (left[rows, columns] == 0).all() and (left[columns, rows] == 0).all()
    assert (left > 0).sum() == (whole > 0).sum() - 2 * len(rows)
    np.testing.assert_array_equal(split.adjacency.toarray() > 0, left > 0)
    recipe = load_recipe("relations", ["data.target=all", "encoder.width=4", "train.epochs=0"])
    inputs: Any = train(split.train_graph, recipe).setup.inputs
    count = sum(link.matrix.pattern.col.numel() for link in inputs.links)
    assert count == (left > 0).sum()  # nothing else carries rows from node to node


def test_pairs_are_of_the_types_of_their_relation_and_no_edges(library: HeteroGraph) -> None:
    split = split_edges(library, 3, is_whole=True)
    whole = union_graph(library).toarray()
    seen: set[tuple[int, ...]] = set()
    for part in PARTS:
        pairs = getattr(split, part)
        assert kinds(library, pairs.edges) == kinds(library, pairs.others)
        assert (whole[tuple(pairs.others.T)] == 0).all()
        both = {tuple(sorted(pair)) for pair in pairs.both().tolist()}
        assert len(both) == 2 * len(pairs.edges) and not both & seen
        seen |= both
    assert len(set(kinds(library, hidden(split)))) == len(library.relations)


def test_within_the_target_type_other_relations_stay(library: HeteroGraph) -> None:
    split = split_edges(library, 0)
    assert isinstance(split.train_graph, HeteroGraph)
    for old, new in zip(library.relations, split.train_graph.relations, strict=True):
        is_asked = old.source == old.target == library.target
        assert (new.num_edges < old.num_edges) == is_asked
        assert new.matrix.shape == old.matrix.shape
    assert split.adjacency.shape == (90, 90)


def test_links_are_scored_by_the_rows_that_are_embedded(library: HeteroGraph) -> None:
    split = split_edges(library, 0, is_whole=True)
    recipe = load_recipe("relations", ["data.target=all", "encoder.width=16", "train.epochs=20"])
    z = train(split.train_graph, recipe).embeddings()
    assert link_scores(z, split)["test_auc"] > 0.6
    assert 0 <= edge_scores(split)["test_auc"] <= 1


def test_without_a_relation_between_embedded_nodes_the_way_out_is_named(
    library: HeteroGraph,
) -> None:
    authors = replace(library, target="author", labels=None, splits=(), split_names=())
    with pytest.raises(DGBError, match=r"no relation joins two of type author; embed all types"):
        split_edges(authors, 0)
