"""The verbs that use a run: neighbors of nodes, and clusters."""

import csv
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dgb.arrays import Array
from dgb.cli import main
from dgb.commands import cluster, neighbors
from dgb.cookbook import load_recipe
from dgb.data.formats.npz import write_npz
from dgb.data.graph import Graph
from dgb.data.ids import find_nodes
from dgb.errors import DGBError
from dgb.run.folder import make_folder
from dgb.run.map import write_map
from dgb.run.vectors import read_embeddings, write_embeddings
from tests.conftest import QUICK_PROBE

SMALL = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=3", *QUICK_PROBE]


@pytest.fixture
def z(blocks: Graph) -> Array:
    rng = np.random.default_rng(0)
    return np.eye(3, 8)[blocks.labels] + 0.1 * rng.normal(size=(90, 8))


@pytest.fixture
def run(blocks: Graph, z: Array, tmp_path: Path) -> Path:
    """Return a run folder as training leaves it, with vectors that point at the classes."""
    folder = tmp_path / "run"
    make_folder(folder, load_recipe("paper"))
    write_embeddings(folder / "embeddings.parquet", blocks.node_ids, z)
    write_map(folder, blocks, z, None, None)
    return folder


def ask(run: Path, *nodes: str, **options: Any) -> None:
    chosen = {"k": 3, "vectors": None, "json": False, "all": False, "out": None, "why": False}
    chosen |= options
    neighbors.run(Namespace(run=str(run), nodes=list(nodes), **chosen))


def group(run: Path, clusters: int | None = None, out: str | None = None) -> None:
    cluster.run(Namespace(run=str(run), clusters=clusters, out=out, describe=False))


def test_the_neighbors_of_all_nodes_are_written(run: Path, blocks: Graph, z: Array) -> None:
    ask(run, all=True, k=2)
    table = parquet.read_table(run / "neighbors.parquet")
    assert table["node_id"].to_pylist() == blocks.node_ids.tolist()
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    cosine = unit @ unit[7]
    order = [f"paper-{i}" for i in np.argsort(-cosine) if i != 7][:2]
    assert table["neighbors"][7].as_py() == order
    np.testing.assert_allclose(
        table["similarity"][7].as_py(), np.sort(cosine)[::-1][1:3], atol=1e-5
    )
    for wrong in ({"all": True, "out": "x.csv"}, {"all": False}):
        with pytest.raises(DGBError, match=r"--out must be|or --all"):
            ask(run, **wrong)


def test_neighbors_are_told_with_similarity_and_label(
    run: Path, blocks: Graph, z: Array, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(run, "paper-4", "paper-0", json=True)
    found = json.loads(capsys.readouterr().out)
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    assert blocks.labels is not None
    for entry, node in zip(found, (4, 0), strict=True):
        order = [i for i in np.argsort(-(unit @ unit[node])) if i != node][:3]
        assert [near["id"] for near in entry["neighbors"]] == [f"paper-{i}" for i in order]
        assert entry["id"] == f"paper-{node}" and entry["label"] == "abc"[blocks.labels[node]]
        for near, i in zip(entry["neighbors"], order, strict=True):
            assert near["similarity"] == pytest.approx(unit[i] @ unit[node], abs=1e-4)
            assert near["label"] == "abc"[blocks.labels[i]]
    ask(run, "paper-4")
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == f"paper-4 ({found[0]['label']})" and len(rows) == 4
    first = found[0]["neighbors"][0]
    assert rows[1].split() == [first["id"], f"{first['similarity']:.4f}", first["label"]]


def test_numbers_are_ids_as_typed_and_labels_may_be_missing(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.parquet"
    write_embeddings(path, np.array([10, 7, -3]), np.array([[1, 0], [1, 0.1], [0, 1.0]]))
    ask(run, "-3", "10", vectors=str(path), json=True)
    found = json.loads(capsys.readouterr().out)
    assert [[near["id"] for near in entry["neighbors"]] for entry in found] == [[7, 10], [7, -3]]
    assert found[0]["id"] == -3 and found[0]["neighbors"][0]["label"] is None
    (run / "map.parquet").unlink()
    ask(run, "paper-1")
    assert capsys.readouterr().out.startswith("paper-1\n")


@pytest.mark.parametrize(
    ("nodes", "options", "message"),
    [
        (["paper-1", "papre-17"], {}, "'papre-17'.*ids like it: .*paper-17"),
        (["x"], {}, "ids look like paper-0"),
        (["paper-1"], {"k": 0}, "-k must be at least 1"),
        (["paper-1"], {"vectors": "nowhere.parquet"}, "nowhere.parquet is not there"),
    ],
)
def test_mistakes_are_told(
    run: Path, nodes: list[str], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(DGBError, match=message):
        ask(run, *nodes, **options)


def test_a_folder_without_a_run_or_an_unfinished_one_is_told(run: Path, tmp_path: Path) -> None:
    for verb in (lambda folder: ask(folder, "paper-1"), group):
        with pytest.raises(DGBError, match="not a run folder"):
            verb(tmp_path)
    (run / "embeddings.parquet").unlink()
    for verb in (lambda folder: ask(folder, "paper-1"), group):
        with pytest.raises(DGBError, match=r"embeddings.parquet is not there"):
            verb(run)


def test_embeddings_come_back_as_written(run: Path, blocks: Graph, z: Array) -> None:
    ids, again = read_embeddings(run / "embeddings.parquet")
    assert ids.tolist() == blocks.node_ids.tolist()
    np.testing.assert_array_equal(again, z.astype(np.float32))


@pytest.mark.parametrize(
    "columns",
    [
        {"node_id": [1, 2], "other": [[1.0], [2.0]]},
        {"node_id": [1, 2], "embedding": [1.0, 2.0]},
        {"node_id": [1, 2], "embedding": [[1.0], [2.0, 3.0, 4.0]]},
        {"node_id": [1, 2], "embedding": [[1.0], [float("nan")]]},
        {"node_id": [1, 2], "embedding": [[1.0, 2.0], None]},
        {"node_id": [1, 2], "embedding": [["a"], ["b"]]},
        {},
    ],
)
def test_a_file_that_holds_no_embeddings_is_told(columns: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "z.parquet"
    if columns:
        parquet.write_table(pa.table(columns), path)
    else:
        path.write_bytes(b"PAR1 no more")
    with pytest.raises(DGBError, match="is not a file of embeddings"):
        read_embeddings(path)


@pytest.mark.parametrize(
    ("ids", "written"),
    [
        (np.array([2**63 + 1, 3], np.uint64), [2**63 + 1, 3]),
        (np.array([2**70, 3], object), [str(2**70), "3"]),
    ],
)
def test_ids_beyond_64_bits_are_written_and_found(
    ids: Array, written: list[Any], tmp_path: Path
) -> None:
    write_embeddings(tmp_path / "z.parquet", ids, np.eye(2))
    again, _ = read_embeddings(tmp_path / "z.parquet")
    assert again.tolist() == written
    assert find_nodes(again, np.array([str(ids[0])])).tolist() == [0]
    assert find_nodes(ids, ids[::-1]).tolist() == [1, 0]


def test_lists_of_one_length_are_embeddings(tmp_path: Path) -> None:
    columns = {"node_id": ["a", "b"], "embedding": [[1, 2], [3, 4]]}
    parquet.write_table(pa.table(columns), tmp_path / "z.parquet")
    assert read_embeddings(tmp_path / "z.parquet")[1].tolist() == [[1, 2], [3, 4]]


def test_clusters_are_counted_written_and_shown(
    run: Path, blocks: Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    group(run)
    printed = capsys.readouterr().out
    assert "3 clusters have the best silhouette" in printed and str(run / "clusters.csv") in printed
    with (run / "clusters.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["node_id", "cluster"]
    assert [row[0] for row in rows[1:]] == blocks.node_ids.tolist()
    clusters = np.array([int(row[1]) for row in rows[1:]])
    assert all(len(np.unique(clusters[blocks.labels == i])) == 1 for i in range(3))
    for name in range(3):
        (line,) = [t for t in printed.splitlines() if t.split()[:1] == [str(name)] and "," in t]
        members = blocks.node_ids[clusters == name]
        assert int(line.split()[1]) == len(members)
        assert set(line.split(maxsplit=2)[2].split(", ")) <= set(members)


def test_two_nodes_are_one_cluster(run: Path, z: Array, capsys: pytest.CaptureFixture[str]) -> None:
    write_embeddings(run / "embeddings.parquet", np.array(["a", "b"]), z[:2])
    cluster.run(Namespace(run=str(run), clusters=None, out=None, describe=False))
    assert capsys.readouterr().out.startswith("one cluster: vectors are all alike")


def test_a_number_of_clusters_and_a_parquet_file_by_wish(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "groups.parquet"
    group(run, 5, str(out))
    assert "silhouette" not in capsys.readouterr().out
    table = parquet.read_table(out)
    assert table.column_names == ["node_id", "cluster"]
    assert np.unique(table["cluster"]).tolist() == [0, 1, 2, 3, 4]
    assert not (run / "clusters.csv").exists()


@pytest.mark.parametrize(
    ("clusters", "out", "message"),
    [
        (0, None, "--clusters must be at least 1"),
        (91, None, "at most the 90 nodes"),
        (3, "groups.txt", "groups.txt"),
        (3, "nowhere/groups.csv", "a folder that exists"),
    ],
)
def test_wrong_wishes_for_clusters_are_told(
    run: Path, clusters: int, out: str | None, message: str
) -> None:
    with pytest.raises(DGBError, match=message):
        group(run, clusters, out)


@pytest.mark.parametrize(
    ("task", "file", "words"),
    [
        ("classify", "runs.jsonl", ["validation", "NMI"]),
        ("cluster", "runs.jsonl", ["cluster acc", "NMI", "ARI"]),
        ("links", "links.jsonl", ["test AUC", "test AP", "edges alone"]),
    ],
)
def test_evaluate_has_three_tasks(
    task: str,
    file: str,
    words: list[str],
    blocks: Graph,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_npz(tmp_path / "blocks.npz", blocks)
    source, out = str(tmp_path / "blocks.npz"), str(tmp_path / "out")
    settings = [word for setting in SMALL for word in ("--set", setting)]
    given = ["evaluate", source, "--task", task, "--runs", "1", "--out", out, *settings]
    assert main(given) == 0
    printed = capsys.readouterr().out
    assert all(word in printed for word in words)
    assert ("validation" in printed) == (task != "cluster")
    assert {f.name for f in (tmp_path / "out").iterdir()} == {file, f".{file}.lock"}


def test_options_may_stand_between_a_run_and_its_nodes(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["neighbors", str(run), "-k", "2", "paper-4", "paper-5"]) == 0
    assert "paper-4" in (out := capsys.readouterr().out) and "paper-5" in out
    with pytest.raises(SystemExit):
        main(["neighbors", str(run), "paper-4", "--loud"])
    assert "unrecognized arguments: --loud" in capsys.readouterr().err


def test_embeddings_are_written_and_read_in_parts_also_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    z = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    np.save(tmp_path / "z.npy", z)
    monkeypatch.setattr("dgb.arrays.NUMBERS", 4 * 16)
    for rows in (np.load(tmp_path / "z.npy", mmap_mode="r"), z.astype(np.float64), z[:, ::-1]):
        write_embeddings(tmp_path / "z.parquet", np.arange(50) * 3, rows)
        ids, again = read_embeddings(tmp_path / "z.parquet")
        assert ids.tolist() == list(range(0, 150, 3)) and again.dtype == np.float32
        np.testing.assert_array_equal(again, rows)
    assert parquet.ParquetFile(tmp_path / "z.parquet").num_row_groups == 4


def test_lists_of_other_lengths_are_told_wherever_they_stand(tmp_path: Path) -> None:
    lists = [[1.0, 2.0]] * 5 + [[1.0, 2.0, 3.0], [1.0]] + [[1.0, 2.0]] * 5
    table = pa.table({"node_id": list(range(12)), "embedding": lists})
    for size in (1, 3, 12):
        parquet.write_table(table, tmp_path / "z.parquet", row_group_size=size)
        with pytest.raises(DGBError, match="is not a file of embeddings"):
            read_embeddings(tmp_path / "z.parquet")
