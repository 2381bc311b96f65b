"""The command line as a user types it, on a small graph file."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from dgb.arrays import Array
from dgb.cli import main
from dgb.data.formats.npz import write_npz
from dgb.data.graph import Graph
from dgb.run.vectors import write_embeddings
from tests.conftest import QUICK_PROBE, make_blocks

SMALL = ["--set", "encoder.width=8", "--set", "heads.hidden=8", "--set", "heads.width=8"]
SMALL += ["--recipe", "paper"]
SMALL += [word for setting in ("train.epochs=6", *QUICK_PROBE) for word in ("--set", setting)]


@pytest.fixture
def graph_file(blocks: Graph, tmp_path: Path) -> str:
    path = tmp_path / "blocks.npz"
    write_npz(path, blocks)
    return str(path)


def vectors(path: Path) -> tuple[list[str], Array]:
    table = parquet.read_table(path)
    return table["node_id"].to_pylist(), np.array(table["embedding"].to_pylist(), np.float32)


def test_train_writes_a_whole_run_folder(
    graph_file: str, blocks: Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    assert main(["train", graph_file, "--out", str(run), *SMALL, "--set", "embed.npy=true"]) == 0
    files = {"recipe.toml", "metrics.jsonl", "model.safetensors", "scores.json"}
    files |= {"embeddings.parquet", "embeddings.npy", "map.parquet", "report.html", ".lock"}
    assert {f.name for f in run.iterdir()} == files
    ids, z = vectors(run / "embeddings.parquet")
    assert ids == list(blocks.node_ids) and z.shape == (90, 8)
    np.testing.assert_array_equal(np.load(run / "embeddings.npy"), z)
    scores = json.loads((run / "scores.json").read_text())
    assert scores["seed"] == 0 and "torch" in scores["versions"] and "git" in scores
    assert len({scores[name]["probe"]["test"] for name in ("dgb", "random", "raw")}) > 1
    printed = capsys.readouterr().out
    assert str(run / "embeddings.parquet") in printed and "untrained GCN" in printed


def test_embed_gives_the_same_vectors_again(graph_file: str, tmp_path: Path) -> None:
    run, again = tmp_path / "run", tmp_path / "again.parquet"
    assert main(["train", graph_file, "--out", str(run), *SMALL]) == 0
    assert main(["embed", str(run), "--out", str(again)]) == 0
    np.testing.assert_array_equal(vectors(again)[1], vectors(run / "embeddings.parquet")[1])
    assert main(["embed", str(run), graph_file]) == 2  # the run keeps its own embeddings
    assert main(["embed", str(run), "--out", str(tmp_path / "no" / "x.parquet")]) == 2
    assert main(["embed", str(run), graph_file, "--operator", "diff", "--out", str(again)]) == 0
    assert not np.allclose(vectors(again)[1], vectors(run / "embeddings.parquet")[1])


def test_a_table_is_not_embedded_by_a_run_of_a_matrix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edges, run = tmp_path / "edges.csv", str(tmp_path / "run")
    edges.write_text("source,target\n0,1\n1,2\n2,3\n", "utf-8")
    np.save(tmp_path / "x.npy", np.arange(8.0).reshape(4, 2))
    (tmp_path / "x.csv").write_text("id,p,q\n0,0,1\n1,2,3\n2,4,5\n3,6,7\n", "utf-8")
    matrix, table = (["--nodes", str(tmp_path / name)] for name in ("x.npy", "x.csv"))
    assert main(["train", str(edges), *matrix, "--out", run, *SMALL]) == 0
    embed = ["embed", run, str(edges), "--out", str(tmp_path / "z.parquet")]
    assert main([*embed, *matrix]) == 0
    capsys.readouterr()
    assert main([*embed, *table]) == 2
    assert "scaled by its own numbers" in capsys.readouterr().err


def test_embed_reads_another_graph_by_the_settings_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, new = str(tmp_path / "run"), tmp_path / "new"
    new.mkdir()
    (new / "nodes.csv").write_text("id,p\n0,0\n1,2\n2,4\n3,6\n", "utf-8")
    (new / "edges.csv").write_text("source,target\n0,1\n1,2\n2,3\n", "utf-8")
    assert main(["train", str(new), "--out", run, *SMALL]) == 0
    (new / "edges.csv").write_text("source,target\n0,1\n1,2\n2,9\n", "utf-8")
    embed = ["embed", run, str(new), "--out", str(tmp_path / "z.parquet")]
    assert main(embed) == 2
    assert "--set data.unknown=drop" in capsys.readouterr().err
    assert main([*embed, "--set", "data.unknown=drop"]) == 0
    assert len(vectors(tmp_path / "z.parquet")[0]) == 4
    capsys.readouterr()
    assert main([*embed, "--set", "encoder.width=9"]) == 2
    assert "trained already" in capsys.readouterr().err
    assert main(["embed", run, "--nodes", "x.csv"]) == 2
    assert "name its edges" in capsys.readouterr().err


def test_ctrl_c_leaves_a_run_that_resumes_to_the_same_vectors(
    graph_file: str,
    tmp_path: Path,
    ctrl_c_in_epoch_3: list[int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert main(["train", graph_file, "--out", str(cut), *SMALL]) == 130
    assert f"dgb train --resume {cut}" in capsys.readouterr().err
    assert main(["embed", str(cut)]) == 2
    assert main(["train", "--resume", str(cut)]) == 0
    assert len(ctrl_c_in_epoch_3) == 6  # three epochs before and three after
    assert main(["train", graph_file, "--out", str(whole), *SMALL]) == 0
    first, second = (vectors(run / "embeddings.parquet")[1] for run in (whole, cut))
    np.testing.assert_array_equal(first, second)
    (cut / "report.html").unlink()  # as if killed before it was written
    (cut / "checkpoint.safetensors").write_bytes(b"left over")
    assert main(["train", "--resume", str(cut)]) == 0
    assert f"is finished\nembeddings: {cut}" in capsys.readouterr().out
    assert (cut / "report.html").exists() and not (cut / "checkpoint.safetensors").exists()
    assert main(["train", "--resume", str(cut), "--seed", "3"]) == 2


def test_a_refused_setting_leaves_nothing_behind(graph_file: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    for wrong in (
        "train.learning_rate=nan",
        "view1.augment=adj",
        "train.batch_size=1",
        "train.device=mps",
    ):
        assert main(["train", graph_file, "--out", str(run), *SMALL, "--set", wrong]) == 2
        assert not run.exists()


def test_a_folder_in_use_is_not_overwritten(
    graph_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", graph_file, "--out", str(tmp_path / "run"), *SMALL]) == 0
    assert main(["train", graph_file, "--out", str(tmp_path / "run"), *SMALL]) == 2
    assert "--resume" in capsys.readouterr().err


def test_evaluate_reports_over_trainings_and_resumes(
    graph_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", graph_file, "--out", str(tmp_path / "eval"), *SMALL, "--runs"]
    assert main([*words, "2"]) == 0
    first = (tmp_path / "eval" / "runs.jsonl").read_text()
    assert main([*words, "3"]) == 0
    lines = [json.loads(t) for t in (tmp_path / "eval" / "runs.jsonl").read_text().splitlines()]
    assert [line["seed"] for line in lines] == [0, 1, 2]
    assert (tmp_path / "eval" / "runs.jsonl").read_text().startswith(first)
    printed = capsys.readouterr().out
    tests = [100 * line["dgb"]["probe"]["test"] for line in lines]
    assert f"{np.mean(tests):.1f} ± {np.std(tests, ddof=1):.1f}" in printed
    assert main([*words, "1", "--set", "train.decay=0.3"]) == 0  # another recipe runs again
    assert len((tmp_path / "eval" / "runs.jsonl").read_text().splitlines()) == 4
    with (tmp_path / "eval" / "runs.jsonl").open("a") as file:
        file.write('{"seed": 9, "half')  # killed while writing
    write_npz(Path(graph_file), make_blocks(80))
    assert main([*words, "1"]) == 0  # another graph in the same file runs again
    lines = [json.loads(t) for t in (tmp_path / "eval" / "runs.jsonl").read_text().splitlines()]
    assert len(lines) == 5 and lines[4]["graph_hash"] != lines[0]["graph_hash"]


def test_a_graph_without_labels_or_with_an_odd_name_is_embedded(
    blocks: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "it's a gräph.npz"
    write_npz(path, replace(blocks, labels=None, label_names=(), splits=()))
    monkeypatch.chdir(tmp_path)
    assert main(["train", path.name, "--out", "run", *SMALL]) == 0
    assert "dgb" not in json.loads((tmp_path / "run" / "scores.json").read_text())
    monkeypatch.chdir("/")
    assert main(["embed", str(tmp_path / "run")]) == 0


def test_mixed_node_ids_are_written_as_text(tmp_path: Path) -> None:
    ids = np.array([1, "two", (3,)], dtype=object)
    write_embeddings(tmp_path / "z.parquet", ids, np.ones((3, 2), np.float32))
    assert vectors(tmp_path / "z.parquet")[0] == ["1", "two", "(3,)"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "corra"], "cora"),
        (["train"], "--resume RUN"),
        (["train", "cora", "--set", "train.decoy=1"], "train.decoy"),
        (["train", "cora", "--recipe", "none.toml"], "none.toml"),
        (["train", "nowhere/graph.npz"], "graph.npz"),
        (["train", "--resume", "nowhere"], "not a run folder"),
        (["embed", "runs/x", "--out", "z.csv"], "dgb export runs/x --vectors FILE.parquet"),
        (["train", "cora", "--resume", "runs/x"], "leave out cora, or train a finished run on a"),
        (["embed", "nowhere"], "not a run folder"),
        (["train", "citeseer", "--offline"], "offline"),
        (["data", "check", "nowhere.npz"], "nowhere.npz"),
        (["evaluate", "cora", "--runs", "0"], "--runs"),
        (["evaluate", "cora", "--seed", "-1"], "train.seed"),
        (["evaluate", "cora", "--out", "/dev/null"], "/dev/null"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DGB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DGB_DATA", raising=False)
    assert main(words) == 2
    error = capsys.readouterr().err.strip()
    assert message in error and error.startswith("dgb: ") and "\n" not in error
    assert not (tmp_path / "runs").exists()


def test_data_and_info_answer(graph_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "list"]) == 0
    assert main(["data", "check", graph_file]) == 0
    assert main(["data", "fetch", "cora"]) == 0
    assert main(["info"]) == 0
    assert main(["info", "paper-cora"]) == 0
    printed = capsys.readouterr().out
    assert "train.decay" in printed and "p of Eq. 7" in printed
    assert "citeseer" in printed and "homophily" in printed and "torch" in printed


def test_tune_writes_a_recipe_that_trains(
    graph_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tuned"
    search = ["--search", "train.decay=0.8,0.9", "--trials", "2", "--out", str(out)]
    assert main(["tune", graph_file, *search, *SMALL]) == 0
    text = capsys.readouterr().out
    assert "best validation" in text and f"--recipe {out / 'recipe.toml'}" in text
    train = ["train", graph_file, "--recipe", str(out / "recipe.toml")]
    assert main([*train, "--out", str(tmp_path / "run")]) == 0


def test_reproduce_table_1_and_what_it_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = ["--results", str(tmp_path / "results")]
    assert main(["reproduce", "table1", "--datasets", "cora", *results]) == 0
    assert "5,278 (paper 5,429)" in capsys.readouterr().out
    page = (tmp_path / "results" / "table1.html").read_text("utf-8")
    assert "they cite each other" in page
    assert main(["reproduce", "table4", "--jobs", "0", *results]) == 2
    assert "--jobs must be at least 1" in capsys.readouterr().err
    assert main(["reproduce", "table4", "--datasets", "korra", *results]) == 2
    assert "did you mean 'cora'" in capsys.readouterr().err
