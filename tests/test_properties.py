"""What must hold of every graph: order, lonely nodes and the scale of weights, as documented."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph, make_graph
from dgb.data.structure import structural_features
from dgb.model.encoder import GCNEncoder
from dgb.recipe import Recipe
from dgb.run.model import embed_graph
from dgb.run.resolve import resolve_recipe
from dgb.run.setup import embedded_ids, make_setup
from tests.hetero import make_library, shuffle_nodes

TOLERANCE = 1e-5
WAYS = {
    "adj": [],
    "diff": ["embed.operator=diff"],
    "heat": ["embed.operator=diff", "diffusion.kernel=heat"],
    "top 3": ["embed.operator=diff", "diffusion.top_k=3"],
    "both": ["embed.operator=adj+diff"],
    "plus": ["embed.smooth=0.2", "embed.features=true"],
    "two layers": ["encoder.layers=2"],
    "rows": ["train.batch_size=2"],
}
BLOCKS = ["embed.blocks=diffused,structure", "embed.diffused_nearest=3"]
# The mean of all rows, which tells who is alike, moves with every node that comes.
IN_ANY_ORDER = WAYS | {
    "joined": BLOCKS,
    "joined and centred": [*BLOCKS, "embed.centre=true", "embed.normalise=block"],
}
EVERY = settings(max_examples=25, deadline=None, derandomize=True, database=None)


def recipe_of(way: str) -> Recipe:
    return load_recipe("paper", ["encoder.width=6", *IN_ANY_ORDER[way]])


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Draw a weighted graph that may have several components and nodes without edges."""
    n, seed = draw(st.integers(3, 14)), draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    edges = np.triu(rng.random((n, n)) < draw(st.floats(0.0, 0.7)), 1) * rng.uniform(0.1, 5, (n, n))
    x = rng.standard_normal((n, 5)) * (rng.random((n, 5)) < 0.8)
    x = x[rng.integers(3, size=n)] if draw(st.booleans()) else x  # of a few kinds
    rows = sparse.csr_array(x) if draw(st.booleans()) else x
    ids = np.array([f"n{i}" for i in range(n)], object)
    return make_graph("drawn", rows, sparse.csr_array(edges), node_ids=ids)


def embedded(graph: Graph, recipe: Recipe) -> np.ndarray:
    """Embed by an encoder whose weights do not depend on the graph."""
    encoder = GCNEncoder(graph.num_features, recipe.encoder, torch.Generator().manual_seed(3))
    return embed_graph(encoder, graph, recipe, is_own=True)


def with_order(graph: Graph, order: np.ndarray) -> Graph:
    return replace(
        graph,
        x=graph.x[order],
        adjacency=sparse.csr_array(graph.adjacency[order][:, order]),
        node_ids=graph.node_ids[order],
    )


def with_lonely_node(graph: Graph) -> Graph:
    """Return the graph with one more node, in the middle, that has features and no edge."""
    at = graph.num_nodes // 2
    places = np.delete(np.arange(graph.num_nodes + 1), at)
    coo = graph.adjacency.tocoo()
    size = (graph.num_nodes + 1,) * 2
    moved = sparse.csr_array((coo.data, (places[coo.row], places[coo.col])), shape=size)
    dense = graph.x.toarray() if sparse.issparse(graph.x) else graph.x
    x = np.insert(dense, at, np.float32(0.7), axis=0)
    x = sparse.csr_array(x) if sparse.issparse(graph.x) else x
    ids = np.insert(graph.node_ids, at, "lonely")
    return replace(graph, x=x, adjacency=moved, node_ids=ids)


@pytest.mark.parametrize("way", IN_ANY_ORDER)
@EVERY
@given(graph=graphs(), seed=st.integers(0, 99))
def test_another_order_of_nodes_gives_the_same_rows_in_that_order(
    way: str, graph: Graph, seed: int
) -> None:
    order, recipe = np.random.default_rng(seed).permutation(graph.num_nodes), recipe_of(way)
    moved = embedded(with_order(graph, order), recipe)
    np.testing.assert_allclose(moved, embedded(graph, recipe)[order], atol=TOLERANCE)


@pytest.mark.parametrize("way", WAYS)
@EVERY
@given(graph=graphs())
def test_a_lonely_node_leaves_the_others_as_they_are(way: str, graph: Graph) -> None:
    recipe, at = recipe_of(way), graph.num_nodes // 2
    with_it = np.delete(embedded(with_lonely_node(graph), recipe), at, axis=0)
    np.testing.assert_allclose(with_it, embedded(graph, recipe), atol=1e-6)


@EVERY
@given(graph=graphs(), factor=st.floats(0.01, 100))
def test_diffusion_does_not_depend_on_the_scale_of_weights(graph: Graph, factor: float) -> None:
    scaled = replace(graph, adjacency=graph.adjacency * np.float32(factor))
    for way in ("diff", "heat"):
        one, other = (embedded(g, recipe_of(way)) for g in (graph, scaled))
        np.testing.assert_allclose(one, other, atol=TOLERANCE)
    for kind in ("walk", "ppr"):
        one, other = (structural_features(g.adjacency, g.node_ids, kind) for g in (graph, scaled))
        np.testing.assert_allclose(one, other, atol=1e-4)


@EVERY
@given(graph=graphs(), factor=st.floats(0.01, 100))
def test_eq_1_weighs_edges_against_a_loop_of_weight_one(graph: Graph, factor: float) -> None:
    recipe = recipe_of("adj")
    encoder = GCNEncoder(graph.num_features, recipe.encoder, torch.Generator().manual_seed(3))
    x = torch.from_numpy(graph.x.toarray() if sparse.issparse(graph.x) else graph.x).double()
    x = torch.nn.functional.normalize(x, p=1, dim=1)
    a = torch.from_numpy(factor * graph.adjacency.toarray()).double() + torch.eye(graph.num_nodes)
    root = a.sum(1).rsqrt()
    h = (root[:, None] * a * root) @ x @ encoder.weights[0].detach().double()
    wanted = torch.nn.functional.leaky_relu(h, 0.25).numpy()
    scaled = replace(graph, adjacency=graph.adjacency * np.float32(factor))
    np.testing.assert_allclose(embedded(scaled, recipe), wanted, atol=TOLERANCE)


@pytest.mark.parametrize("name", ["hetero", "relations"])
def test_another_order_of_a_type_moves_its_rows_alone(name: str) -> None:
    library = make_library(30)
    recipe = resolve_recipe(library, load_recipe(name, ["encoder.width=6"]))
    setup = make_setup(library, recipe, torch.device("cpu"), is_trained=True)
    encoder = setup.draw_encoder(torch.Generator().manual_seed(3))
    z = embed_graph(encoder, library, recipe)
    rows = dict(zip(setup.node_ids.tolist(), z, strict=True))
    for kind in library.nodes:
        order = np.random.default_rng(1).permutation(library.nodes[kind].num_nodes)
        shuffled = shuffle_nodes(library, kind, order)
        moved = embed_graph(encoder, shuffled, recipe)
        ids = embedded_ids(shuffled, recipe)
        wanted = np.stack([rows[node] for node in ids.tolist()])
        np.testing.assert_allclose(moved, wanted, atol=TOLERANCE)
