"""The map of a run: a row per node, with what is known of it and its nearest nodes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pyarrow import csv, parquet
from scipy import sparse

from dgb.arrays import Array
from dgb.cli import main
from dgb.cookbook import load_recipe
from dgb.data.encoding import Column, Encoding, named_columns
from dgb.data.graph import Graph
from dgb.evaluate.scores import class_names, confusion
from dgb.files.tensors import read_tensors
from dgb.neighbors import nearest
from dgb.recipe import Recipe
from dgb.report.page import write_report
from dgb.run import folder as files
from dgb.run import map as module
from dgb.run import train as training
from dgb.run.folder import make_folder
from dgb.run.map import read_map, write_map
from dgb.run.train import train_run
from dgb.run.vectors import read_embeddings
from tests.conftest import QUICK_PROBE

SMALL = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=4", *QUICK_PROBE]


@pytest.fixture
def recipe() -> Recipe:
    return load_recipe("paper", SMALL)


@pytest.fixture
def z(blocks: Graph) -> Array:
    rng = np.random.default_rng(0)
    return np.eye(3, 8)[blocks.labels] + 0.1 * rng.normal(size=(90, 8))


def test_a_row_tells_what_is_known_of_its_node(blocks: Graph, z: Array, tmp_path: Path) -> None:
    assert blocks.labels is not None
    labels = np.where(np.arange(90) < 5, -1, blocks.labels)
    some = replace(blocks, labels=labels)
    predicted = class_names(blocks, np.roll(blocks.labels, 1))
    path = write_map(tmp_path, some, z, predicted, blocks.splits[0])
    table = parquet.read_table(path)
    assert path == tmp_path / "map.parquet"
    assert [f"{f.name} {f.type}".replace("element", "item") for f in table.schema] == [
        "node_id string",
        "x float",
        "y float",
        "degree int32",
        "cluster int32",
        "label string",
        "predicted string",
        "split string",
        "neighbors list<item: int32>",
        "similarity list<item: float>",
    ]
    about = {b"map": b"t-SNE", b"nodes": b"90", b"columns": b"0"}
    clusters = json.loads(table.schema.metadata[b"clusters"])
    assert table.schema.metadata == about | {b"clusters": json.dumps(clusters).encode()}
    assert {text.split(";")[0] for text in clusters} == {f"label {name} 100%" for name in "abc"}
    assert table["node_id"].to_pylist() == blocks.node_ids.tolist()
    assert table["label"].to_pylist()[:5] == [None] * 5
    assert table["label"].to_pylist()[5:] == ["abc"[i] for i in blocks.labels[5:]]
    assert table["predicted"].to_pylist() == predicted.tolist()
    np.testing.assert_array_equal(table["degree"], (blocks.adjacency.toarray() > 0).sum(axis=1))
    parts = np.array(table["split"].to_pylist())
    for name in ("train", "validation", "test"):
        np.testing.assert_array_equal(
            np.flatnonzero(parts == name), np.sort(getattr(blocks.splits[0], name))
        )
    positions, similarities = nearest(z, np.arange(90), 8)
    np.testing.assert_array_equal(table["neighbors"].to_pylist(), positions)
    np.testing.assert_array_equal(table["similarity"].to_pylist(), similarities)
    clusters = np.array(table["cluster"])
    assert all(len(np.unique(clusters[blocks.labels == i])) == 1 for i in range(3))


def test_a_graph_without_labels_has_clusters_and_nulls(
    blocks: Graph, z: Array, tmp_path: Path
) -> None:
    bare = replace(blocks, labels=None, label_names=(), splits=())
    table = parquet.read_table(write_map(tmp_path, bare, z, None, None))
    for name in ("label", "predicted", "split"):
        assert table[name].null_count == 90 and table.schema.field(name).type == "string"
    assert len(np.unique(table["cluster"])) == 3  # found without labels


def test_columns_of_the_table_are_there_as_the_user_wrote_them(
    blocks: Graph, z: Array, tmp_path: Path
) -> None:
    town = np.arange(90) % 3  # of two towns that have columns, and one that has none
    parts = [
        *((town == i) for i in range(2)),
        (np.arange(90) - 40) / 20,
        (np.arange(90) == 7),
        (np.arange(90) + 18_000 - 18_050) / 9,
        np.zeros(90),
    ]
    columns = (
        Column("label", "category", levels=("Bergen", "Quito")),
        Column("years", shift=40, scale=20, fill=(0.0,), flag=True),
        Column("since", shift=18_050, scale=9, unit="days"),
        Column("words", "words", width=1),
    )
    x = np.stack(parts, axis=1).astype(np.float32)
    graph = replace(blocks, x=x, encoding=Encoding(columns))
    for features in (x, sparse.csr_array(x)):
        path = write_map(tmp_path, replace(graph, x=features), z, None, None)
        table = parquet.read_table(path)
        assert [n for n in table.column_names if n.startswith("column: ")] == [
            *("column: label", "column: years", "column: since"),
        ]
        assert table["column: label"].to_pylist()[:4] == ["Bergen", "Quito", None, "Bergen"]
        assert table["column: years"].to_pylist()[6:9] == [6, None, 8]
        assert str(table["column: since"][0]) == "2019-04-14"


def test_of_many_columns_those_that_clusters_differ_in_are_kept(
    blocks: Graph, z: Array, tmp_path: Path
) -> None:
    assert blocks.labels is not None
    x = np.random.default_rng(1).normal(size=(90, 40)).astype(np.float32)
    x[:, 33] = blocks.labels
    graph = replace(blocks, x=x, encoding=named_columns(f"c{i}" for i in range(40)))
    table = parquet.read_table(write_map(tmp_path, graph, z, None, None))
    shown = [name for name in table.column_names if name.startswith("column: ")]
    assert len(shown) == 16 and "column: c33" in shown
    assert table.schema.metadata[b"columns"] == b"40"
    assert sum("c33" in text for text in json.loads(table.schema.metadata[b"clusters"])) == 2


def test_the_map_and_the_verb_find_the_same_clusters(
    blocks: Graph, recipe: Recipe, tmp_path: Path
) -> None:
    make_folder(tmp_path / "run", recipe)
    train_run(blocks, replace(recipe, train=replace(recipe.train, seed=3)), tmp_path / "run")
    assert main(["cluster", str(tmp_path / "run")]) == 0
    told = csv.read_csv(tmp_path / "run" / "clusters.csv")["cluster"].to_pylist()
    assert read_map(tmp_path / "run" / "map.parquet")["cluster"].to_pylist() == told


def test_many_nodes_are_sampled_and_neighbors_are_rows_of_the_sample(
    blocks: Graph, z: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NODES", 40)
    tables = [parquet.read_table(write_map(tmp_path, blocks, z, None, None)) for _ in range(2)]
    assert tables[0].equals(tables[1], check_metadata=True)
    assert tables[0].num_rows == 40 and tables[0].schema.metadata[b"nodes"] == b"90"
    nodes = np.array([int(i.removeprefix("paper-")) for i in tables[0]["node_id"].to_pylist()])
    assert (np.diff(nodes) > 0).all()
    positions, _ = nearest(z[nodes], np.arange(40), 8)
    np.testing.assert_array_equal(tables[0]["neighbors"].to_pylist(), positions)
    assert blocks.labels is not None
    assert tables[0]["label"].to_pylist() == ["abc"[i] for i in blocks.labels[nodes]]


@pytest.mark.parametrize("num_nodes", [2, 3, 5])
def test_tiny_graphs_have_a_map(num_nodes: int, blocks: Graph, tmp_path: Path) -> None:
    rows = slice(0, num_nodes)
    tiny = Graph("tiny", blocks.x[rows], blocks.adjacency[rows, rows], np.arange(num_nodes))
    for z in (np.ones((num_nodes, 4)), np.eye(num_nodes, 4)):
        table = parquet.read_table(write_map(tmp_path, tiny, z, None, None))
        assert {len(near) for near in table["neighbors"].to_pylist()} == {num_nodes - 1}
        assert np.isfinite(table["x"]).all()


def test_a_run_has_a_map_and_the_confusion_that_its_accuracy_is_of(
    blocks: Graph, recipe: Recipe, tmp_path: Path
) -> None:
    scores = train_run(blocks, recipe, tmp_path)
    assert json.loads((tmp_path / "scores.json").read_text("utf-8")) == scores
    counts = np.array(scores["confusion"]["counts"])
    test = blocks.splits[0].test
    assert scores["confusion"]["labels"] == ["a", "b", "c"] and counts.sum() == len(test)
    assert counts.trace() / counts.sum() == pytest.approx(scores["dgb"]["probe"]["test"])
    assert blocks.labels is not None
    np.testing.assert_array_equal(counts.sum(axis=1), np.bincount(blocks.labels[test]))
    table = read_map(tmp_path / "map.parquet")
    told = np.array(table["predicted"].to_pylist())
    assert all((told[test] == name).sum() == counts[:, i].sum() for i, name in enumerate("abc"))
    ids, z = read_embeddings(tmp_path / "embeddings.parquet")
    assert ids.tolist() == table["node_id"].to_pylist()
    assert table["neighbors"].to_pylist() == nearest(z, np.arange(90), 8)[0].tolist()


def test_a_probe_of_many_heads_has_no_single_prediction(
    blocks: Graph, recipe: Recipe, tmp_path: Path
) -> None:
    heads = replace(recipe, probe=replace(recipe.probe, kind="dgi"))
    assert "confusion" not in train_run(blocks, heads, tmp_path)
    assert read_map(tmp_path / "map.parquet")["predicted"].null_count == 90


def test_confusion_counts_classes_whatever_their_numbers(blocks: Graph) -> None:
    assert blocks.labels is not None
    spaced = replace(blocks, labels=blocks.labels * 50, label_names=())
    found = confusion(spaced.labels, spaced, blocks.splits[0])  # type: ignore[arg-type]
    assert found is not None and found["labels"] == ["0", "50", "100"]
    counts = np.bincount(blocks.labels[blocks.splits[0].test])
    np.testing.assert_array_equal(found["counts"], np.diag(counts))


def test_a_run_of_very_many_classes_has_no_table_of_them(
    blocks: Graph, recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dgb.evaluate.scores.CONFUSED", 2)
    make_folder(tmp_path / "run", recipe)
    scores = train_run(blocks, recipe, tmp_path / "run")
    assert scores["confusion"] is None and scores["dgb"]["probe"]["test"] > 0
    assert "Which classes are confused" not in write_report(tmp_path / "run").read_text("utf-8")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (files, "save_encoding"),
        (training, "save_encoder"),
        (training, "write_embeddings"),
        (training, "score_own"),
        (training, "score_references"),
        (training, "write_map"),
        (training, "write_json"),
    ],
)
def test_a_run_stopped_after_its_training_goes_on_to_the_same_files(
    blocks: Graph,
    recipe: Recipe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: Any,
    name: str,
) -> None:
    def pressing(*_arguments: Any, **_options: Any) -> None:
        raise KeyboardInterrupt

    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for folder in (whole, cut):
        make_folder(folder, recipe)
    train_run(blocks, recipe, whole)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(place, name, pressing)
        train_run(blocks, recipe, cut)
    names = {f.name for f in cut.iterdir()}
    assert "checkpoint.safetensors" in names and "scores.json" not in names
    monkeypatch.setattr("dgb.train.loop.train_epoch", pressing)  # no epoch is trained again
    train_run(blocks, recipe, cut)
    assert {f.name for f in cut.iterdir()} == {f.name for f in whole.iterdir()}
    for kept in ("embeddings.parquet", "map.parquet"):
        assert (cut / kept).read_bytes() == (whole / kept).read_bytes()
    one, other = (read_tensors(run / "model.safetensors")[0] for run in (whole, cut))
    assert one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)
