"""Blocks that suit a graph: found without labels, kept in the recipe, never over a setting."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dgb.cookbook import load_recipe
from dgb.data.blocks import KINDS, Blocks, make_blocks
from dgb.data.graph import Graph, make_graph
from dgb.data.load import load_graph
from dgb.data.look.alike import ALIKE
from dgb.errors import DGBError
from dgb.recipe import Embed
from dgb.run import resolve, suit
from dgb.run.resolve import resolve_recipe
from dgb.settings import make_section

KINDS_AND_WEIGHTS: dict[str, dict[str, Any]] = {
    "noise-features": {"structure_weight": 2.0},
    "heterophily": {"diffused_alpha": 1.0},
    "chance-edges": {"diffused_alpha": 1.0, "diffused_weight": 2.0, "structure_weight": 0.1},
}
UNJOINED = replace(Embed(), by_graph=False, diffused_nearest=0)


def invented(folder: Path, kind: str) -> Graph:
    """Return a graph of a kind, without its labels."""
    make_blocks(folder, make_section(Blocks, "blocks", KINDS[kind] | {"nodes": 1000}))
    return replace(load_graph(folder), labels=None, splits=())


@pytest.mark.parametrize("kind", KINDS_AND_WEIGHTS)
def test_a_graph_has_the_weights_of_its_kind(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = KINDS_AND_WEIGHTS[kind]
    graph = invented(tmp_path / kind, kind)
    found = resolve_recipe(graph, load_recipe())
    assert found.embed == replace(UNJOINED, **changed)
    told = capsys.readouterr().err
    assert all(f"embed.{k}={v}" in told for k, v in (changed | {"diffused_nearest": 0}).items())
    assert resolve_recipe(graph, found) == found and not capsys.readouterr().err
    mine = load_recipe("default", ["embed.structure_weight=0.7", "embed.diffused_alpha=0.2"])
    kept = resolve_recipe(graph, mine).embed
    assert (kept.structure_weight, kept.diffused_alpha) == (0.7, 0.2)


def test_a_graph_without_edges_is_not_said_to_have_some(
    capsys: pytest.CaptureFixture[str],
) -> None:
    graph = make_graph("lone", np.eye(9), sparse.coo_array((9, 9)))
    found = resolve_recipe(graph, load_recipe())
    assert found.embed == replace(UNJOINED, **KINDS_AND_WEIGHTS["chance-edges"])
    assert "note: there are no edges, so features stand" in capsys.readouterr().err


def test_like_nodes_are_joined_where_neighbors_are_alike(
    blocks: Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    found = resolve_recipe(blocks, load_recipe())
    assert found.embed == replace(Embed(), by_graph=False)
    assert found.embed.joined == 20 and not capsys.readouterr().err
    mine = load_recipe("default", ["embed.diffused_nearest=5"])
    assert resolve_recipe(blocks, mine).embed.joined == 5
    paper = load_recipe("paper")
    assert resolve_recipe(blocks, paper) == paper and not paper.embed.joined


@pytest.mark.parametrize("is_on_cluster", [False, True])
def test_large_graphs_and_clusters_look_at_no_pairs(
    blocks: Graph,
    is_on_cluster: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resolve, "PAIRED", blocks.num_nodes - (not is_on_cluster))
    found = resolve_recipe(blocks, load_recipe(), is_on_cluster=is_on_cluster)
    assert found.embed == UNJOINED and "embed.diffused_nearest=0" in capsys.readouterr().err
    monkeypatch.setattr(resolve, "PAIRED", blocks.num_nodes)
    assert resolve_recipe(blocks, load_recipe()).embed.joined == 20


@pytest.mark.parametrize(("num_nodes", "num_features"), [(4096, 200), (4097, 205), (4097, 204)])
def test_places_weigh_more_where_many_nodes_share_few_features(
    num_nodes: int, num_features: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suit, "features_alike", lambda _: None)
    monkeypatch.setattr(suit, "judge_edges", lambda *_: (ALIKE, ""))
    graph = plain_graph(num_nodes, num_features=num_features)
    found, is_shared = resolve_recipe(graph, load_recipe()), num_nodes > 20 * num_features
    embed, is_thin = found.embed, is_shared and num_nodes > 4096
    weights = embed.structure_columns, embed.structure_weight, embed.diffused_weight
    assert weights == ((128, 0.6, 0.5) if is_thin else (64, 0.3, 1.0))
    assert found.view1.nfd_drop_rate == (0.6 if is_thin else 0.7)
    sets = ["embed.structure_columns=32", "embed.structure_weight=0.2", "view1.nfd_drop_rate=0.5"]
    kept = resolve_recipe(graph, load_recipe("default", sets))
    assert (kept.embed.structure_columns, kept.embed.structure_weight) == (32, 0.2)
    assert kept.view1.nfd_drop_rate == 0.5


def test_a_cluster_refuses_to_join_like_nodes_for_a_block_that_it_has(blocks: Graph) -> None:
    mine = load_recipe("default", ["embed.diffused_nearest=5"])
    with pytest.raises(DGBError, match="diffused_nearest=0"):
        resolve_recipe(blocks, mine, is_on_cluster=True)
    other = load_recipe(mine, ["embed.blocks=learnt,structure"])
    assert resolve_recipe(blocks, other, is_on_cluster=True).embed.joined == 0


def plain_graph(num_nodes: int, density: float = 1.0, num_features: int = 200) -> Graph:
    """Return a ring with random features, of which a share is not zero."""
    nodes = np.arange(num_nodes)
    ends = (nodes, np.roll(nodes, 1))
    edges = sparse.coo_array((np.ones(num_nodes), ends), shape=(num_nodes, num_nodes))
    rng = np.random.default_rng(0)
    x = sparse.random_array((num_nodes, num_features), density=density, rng=rng, format="csr")
    return make_graph("ring", x if density < 1 else x.toarray(), edges)


@pytest.mark.parametrize(
    ("num_nodes", "sizes"), [(4096, (0, 30, 96)), (8000, (4096, 60, 64)), (20_000, (4096, 24, 64))]
)
def test_large_graphs_take_row_batches_and_as_many_steps(
    num_nodes: int, sizes: tuple[int, int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    graph = plain_graph(num_nodes)
    found = resolve_recipe(graph, load_recipe())
    assert (found.train.batch_size, found.train.epochs, found.encoder.width) == sizes
    assert ("in row batches" in capsys.readouterr().err) == (sizes[0] > 0)
    assert resolve_recipe(graph, found) == found
    mine = load_recipe("default", ["train.epochs=7", "train.batch_size=3000", "encoder.width=80"])
    kept = resolve_recipe(graph, mine)
    assert (kept.train.batch_size, kept.train.epochs, kept.encoder.width) == (3000, 7, 80)
    wide = resolve_recipe(graph, load_recipe("default", ["encoder.width=80"])).encoder.width
    assert wide == 80


@pytest.mark.parametrize(
    "override", ["train.by_graph=false", "train.order=transform", "encoder.layers=2"]
)
def test_the_whole_graph_a_step_where_batches_are_not_wanted(override: str) -> None:
    sets = ["encoder.hops=[]", "encoder.norm=none", override]
    found = resolve_recipe(plain_graph(5000), load_recipe("default", sets)).train
    assert (found.batch_size, found.epochs) == (0, 30)


@pytest.mark.parametrize(("density", "size"), [(0.02, 0), (0.1, 4096)])
def test_wide_sparse_features_stay_sparse(density: float, size: int) -> None:
    found = resolve_recipe(plain_graph(5000, density), load_recipe())
    assert found.train.batch_size == size


def test_the_papers_recipes_train_as_the_paper_does() -> None:
    graph = plain_graph(5000)
    for name in ("paper", "paper-cora", "paper-citeseer", "paper-pubmed"):
        recipe = load_recipe(name)
        assert resolve_recipe(graph, recipe) == recipe
