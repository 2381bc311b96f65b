"""Meta-paths: found, parsed, and multiplied out against dense products."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy import sparse

from dgb.data.typed.graph import HeteroGraph, make_hetero_graph, make_node_type, make_relation
from dgb.errors import DGBError
from dgb.recipe import DiffusionRecipe
from dgb.views.metapaths.chain import Chain, make_chains
from dgb.views.metapaths.density import ENTRY, materialise, measure_density, refuse_too_dense
from dgb.views.metapaths.inputs import make_path_operators
from dgb.views.metapaths.paths import choose_metapaths, find_metapaths, parse_metapath
from dgb.views.operators import make_adj, make_diff
from tests.hetero import make_library

CPU = torch.device("cpu")
PATHS = (
    "paper-author-paper",
    "paper-venue-paper",
    "paper-cites-paper",
    "paper-author-paper-venue-paper",
)
WEIGHTS = ("counts", "walk")


@pytest.fixture
def library() -> HeteroGraph:
    return make_library(36)


def dense_path(graph: HeteroGraph, name: str, weights: str) -> np.ndarray:
    """Return the matrix of a meta-path by dense products, as its definition says."""
    steps = parse_metapath(graph, name).steps
    matrices = []
    for step in steps:
        matrix = graph.relations[step.relation].matrix.toarray().astype(np.float64)
        matrices.append(matrix.T if step.direction < 0 else matrix)
    product = matrices[0]
    for before, matrix in pairwise(matrices):
        if weights == "walk":  # at the node between two relations, by both of its degrees
            inward, outward = before.sum(axis=0), matrix.sum(axis=1)
            product = product / np.sqrt(np.where(inward > 0, inward, 1))
            product = product / np.sqrt(np.where(outward > 0, outward, 1))
        product = product @ matrix
    return np.asarray((product + product.T) / 2)


def chain_of(graph: HeteroGraph, name: str, weights: str) -> Chain:
    path = parse_metapath(graph, name)
    return make_chains(graph, [path], weights, CPU)[path.name]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", PATHS)
def test_a_chain_multiplies_as_the_product_of_its_relations(
    library: HeteroGraph, name: str, weights: str
) -> None:
    expected = dense_path(library, name, weights)
    eye = torch.eye(len(expected))
    chain = chain_of(library, name, weights)
    np.testing.assert_allclose(chain.multiply(eye).numpy(), expected, atol=1e-5)
    np.testing.assert_allclose(chain.degree[:, 0].numpy(), expected.sum(axis=1), rtol=1e-5)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("kernel", ["ppr", "heat"])
def test_adj_and_diff_are_those_of_the_multiplied_out_graph(
    library: HeteroGraph, name: str, weights: str, kernel: str
) -> None:
    recipe = DiffusionRecipe(kernel=kernel, error=1e-5)
    path = parse_metapath(library, name)
    operators = make_path_operators((chain_of(library, name, weights),), recipe, {"adj", "diff"})
    graph = materialise(library, path, weights)
    eye = torch.eye(graph.shape[0])
    for operator, expected in (
        (operators["adj"], make_adj(graph)),
        (operators["diff"], make_diff(graph, recipe)),
    ):
        np.testing.assert_allclose(operator.multiply(eye), expected.multiply(eye), atol=2e-5)
        np.testing.assert_allclose(
            operator.multiply_transposed(eye), expected.multiply(eye).T, atol=2e-5
        )


def test_nodes_left_out_on_the_way_take_their_paths_with_them(library: HeteroGraph) -> None:
    chain = chain_of(library, "paper-author-paper-author-paper", "counts")
    written = library.relations[0].matrix.toarray()
    keep_author = np.arange(written.shape[1]) % 2
    keep_paper = np.arange(len(written)) % 3 > 0
    half = written * keep_author
    middle = half @ half.T * keep_paper
    kept = {
        "author": torch.from_numpy(keep_author).float()[:, None],
        "paper": torch.from_numpy(keep_paper).float()[:, None],
    }
    found = replace(chain, kept=kept).multiply(torch.eye(len(written)))
    np.testing.assert_allclose(found, middle @ (half @ half.T), atol=1e-5)


def test_degrees_of_a_chain_follow_the_nodes_that_are_kept(library: HeteroGraph) -> None:
    chain = chain_of(library, "paper-author-paper", "counts")
    none = replace(chain, kept={"author": torch.zeros(library.nodes["author"].num_nodes, 1)})
    assert chain.degree.max() > 0
    assert none.degree.max() == 0


def test_all_ways_are_found_once_the_short_ones_first(library: HeteroGraph) -> None:
    assert [path.name for path in find_metapaths(library, 2, 99)] == [
        "paper-paper",
        "paper-author-paper",
        "paper-venue-paper",
        "paper-paper-paper",
    ]
    found = find_metapaths(library, 4, 99)
    steps = {path.steps for path in found}
    assert len(steps) == len(found)
    assert not any(path.mirrored in steps for path in found if not path.is_symmetric)
    # With c for one citation, a and v for the way over an author or a venue: c · a v cc ·
    # ca cv ccc · aa av vv cca cac ccv cvc cccc; the others are mirror images.
    assert len(found) == 1 + 3 + 3 + 8


def test_a_meta_path_is_read_by_types_relations_or_letters(library: HeteroGraph) -> None:
    assert parse_metapath(library, "paper-author-paper").name == "paper-author-paper"
    named = parse_metapath(library, "paper-written-author-written-paper")
    assert named == parse_metapath(library, "paper - author - paper")
    ones = sparse.csr_array(np.ones((3, 2), np.float32))
    letters = make_hetero_graph(
        "letters",
        {"p": make_node_type(np.arange(3)), "a": make_node_type(np.arange(2))},
        [make_relation("p", "pa", "a", ones)],
        "p",
    )
    assert parse_metapath(letters, "pap").name == "p-a-p"


def test_names_with_hyphens_are_read_as_they_are_written(library: HeteroGraph) -> None:
    nodes = {"my-paper": library.nodes["paper"], "field-of-study": library.nodes["venue"]}
    edges = library.relations[1].matrix
    relations = [
        make_relation("field-of-study", name, "my-paper", edges) for name in ("is-of", "of")
    ]
    graph = make_hetero_graph("hyphens", nodes, relations, "my-paper")
    found = find_metapaths(graph, 2, 99)
    assert "my-paper-is-of-field-of-study-of-my-paper" in [path.name for path in found]
    assert [parse_metapath(graph, path.name) for path in found] == list(found)


def test_two_relations_between_the_same_types_are_told_apart() -> None:
    buys, sees = np.eye(3, dtype=np.float32), np.ones((3, 3), np.float32)
    nodes = {"user": make_node_type(np.arange(3)), "item": make_node_type(np.arange(3))}
    relations = [
        make_relation("user", name, "item", sparse.csr_array(matrix))
        for name, matrix in (("buys", buys), ("sees", sees))
    ]
    shop = make_hetero_graph("shop", nodes, relations, "user")
    names = [path.name for path in find_metapaths(shop, 2, 99)]
    assert names == [
        "user-buys-item-buys-user",
        "user-buys-item-sees-user",
        "user-sees-item-sees-user",
    ]
    for name in names:
        assert parse_metapath(shop, name).name == name
    with pytest.raises(DGBError, match="buys, sees; write user-buys-item"):
        parse_metapath(shop, "user-item-user")
    mixed = chain_of(shop, names[1], "counts").multiply(torch.eye(3))
    np.testing.assert_allclose(mixed, np.ones((3, 3)))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("paper-auhtor-paper", "did you mean 'author'"),
        ("author-paper-author", "must lead from paper to paper"),
        ("paper-author", "must lead from paper to paper"),
        ("paper", "must lead from paper to paper"),
        ("paper-author-venue-paper", "no relation joins author and venue"),
        ("paper-author-paper-cites", "must lead from paper to paper"),
    ],
)
def test_a_wrong_meta_path_is_refused_with_what_is_wrong(
    library: HeteroGraph, name: str, problem: str
) -> None:
    with pytest.raises(DGBError, match=problem):
        parse_metapath(library, name)


def test_too_many_and_no_meta_paths_are_refused(library: HeteroGraph) -> None:
    with pytest.raises(DGBError, match=r"lower hetero\.max_length"):
        choose_metapaths(library, (), 7)
    alone = make_hetero_graph("alone", library.nodes, (), "paper")
    with pytest.raises(DGBError, match=r"hetero\.encoder=relations"):
        choose_metapaths(alone, (), 4)


@pytest.mark.parametrize("name", PATHS)
def test_density_counts_the_pairs_that_are_joined(library: HeteroGraph, name: str) -> None:
    density = measure_density(library, parse_metapath(library, name))
    assert density.pairs == np.count_nonzero(dense_path(library, name, "counts"))
    assert density.error == 0


def test_density_of_many_nodes_is_estimated_from_a_sample() -> None:
    library = make_library(900)
    density = measure_density(library, parse_metapath(library, "paper-author-paper"))
    exact = np.count_nonzero(dense_path(library, "paper-author-paper", "counts")) / 900
    assert density.error > 0
    assert abs(density.mean - exact) < 4 * density.error


def test_graphs_that_do_not_fit_together_are_not_multiplied_out(library: HeteroGraph) -> None:
    paths = find_metapaths(library, 2, 99)
    sizes = [measure_density(library, path).pairs * ENTRY / 1e9 for path in paths]
    limit = max(sizes) * 1.1  # each alone would fit
    for path in paths:
        refuse_too_dense(library, [path], limit)
    with pytest.raises(DGBError, match=r"hetero\.materialise=false"):
        refuse_too_dense(library, paths, limit)


def named_like_types() -> HeteroGraph:
    """Return a graph with a relation that is called like one of its types."""
    nodes = {name: make_node_type(np.arange(2)) for name in ("p", "x", "a")}
    ends = (("p", "x", "a"), ("p", "y", "a"), ("p", "to", "x"), ("x", "to", "a"))
    edges = sparse.csr_array(np.eye(2, dtype=np.float32))
    return make_hetero_graph("odd", nodes, [make_relation(*e, edges) for e in ends], "p")


def test_found_paths_keep_their_steps_when_they_are_read_by_name(library: HeteroGraph) -> None:
    for path in find_metapaths(library, 4, 99):
        assert parse_metapath(library, path.name) == path


def test_a_name_that_can_be_read_in_two_ways_is_refused() -> None:
    odd = named_like_types()
    with pytest.raises(DGBError, match="can be read in 2 ways"):
        parse_metapath(odd, "p-x-a-y-p")
    assert len(parse_metapath(odd, "p-y-a-y-p").steps) == 2
    with pytest.raises(DGBError, match="called like a type"):
        choose_metapaths(odd, (), 4)


def test_the_search_ends_where_there_are_too_many(library: HeteroGraph) -> None:
    assert len(find_metapaths(library, 8, 5)) == 6


def test_a_relation_without_edges_makes_no_meta_path(library: HeteroGraph) -> None:
    prints = make_relation("venue", "prints", "paper", sparse.csr_array((6, 36)))
    bare = replace(library, relations=(library.relations[0], prints))
    assert [path.name for path in find_metapaths(bare, 2, 99)] == ["paper-author-paper"]
