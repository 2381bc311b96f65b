"""Systems next to each other: the same splits for all, kept lines, reasons, and one table."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dgb.baselines.methods import METHODS, settings_hash, settings_of
from dgb.cli import main
from dgb.data.formats.npz import write_npz
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph
from dgb.evaluate.probe import linear_probe
from dgb.files.atomic import read_lines
from dgb.measure import compare as runner
from dgb.measure.compare import Repeats, leave_out, make_jobs
from dgb.measure.comparison import as_text, make_comparison, read_comparison, write
from dgb.measure.job import Job, Line, Place
from dgb.recipe import Recipe

SMALL = ["--set", "encoder.width=8", "--set", "train.epochs=2", "--set", "gcn.epochs=3"]


@pytest.fixture
def graph_file(blocks: Graph, tmp_path: Path) -> str:
    path = tmp_path / "blocks.npz"
    write_npz(path, blocks)
    return str(path)


def run(graph_file: str, out: Path, *more: str) -> list[dict[str, Any]]:
    words = ["compare", graph_file, "--methods", "dgb,gcn,raw,lp", "--runs", "2", "--out", str(out)]
    assert main([*words, *SMALL, *more]) == 0
    return read_lines(out / runner.COMPARISON)


def test_a_comparison_is_one_table_in_three_places(
    blocks: Graph, graph_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    lines = run(graph_file, out)
    counts = {key: [m["method"] for m in lines].count(key) for key in ("dgb", "gcn", "raw", "lp")}
    assert counts == {"dgb": 2, "gcn": 2, "raw": 1, "lp": 1}  # the last two are always the same
    scores = {m["method"]: (m["val_accuracy"], m["test_accuracy"]) for m in lines}
    assert blocks.labels is not None
    probe = linear_probe(blocks.x, blocks.labels, blocks.splits[0])
    assert scores["raw"] == (probe.validation, probe.test)
    assert scores["dgb"] > scores["lp"] > scores["raw"]  # the classes are in the edges alone
    assert all(m["seconds"] >= 0 and m["peak_mb"] > 0 for m in lines)
    printed = capsys.readouterr().out
    for text in (printed, (out / "compare.md").read_text("utf-8")):
        assert "raw features" in text and "peak MB" in text
        assert re.search(
            rf"raw features .*{100 * probe.test:.1f} .*{100 * probe.validation:.1f}", text
        )
        assert re.search(r"DGB .*\d ± \d", text) and "sgc" not in text
    page = (out / "report.html").read_text("utf-8")
    assert page.startswith("<!doctype html>") and "raw features" in page and "://" not in page


def test_finished_trainings_are_kept(
    graph_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    lines = run(graph_file, out)
    with (out / runner.COMPARISON).open("a", encoding="utf-8") as file:
        file.write('{"half": ')  # as a kill leaves it
    monkeypatch.setattr(runner, "measure_task", lambda *_: pytest.fail("measured again"))
    assert run(graph_file, out) == lines


def test_other_settings_are_another_training(graph_file: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = len(run(graph_file, out))
    assert len(run(graph_file, out, "--set", "gcn.hidden=4")) == before + 2
    probe = run(graph_file, out, "--set", "probe.normalise=l2")
    assert len([m for m in probe if m["method"] == "raw"]) == 2


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("gcn.hiden=4", "did you mean 'hidden'"),
        ("gat.dropout=0.5", "Known: data"),  # not compared
        ("dgb.width=8", "dgb takes a recipe"),
        ("gmnn-q.rounds=2", "makes it gmnn-q"),
        ("view1.augment=nfd+ajd", "a view is"),
        ("train.device=cpu", "the device that torch finds"),
    ],
)
def test_settings_that_would_do_nothing_are_refused(
    graph_file: str, override: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", graph_file, "--methods", "dgb,gcn,gmnn-q", "--set", override]
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_representation_scored_by_another_probe_is_another_line() -> None:
    other = Recipe(probe=replace(Recipe().probe, normalise="l2"))
    settings = settings_of("dgi", "g", other)
    assert settings_hash("dgi", settings, other.probe) != settings_hash("dgi", settings)
    assert settings_hash("dgi", settings, Recipe().probe) == settings_hash("dgi", settings)


def test_without_labels_classifiers_are_left_out_and_the_rest_runs(
    blocks: Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bare.npz"
    write_npz(path, replace(blocks, labels=None, label_names=(), splits=()))
    lines = run(str(path), tmp_path / "out")
    assert {line["method"] for line in lines} == {"dgb", "raw"}
    assert all(line["effective_rank"] > 0 and "test_accuracy" not in line for line in lines)
    printed = capsys.readouterr()
    assert "GCN was left out: it learns from labels" in printed.out
    assert "no accuracies: bare has no labels" in printed.err


def test_nothing_left_to_compare_says_why(
    blocks: Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bare.npz"
    write_npz(path, replace(blocks, labels=None, label_names=(), splits=()))
    assert main(["compare", str(path), "--methods", "gcn", "--out", str(tmp_path / "out")]) == 2
    assert "nothing to compare: GCN was left out: it learns from labels" in capsys.readouterr().err


def test_help_names_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    help_text = "".join(capsys.readouterr().out.split())
    assert f"methods:{','.join(METHODS)};" in help_text
    assert f"default:{','.join(runner.DEFAULT)})" in help_text
    assert "diffused" in runner.DEFAULT  # the row to beat


@pytest.mark.parametrize("words", [["--methods", "dgii"], ["--runs", "0"], ["--splits", "0"]])
def test_mistakes_are_told(graph_file: str, words: list[str]) -> None:
    assert main(["compare", graph_file, *words]) == 2


def test_features_a_graph_lacks_are_said(blocks: Graph) -> None:
    reasons = leave_out(["dgi", "lp", "deepwalk-alone"], replace(blocks, x=blocks.x[:, :0]), 0)
    assert list(reasons) == ["dgi"] and "features" in reasons["dgi"]


def test_an_embedding_serves_all_its_splits_and_a_classifier_one(blocks: Graph) -> None:
    free = replace(blocks, splits=())
    jobs = make_jobs(free, {"dgi": None, "gcn": None}, Recipe(), Repeats(2, 3))
    own = [(job.seed, job.split) for job in jobs if job.method == "dgi"]
    assert own == [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 5)]
    assert len({job.training for job in jobs if job.method == "dgi"}) == 2
    trained = [(job.seed, job.split) for job in jobs if job.method == "gcn"]
    assert trained == [(split, split) for split in range(6)]
    repeats = Repeats(2, 3).of(blocks)
    fixed = make_jobs(blocks, {"dgi": None, "raw": None}, Recipe(), repeats)
    assert [job.method for job in fixed] == ["dgi", "raw", "dgi"]  # it has one split of its own


def test_every_split_of_a_training_is_a_line(blocks: Graph, tmp_path: Path) -> None:
    path = tmp_path / "free.npz"
    write_npz(path, replace(blocks, splits=()))
    lines = run(str(path), tmp_path / "out", "--splits", "3")
    splits = {(line["method"], line["split"]) for line in lines}
    assert len(splits) == len(lines) == 4 * 6
    assert len({line["test_accuracy"] for line in lines if line["method"] == "dgb"}) > 1


def test_more_splits_measure_again_and_count_once(blocks: Graph, tmp_path: Path) -> None:
    path, out = tmp_path / "free.npz", tmp_path / "out"
    write_npz(path, replace(blocks, splits=()))
    run(str(path), out)
    lines = run(str(path), out, "--splits", "2")
    keys = [(line["method"], line["recipe"], line["seed"], line["split"]) for line in lines]
    assert len(set(keys)) == len(keys)
    assert re.search(r"DGB .* 2 × 2 \|", (out / "compare.md").read_text("utf-8"))


def test_hidden_test_labels_leave_embeddings_to_look_at(
    blocks: Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = np.array(blocks.labels)
    labels[blocks.splits[0].test] = -1
    path = tmp_path / "hidden.npz"
    write_npz(path, replace(blocks, labels=labels))
    lines = run(str(path), tmp_path / "out")
    assert {line["method"] for line in lines} == {"dgb", "raw"}
    assert "nothing can score: hidden: the split has no labelled test nodes" in (
        capsys.readouterr().out
    )


def test_two_at_once_give_the_same(graph_file: str, tmp_path: Path) -> None:
    alone = run(graph_file, tmp_path / "a")
    both = run(graph_file, tmp_path / "b", "--jobs", "2")
    scores = [
        sorted((m["method"], m["seed"], m["val_accuracy"], m["test_accuracy"]) for m in lines)
        for lines in (alone, both)
    ]
    assert scores[0] == scores[1]


def test_the_same_result_is_scored_on_each_split_once(blocks: Graph) -> None:
    many = replace(blocks, splits=blocks.splits * 4)
    jobs = make_jobs(many, {"raw": None, "dgi": None}, Recipe(), Repeats(3, 2))
    assert [job.split for job in jobs if job.method == "raw"] == [0, 1, 2, 3]
    assert len({job.training for job in jobs if job.method == "dgi"}) == 3
    bare = replace(blocks, labels=None, splits=())
    assert len(make_jobs(bare, {"raw": None}, Recipe(), Repeats(3).of(bare))) == 1


def test_one_failure_stops_no_other_method(graph_file: str, tmp_path: Path) -> None:
    lines = run(graph_file, tmp_path / "out", "--set", "gcn.learning_rate=1e30")
    assert {line["method"] for line in lines} == {"dgb", "raw", "lp"}
    text = (tmp_path / "out" / "compare.md").read_text("utf-8")
    assert "GCN failed in 2 of 2 trainings: the loss became" in text
    wild = ["--methods", "gcn", "--set", "gcn.learning_rate=1e30", "--out", str(tmp_path / "b")]
    assert main(["compare", graph_file, *wild]) == 2  # nothing to show


def test_rows_are_ordered_by_validation(tmp_path: Path) -> None:
    cost = {"seconds": 1.0, "peak_mb": None, "seed": 0}
    lines = [
        {"method": "gcn", "test_accuracy": 0.9, "val_accuracy": 0.7} | cost,
        {"method": "dgb", "test_accuracy": 0.8, "val_accuracy": 0.8} | cost,
    ]
    table = make_comparison("title", lines, ["LP <failed>"])
    assert [row.key for row in table.rows] == ["dgb", "gcn"]
    assert [row.share for row in table.rows] == pytest.approx([1, 0.7 / 0.8])
    assert table.head[table.ordered_by] == "validation"
    assert "80.0" in as_text(table)
    write(table, tmp_path)
    assert "- LP <failed>" in (tmp_path / "compare.md").read_text("utf-8")


def test_a_failure_told_in_many_lines_is_one_remark(
    graph_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(jobs: Sequence[Job], graph: AnyGraph, place: Place) -> list[Line]:
        if jobs[0].method == "gcn":
            raise RuntimeError("no memory\n- for a matrix\n\n| of this size |")
        return measure(jobs, graph, place)

    measure = runner.measure_task
    monkeypatch.setattr(runner, "measure_task", failing)
    run(graph_file, tmp_path / "out")
    remarks = read_comparison(tmp_path / "out").remarks
    assert remarks == ["GCN failed in 2 of 2 trainings: no memory - for a matrix | of this size |"]
