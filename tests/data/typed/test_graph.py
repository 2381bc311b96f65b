"""The record of a heterogeneous graph, and features for types without any."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from dgb.data.typed.graph import make_hetero_graph, make_node_type, make_relation
from dgb.data.typed.resolve import union_graph, union_ids, with_features, with_target
from dgb.errors import DGBError
from tests.hetero import make_library


def test_an_edge_given_twice_is_one_edge_with_its_largest_weight() -> None:
    edges = sparse.coo_array(([2.0, 5.0, 0.0], ([0, 0, 1], [1, 1, 2])), shape=(2, 3))
    relation = make_relation("user", "buys", "item", edges)
    np.testing.assert_array_equal(relation.matrix.toarray(), [[0, 5, 0], [0, 0, 0]])
    assert relation.num_edges == 1


def test_a_relation_between_types_keeps_pairs_of_equal_positions() -> None:
    relation = make_relation("user", "buys", "item", sparse.coo_array(np.eye(3)))
    assert relation.num_edges == 3  # no self-loops: user 0 is not item 0


def test_a_relation_within_a_type_has_no_direction_and_no_loops() -> None:
    edges = sparse.coo_array(np.array([[1.0, 1.0], [0.0, 0.0]]))
    relation = make_relation("paper", "cites", "paper", edges)
    np.testing.assert_array_equal(relation.matrix.toarray(), [[0, 1], [1, 0]])
    assert relation.num_edges == 1


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_impossible_weights_are_refused(weight: float) -> None:
    with pytest.raises(DGBError, match="finite and not negative"):
        make_relation("a", "r", "b", sparse.coo_array([[weight]]))


def test_parts_that_do_not_fit_are_refused() -> None:
    nodes = {"user": make_node_type(np.arange(2)), "item": make_node_type(np.arange(3))}
    buys = make_relation("user", "buys", "item", sparse.coo_array(np.ones((2, 3))))
    with pytest.raises(DGBError, match="did you mean 'item'"):
        make_hetero_graph("shop", nodes, [buys], "itme")
    turned = make_relation("item", "bought", "user", sparse.coo_array(np.ones((2, 3))))
    with pytest.raises(DGBError, match="item-bought-user is 2 × 3, but there are 3 nodes"):
        make_hetero_graph("shop", nodes, [turned], "user")
    lost = make_relation("user", "sees", "page", sparse.coo_array(np.ones((2, 3))))
    with pytest.raises(DGBError, match="'page'"):
        make_hetero_graph("shop", nodes, [lost], "user")
    with pytest.raises(DGBError, match="2 nodes of type user but labels of shape"):
        make_hetero_graph("shop", nodes, [buys], "user", labels=[0, 1, 0])
    with pytest.raises(DGBError, match="2 nodes but 3 rows"):
        make_node_type(np.arange(2), np.ones((3, 1)))


@pytest.mark.parametrize(
    ("source", "name", "words"),
    [
        ("user,x", "buys", r"shop: the type 'user,x' has a comma.*rename it, such as 'user_x'"),
        ("user", "buys,x", r"shop: the relation 'buys,x' has a comma.*such as 'buys_x'"),
        ("all", "buys", r"shop: a type is called 'all', but data\.target=all .*rename it"),
    ],
)
def test_names_that_no_setting_can_be_written_with_are_refused(
    source: str, name: str, words: str
) -> None:
    nodes = {source: make_node_type(np.arange(2)), "item": make_node_type(np.arange(3))}
    buys = make_relation(source, name, "item", sparse.coo_array(np.ones((2, 3))))
    with pytest.raises(DGBError, match=words):
        make_hetero_graph("shop", nodes, [buys], "item")


def test_a_relation_may_have_the_name_of_a_type_between_others() -> None:
    nodes = {kind: make_node_type(np.arange(2)) for kind in ("user", "item", "shop")}
    ends = {"shop": ("user", "item"), "all": ("item", "shop")}
    edges = sparse.coo_array(np.ones((2, 2)))
    relations = [make_relation(one, name, two, edges) for name, (one, two) in ends.items()]
    graph = make_hetero_graph("town", nodes, relations, "user")
    assert [relation.name for relation in graph.relations] == ["shop", "all"]


def test_labels_are_said_to_be_unused_only_where_there_are_some() -> None:
    library = make_library(36)
    note = "labels and splits are of paper and not used, since author is embedded"
    assert with_target(library, "author").notes == (note,)
    assert with_target(replace(library, labels=None), "author").notes == (note,)
    bare = with_target(replace(library, labels=None, splits=()), "author")
    assert (bare.target, bare.notes) == ("author", ())


def test_the_union_joins_all_types_and_keeps_equal_ids_apart() -> None:
    nodes = {"user": make_node_type(np.arange(2)), "item": make_node_type(np.arange(2))}
    buys = make_relation("user", "buys", "item", sparse.coo_array([[1.0, 0.0], [0.0, 1.0]]))
    shop = make_hetero_graph("shop", nodes, [buys], "user")
    expected = [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]
    np.testing.assert_array_equal(union_graph(shop).toarray(), expected)
    assert union_ids(shop).tolist() == ["user:0", "user:1", "item:0", "item:1"]


def test_types_without_features_are_given_some_and_a_note_says_so() -> None:
    library = make_library(36)
    walked = with_features(library, library.nodes, "walk")
    assert walked.nodes["venue"].x is not None
    assert walked.nodes["venue"].x.shape == (6, 128)
    assert walked.nodes["paper"] is library.nodes["paper"]
    assert "venue" in walked.notes[-1]
    learnt = with_features(library, ["venue"], "learnt")
    np.testing.assert_array_equal(sparse.csr_array(learnt.nodes["venue"].x).toarray(), np.eye(6))
    assert with_features(library, ["paper"], "walk") is library
