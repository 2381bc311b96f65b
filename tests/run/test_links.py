"""Trainings for link prediction: a split each, lines that are kept, no label needed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dgb.cookbook import load_recipe
from dgb.data.encoding import Encoding
from dgb.data.graph import Graph
from dgb.data.structure import structural_features
from dgb.errors import DGBError
from dgb.measure import repeat
from dgb.measure.repeat import (
    CLUSTER_COLUMNS,
    LINK_COLUMNS,
    LINKS,
    evaluate_links,
    scores_table,
)
from dgb.recipe import Recipe
from dgb.run.train import train

SMALL = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=3"]


@pytest.fixture
def recipe() -> Recipe:
    return load_recipe("paper", SMALL)


@pytest.fixture
def bare(blocks: Graph) -> Graph:
    return replace(blocks, labels=None, label_names=(), splits=())


def test_every_training_has_its_own_split_and_is_kept(
    bare: Graph, recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Graph] = []

    def watching(graph: Graph, recipe: Recipe) -> Any:
        seen.append(graph)
        return train(graph, recipe)

    monkeypatch.setattr(repeat, "train", watching)
    first = evaluate_links(bare, recipe, 1, tmp_path)
    lines = evaluate_links(bare, recipe, 2, tmp_path)
    assert lines[0] == first[0] and [line["seed"] for line in lines] == [0, 1]
    assert [json.loads(t) for t in (tmp_path / LINKS).read_text("utf-8").splitlines()] == lines
    assert len(seen) == 2 and all(g.num_edges < bare.num_edges for g in seen)
    assert (seen[0].adjacency != seen[1].adjacency).nnz > 0
    assert evaluate_links(bare, replace(recipe, train=replace(recipe.train, epochs=2)), 1, tmp_path)
    assert len(seen) == 3  # another recipe trains again


def test_the_encoder_never_sees_features_made_of_removed_edges(
    bare: Graph, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = structural_features(bare.adjacency, bare.node_ids, "walk")
    made = replace(bare, x=x, encoding=Encoding(structure="walk"))

    def checking(graph: Graph, recipe: Recipe) -> Any:
        expected = structural_features(graph.adjacency, graph.node_ids, "walk")
        np.testing.assert_array_equal(graph.x, expected)
        assert not np.array_equal(graph.x, x)
        return train(graph, recipe)

    monkeypatch.setattr(repeat, "train", checking)
    assert 0 <= repeat.train_on_split(made, recipe)["raw"]["test_auc"] <= 1


def test_what_cannot_be_split_is_told_before_training(
    bare: Graph, recipe: Recipe, tmp_path: Path
) -> None:
    with pytest.raises(DGBError, match="--runs"):
        evaluate_links(bare, recipe, 0, tmp_path)
    empty = replace(bare, adjacency=bare.adjacency * 0)
    empty.adjacency.eliminate_zeros()
    with pytest.raises(DGBError, match="the graph has 0"):
        evaluate_links(empty, recipe, 1, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_tables_have_a_row_per_system_and_mean_and_std() -> None:
    areas = (0.5, 0.7)
    scores = [{"validation_auc": 1.0, "test_auc": a, "test_ap": 0.25} for a in areas]
    lines = [dict.fromkeys(("dgb", "random", "raw", "edges"), s) for s in scores]
    text = scores_table(lines, LINK_COLUMNS)
    rows = text.splitlines()
    assert rows[0].split() == ["validation", "AUC", "test", "AUC", "test", "AP"]
    assert [row.split("  ")[0] for row in rows[1:]] == [
        "DGB",
        "untrained GCN",
        "raw features",
        "edges alone",
    ]
    assert all("60.0 ± 14.1" in row and "25.0 ± 0.0" in row for row in rows[1:])


def test_the_table_of_clusters_has_no_accuracy_of_a_probe() -> None:
    scores = {
        "probe": {"validation": 0.11, "test": 0.22},
        "cluster": {"accuracy": 0.33, "nmi": 0.44, "ari": 0.55},
    }
    line = dict.fromkeys(("dgb", "random", "raw"), scores)
    text = scores_table([line], CLUSTER_COLUMNS)
    assert text.splitlines()[0].split() == ["cluster", "acc", "NMI", "ARI"]
    assert "33.0" in text and "55.0" in text and "22.0" not in text
    assert scores_table([line]).splitlines()[1].split() == [
        *("DGB", "11.0", "22.0", "33.0", "44.0", "55.0")
    ]


def test_f1_and_area_have_a_column_where_every_training_has_them() -> None:
    more = {"macro_f1": 0.66, "micro_f1": 0.22, "auc": 0.77}
    scores = {
        "probe": {"validation": 0.11, "test": 0.22} | more,
        "cluster": {"accuracy": 0.33, "nmi": 0.44, "ari": 0.55},
    }
    line = dict.fromkeys(("dgb", "random", "raw"), scores)
    head, row = (text.split() for text in scores_table([line]).splitlines()[:2])
    assert head[:4] == ["validation", "test", "Macro-F1", "AUC"]
    assert row[:5] == ["DGB", "11.0", "22.0", "66.0", "77.0"]
    without = scores | {"probe": {k: v for k, v in scores["probe"].items() if k != "auc"}}
    text = scores_table([line, dict.fromkeys(("dgb", "random", "raw"), without)])
    assert "Macro-F1" in text and "AUC" not in text
    assert "Macro-F1" not in scores_table([line], CLUSTER_COLUMNS)
