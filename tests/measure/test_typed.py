"""Graphs of several node types where verbs measure: what runs on them, and what is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dgb.baselines.methods import METHODS
from dgb.cli import main
from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.evaluate.link_split import split_edges
from dgb.evaluate.links import links_of
from dgb.files.atomic import read_lines
from dgb.measure import repeat
from dgb.measure.compare import choose_methods, leave_out
from dgb.measure.repeat import evaluate_links
from dgb.recipe import Recipe
from dgb.run.setup import Trained
from dgb.run.train import train
from dgb.tune.folder import RECIPE
from dgb.tune.space import parse_space
from dgb.tune.study import Plan, tune
from tests.hetero import make_library, write_library

SETS = ("encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=3")
SMALL = [word for text in (*SETS, "probe.kind=linear") for word in ("--set", text)]


@pytest.fixture(scope="module")
def library() -> HeteroGraph:
    return make_library()


def test_systems_are_compared_on_the_target_nodes(
    library: HeteroGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_library(tmp_path / "library", library)
    words = ["compare", folder, "--methods", "dgb,union,random,raw,gcn", "--runs", "2"]
    out = tmp_path / "out"
    assert main([*words, "--out", str(out), "--set", "data.target=paper", *SMALL]) == 0
    lines = read_lines(out / "compare.jsonl")
    counts = {key: [m["method"] for m in lines].count(key) for key in ("dgb", "union", "random")}
    assert counts == {"dgb": 2, "union": 2, "random": 2}
    assert len({m["recipe"] for m in lines}) == 2  # the union has other settings, the rest one
    assert len({m["test_accuracy"] for m in lines if m["seed"] == 0}) > 1
    assert all(m["val_accuracy"] > 1 / 3 for m in lines if m["method"] in ("dgb", "union"))
    said = capsys.readouterr().out
    assert "GCN was left out: it needs a graph of one node type" in said
    assert "DGB on the union of meta-paths" in (out / "report.html").read_text("utf-8")


def test_what_a_kind_of_graph_cannot_have_is_left_out_with_the_reason(
    library: HeteroGraph, blocks: Graph
) -> None:
    typed = choose_methods(["all"], is_typed=True)
    assert set(typed) == set(choose_methods([], is_typed=True)) == {"dgb", "union", "random", "raw"}
    assert leave_out(typed, library, 0) == {}
    others = [key for key in METHODS if key not in typed]
    reasons = leave_out(others, library, 0)
    assert set(reasons) == set(others)
    assert set(reasons.values()) == {"it needs a graph of one node type"}
    assert leave_out(["union"], blocks, 0) == {"union": "it needs a graph of several node types"}
    papers = replace(library.nodes["paper"], x=None)
    without = replace(library, nodes={**library.nodes, "paper": papers})
    assert list(leave_out(typed, without, 0)) == ["raw"]


@pytest.mark.parametrize("recipe", ["hetero", "relations"])
def test_links_between_target_nodes_are_hidden_before_training(
    library: HeteroGraph, recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = split_edges(library, 0)
    assert isinstance(split.train_graph, HeteroGraph)
    left, whole = split.adjacency.toarray(), links_of(library).toarray()
    assert (left == links_of(split.train_graph).toarray()).all() and (left == left.T).all()
    for pairs in (split.validation.edges, split.test.edges):
        assert (whole[tuple(pairs.T)] > 0).all() and (left[tuple(pairs.T)] == 0).all()
    before = {relation.label: relation.num_edges for relation in library.relations}
    after = {relation.label: relation.num_edges for relation in split.train_graph.relations}
    assert [label for label in before if before[label] != after[label]] == ["paper-cites-paper"]
    seen: list[HeteroGraph] = []

    def watching(graph: HeteroGraph, recipe: Recipe) -> Trained:
        seen.append(graph)
        return train(graph, recipe)

    monkeypatch.setattr(repeat, "train", watching)
    (line,) = evaluate_links(library, load_recipe(recipe, SETS), 1, tmp_path)
    assert (links_of(seen[0]).toarray() == left).all()
    areas = [line[name]["test_auc"] for name in ("dgb", "random", "raw", "edges")]
    assert len(set(areas)) == 4


def test_links_need_a_relation_within_the_target_type(library: HeteroGraph, tmp_path: Path) -> None:
    relations = tuple(r for r in library.relations if r.name != "cites")
    with pytest.raises(DGBError, match="no relation joins two of type paper"):
        evaluate_links(replace(library, relations=relations), load_recipe("hetero"), 1, tmp_path)


def test_a_recipe_is_searched_without_a_test_label(library: HeteroGraph, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    recipe = load_recipe("hetero", SETS)
    space = parse_space(["train.decay=0.5,0.9"], recipe)
    assert library.labels is not None
    swapped = np.array(library.labels)
    test = library.splits[0].test
    swapped[test] = np.roll(swapped[test], 1)
    found = [
        tune(graph, recipe, space, tmp_path / name, Plan(trials=2))
        for name, graph in (("a", library), ("b", replace(library, labels=swapped)))
    ]
    assert found[0].criterion == "validation" and found[0].score > 1 / 3
    assert found[0].recipe.hetero.metapaths  # written out, as a run has them
    assert (tmp_path / "a" / RECIPE).read_text() == (tmp_path / "b" / RECIPE).read_text()
    scores = found[0].lines[0]["scores"]
    assert scores["edge_auc"] != 0.5 and scores["effective_rank"] > 1
