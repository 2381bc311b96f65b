"""Whole runs on a small heterogeneous graph."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dgb import DGB
from dgb.cookbook import load_recipe, recipe_hash
from dgb.data.fingerprint import fingerprint
from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.measure.repeat import score_training, split_table
from dgb.recipe import Recipe
from dgb.report.page import write_report
from dgb.run import folder as files
from dgb.run.resolve import resolve_recipe
from dgb.run.train import train, train_run
from dgb.run.vectors import read_embeddings
from tests.hetero import make_library

SMALL = ("encoder.width=16", "heads.hidden=32", "heads.width=16", "train.epochs=30")


@pytest.fixture(scope="module")
def library() -> HeteroGraph:
    return make_library(150)


def make_recipe(name: str, *sets: str) -> Recipe:
    return load_recipe(name, [*SMALL, "hetero.max_length=2", *sets])


def test_a_run_leaves_what_a_user_wants(library: HeteroGraph, tmp_path: Path) -> None:
    recipe = resolve_recipe(library, make_recipe("hetero"))
    files.make_folder(tmp_path, recipe)
    scores = train_run(library, recipe, tmp_path)
    ids, z = read_embeddings(tmp_path / files.EMBEDDINGS)
    assert ids.tolist() == list(range(1000, 1150))
    assert z.shape == (150, 16)
    assert json.loads((tmp_path / files.SCORES).read_text()) == scores
    assert sum(scores["attention"].values()) == pytest.approx(1)
    assert list(scores["attention"]) == recipe.hetero.metapaths.split(",")
    assert files.read_recipe(tmp_path) == recipe
    page = write_report(tmp_path).read_text("utf-8")
    assert "paper-author-paper" in page and "Meta-paths" in page


def test_meta_paths_tell_more_than_features_alone(library: HeteroGraph) -> None:
    line = score_training(library, make_recipe("hetero"))
    found = {name: line[name]["splits"]["all"]["macro_f1"] for name in ("dgb", "random", "raw")}
    assert found["dgb"] > found["raw"] + 0.05
    assert found["dgb"] > 0.8
    assert "DGB" in split_table([line]) and "Macro-F1" in split_table([line])


@pytest.mark.parametrize("name", ["hetero", "relations"])
def test_equal_seeds_give_equal_bits_and_others_do_not(library: HeteroGraph, name: str) -> None:
    recipe = make_recipe(name, "train.epochs=3")
    one, again, other = (
        train(library, replace(recipe, train=replace(recipe.train, seed=seed))).embeddings()
        for seed in (0, 0, 1)
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_all_types_are_embedded_together_by_relations(library: HeteroGraph, tmp_path: Path) -> None:
    recipe = make_recipe("relations", "data.target=all")
    scores = train_run(library, recipe, tmp_path)
    ids, z = read_embeddings(tmp_path / files.EMBEDDINGS)
    assert len(z) == library.num_nodes == len(set(ids.tolist()))
    assert {name.split(":")[0] for name in ids} == set(library.nodes)
    # The labels are those of papers, whose rows are found again.
    papers = z[[name.startswith("paper:") for name in ids]]
    assert papers.shape == (150, 16)
    assert scores["dgb"]["splits"]["all"]["macro_f1"] > 0.6


def test_types_without_any_features_are_trained_by_where_they_are(library: HeteroGraph) -> None:
    nodes = {name: replace(kind, x=None) for name, kind in library.nodes.items()}
    bare = replace(library, nodes=nodes)
    for structure in ("walk", "learnt"):
        line = score_training(bare, make_recipe("hetero", f"data.structure={structure}"))
        assert "raw" not in line
        assert line["dgb"]["splits"]["all"]["macro_f1"] > 0.6, structure
        assert "raw" not in split_table([line])


def test_a_graph_without_labels_is_embedded_and_not_scored(
    library: HeteroGraph, tmp_path: Path
) -> None:
    bare = replace(library, labels=None, splits=(), split_names=())
    recipe = make_recipe("hetero", "train.epochs=2")
    files.make_folder(tmp_path, recipe)
    scores = train_run(bare, recipe, tmp_path)
    assert "dgb" not in scores
    assert (tmp_path / files.EMBEDDINGS).exists()
    assert write_report(tmp_path).exists()


@pytest.mark.parametrize(
    ("name", "setting", "problem"),
    [
        ("hetero", "data.target=all", "--recipe relations"),
        ("hetero", "train.memory_gb=0.0001", r"name fewer hetero\.metapaths"),
        ("hetero", "embed.smooth=0.2", r"embed\.smooth"),
        ("hetero", "embed.features=true", r"embed\.features"),
        ("hetero", "embed.blocks=structure", r"embed\.blocks"),
        ("relations", "train.batch_size=32,encoder.layers=1", r"hetero\.encoder=metapaths"),
        ("relations", "hetero.metapaths=paper-author-paper", r"hetero\.encoder=metapaths"),
        ("relations", "view1.way_drop_rate=0.5", "views over meta-paths"),
        ("relations", "view2.augment=nd+diff", "--recipe relations"),
        ("hetero", "hetero.metapaths=paper-paper-paper-venue", "must lead from paper to paper"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    library: HeteroGraph, name: str, setting: str, problem: str
) -> None:
    with pytest.raises(DGBError, match=problem):
        train(library, make_recipe(name, *setting.split(",")))


def test_the_union_is_one_graph_of_all_meta_paths(library: HeteroGraph) -> None:
    recipe = make_recipe("hetero", "hetero.encoder=union", "train.epochs=0")
    trained = train(library, recipe)
    encoder: Any = trained.encoder
    assert len(encoder.encoders) == 1
    out = load_recipe(recipe, ["hetero.materialise=true"])
    np.testing.assert_allclose(trained.embeddings(), train(library, out).embeddings(), atol=1e-4)


def test_results_of_other_graphs_have_other_hashes(library: HeteroGraph) -> None:
    prints = {fingerprint(library), fingerprint(make_library(150, seed=1))}
    prints |= {fingerprint(replace(library, target="author", labels=None, splits=()))}
    turned = replace(library.relations[0], name="other")
    prints |= {fingerprint(replace(library, relations=(turned, *library.relations[1:])))}
    assert len(prints) == 4
    one, other = (make_recipe("hetero", f"hetero.weights={w}") for w in ("counts", "walk"))
    assert recipe_hash(one) != recipe_hash(other)
    sets = ("data.structure=walk", "data.structure=degree", "data.target=all", "data.target=paper")
    hashes = [recipe_hash(make_recipe("relations", setting)) for setting in sets]
    # Walk is the default, and which type is embedded shows in the hash of the graph.
    assert hashes[0] == hashes[3] and len(set(hashes)) == 3


def test_a_recipe_for_one_node_type_is_refused_with_all_that_has_to_be_set_back() -> None:
    graph = make_library()
    sets = ["encoder.hops=[0,1]", "links.weight=1", "view1.augment=ed+nfd+adj", "links.held_out=.1"]
    sets += ["train.stop_on=auc", "train.bootstrap=0.5", "embed.blocks=learnt,diffused"]
    sets += ["embed.normalise=rows", "embed.learnt_columns=4", "view2.augment=nd+adj"]
    sets += ["embed.centre=true"]
    with pytest.raises(DGBError, match=r"DGB\(recipe='hetero'\)") as refused:
        resolve_recipe(graph, load_recipe("paper", sets))
    advised = str(refused.value).partition("or set ")[2].split()
    back = load_recipe("paper", [*sets, *advised, "view1.augment=nfd+adj"])
    assert resolve_recipe(graph, back).embed.is_plain
    # Without a recipe, the kind of graph chooses it.
    assert DGB(width=8, epochs=0).fit(graph).recipe_.hetero.weights == "walk"
