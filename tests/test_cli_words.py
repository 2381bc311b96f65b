"""What the command line says: versions, help, mistakes and quiet runs; how threads wait."""

import os
from importlib.metadata import version
from pathlib import Path

import pytest

from dgb.cli import main
from dgb.commands import reproduce
from dgb.data.formats.npz import write_npz
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.measure.job import Place
from dgb.recipe import Train
from dgb.reproduce import results
from dgb.terminal import log
from dgb.train.monitor import describe_cures
from dgb.tune.study import _best_of
from tests.test_cli import SMALL

Printed = pytest.CaptureFixture[str]


def ends_with(code: int, *words: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == code


def test_version_and_help(capsys: Printed) -> None:
    ends_with(0, "--version")
    assert capsys.readouterr().out == f"dgb {version('deep-graph-bootstrapping')}\n"
    ends_with(0, "help")
    assert "VERB" in capsys.readouterr().out
    ends_with(0, "help", "train")
    helped = capsys.readouterr().out
    ends_with(0, "train", "--help")
    assert capsys.readouterr().out == helped
    ends_with(0, "help", "data", "check")
    assert "--weight" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("trian cora", ["did you mean train?", "see `dgb --help`"]),
        ("data chek cora", ["did you mean check?", "see `dgb data --help`"]),
        ("data check cora --lable x", ["did you mean --label?", "see `dgb data check --help`"]),
        ("train cora --lable=x", ["did you mean --label?", "see `dgb train --help`"]),
        ("train cora --epochs 10", ["did you mean --set train.epochs=…?", "`dgb train --help`"]),
        ("train cora --batch-size 9", ["did you mean --set train.batch_size=…?"]),
        ("evaluate cora --task clasify", ["did you mean classify?", "`dgb evaluate --help`"]),
        ("neighbors run --nothing-like-it", ["arguments: --nothing-like-it; see `dgb neighbors"]),
        ("cluster run --runs 3", ["unrecognized arguments: --runs 3; see `dgb cluster --help`"]),
    ],
)
def test_mistakes_name_what_they_are_like(words: str, told: list[str], capsys: Printed) -> None:
    ends_with(2, *words.split())
    printed = capsys.readouterr().err
    assert all(word in printed for word in told)
    assert printed.count("\n") == 1


def test_a_quiet_run_prints_results_alone(blocks: Graph, tmp_path: Path, capsys: Printed) -> None:
    write_npz(tmp_path / "g.npz", blocks)
    run = [str(tmp_path / "g.npz"), "--no-report", *SMALL, "--set", "probe.weight_decays=[0.01]"]
    assert main(["train", *run, "--quiet", "--out", str(tmp_path / "a")]) == 0
    printed = capsys.readouterr()
    assert printed.err == "" and "trained in" in printed.out and "report:" not in printed.out
    assert main(["train", "--resume", str(tmp_path / "a"), "--no-report"]) == 0
    written = {path.name for path in (tmp_path / "a").iterdir()}
    assert "scores.json" in written and not {"map.parquet", "report.html"} & written
    assert main(["report", str(tmp_path / "a")]) == 0
    assert "This run has no map" in (tmp_path / "a" / "report.html").read_text("utf-8")
    capsys.readouterr()
    assert main(["--quiet", "train", *run, "--set", "train.no=1"]) == 2
    assert capsys.readouterr().err.startswith("dgb: unknown key train.no")
    log("note: hidden")
    log("warning: shown")
    assert main(["data", "list"]) == 0  # quiet no more
    log("note: shown again")
    assert capsys.readouterr().err == "warning: shown\nnote: shown again\n"


def test_a_graph_without_labels_is_pointed_to_links(tmp_path: Path, capsys: Printed) -> None:
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n", "utf-8")
    assert main(["evaluate", str(tmp_path / "edges.csv"), "--out", str(tmp_path / "out")]) == 2
    assert "--task links" in capsys.readouterr().err


def test_verdicts_are_lines(monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    verdicts = [{"same": False, "name": "one"}, {"same": True, "name": "other"}]
    monkeypatch.setattr(results, "verify", lambda *_: verdicts)
    monkeypatch.setattr(results, "verdict_line", lambda verdict: verdict["name"])
    with pytest.raises(DGBError, match="not every line") as error:
        reproduce.make_verdicts("verify", Place(), reproduce.Asked())
    assert capsys.readouterr().out == "one\nother\n"
    assert "\\x0a" not in str(error.value)


def test_nothing_is_advised_that_is_set() -> None:
    assert "batch_norm" not in describe_cures(Train(), has_norm=True)
    assert "set heads.batch_norm=true" in describe_cures(Train(), has_norm=False)
    assert "raise train.decay=0.9," in describe_cures(Train(), has_norm=True)
    assert "train.decay" not in describe_cures(Train(decay=1.0), has_norm=True)


def test_the_longest_of_equal_trainings_is_found() -> None:
    history = [{"epoch": epoch, "validation": score} for epoch, score in ((1, 0.8), (6, 0.8))]
    assert _best_of(history, "validation")["epoch"] == 6
    assert _best_of([*history, {"epoch": 9, "validation": 0.7}], "validation")["epoch"] == 6


def test_the_users_number_of_threads_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, jobs, expected in (("1", 1, 1), ("3,2", 2, 3)):
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        assert Place(jobs=jobs).threads == expected
        assert Place(jobs=jobs, threads=5).threads == 5  # which train.threads asks for
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert Place(jobs=10**6).threads == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert Place(jobs=10**6).threads == 1


@pytest.mark.parametrize("given", ["", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"])
def test_threads_wait_without_spinning_unless_the_user_chose(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {given: "9"} if given else {})
    assert main(["data", "list"]) == 0
    assert os.environ == ({given: "9"} if given else {"OMP_WAIT_POLICY": "passive"})
