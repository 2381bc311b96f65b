"""Choosing by test accuracy: what it would have given, apart from everything else."""

from dataclasses import replace
from pathlib import Path

import pytest

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.evaluate import heads
from dgb.files.atomic import read_lines
from dgb.measure import job as jobs_of
from dgb.measure.job import Job, Place
from dgb.measure.measure import TEST_READS
from dgb.reproduce import by_test, results
from dgb.reproduce.by_test import PROBES, look, plan_looks, tell
from dgb.reproduce.results import read_all


def test_the_recipe_s_rates_are_trained_several_times_and_no_rate_twice() -> None:
    jobs = plan_looks()
    own = load_recipe("paper-cora")
    assert jobs[0].recipe.view1 == own.view1 and jobs[0].recipe.view2 == own.view2
    assert sum(job.hash == jobs[0].hash for job in jobs) == by_test.RUNS
    assert len({(job.hash, job.seed) for job in jobs}) == len(jobs)


def test_ways_to_choose() -> None:
    def line(method: str, early: float, usual: float) -> dict[str, object]:
        scores = {"50": dict.fromkeys(PROBES, early), "300": dict.fromkeys(PROBES, usual)}
        scores["300"]["std_over_heads"] = 0.003
        return {"method": method, "scores": scores}

    own = plan_looks()[0].method
    lines = [line("other", 0.60, 0.90), line(own, 0.70, 0.80), line(own, 0.84, 0.80)]
    text = tell(lines, usual=300)
    for ways, found in (("mean of 2 trainings", 80), ("of every training", 82),
                        ("best training", 84), ("length and rates", 90)):  # fmt: skip
        (row,) = [each for each in text.splitlines() if ways in each]
        assert row.endswith(f" {found}.0 |" * 4)
    assert "the paper has 83.4" in text and "encoder: 0.30." in text


@pytest.fixture
def place(tmp_path: Path, blocks: Graph, monkeypatch: pytest.MonkeyPatch) -> Place:
    fast = ("encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=4")
    jobs = [Job("by-test", "own", "cora", "dgb", load_recipe("paper-cora", fast))]
    monkeypatch.setattr(by_test, "plan_looks", lambda: jobs)
    monkeypatch.setattr(by_test, "EVERY", 2)
    monkeypatch.setattr(by_test, "MOST", 4)
    monkeypatch.setattr(by_test, "tell", lambda lines, _: f"{len(lines)} lines")
    monkeypatch.setattr(heads, "STEPS", 10)
    monkeypatch.setattr(jobs_of, "_load", lambda *_: replace(blocks, name="cora"))
    monkeypatch.setattr(results, "find_uncommitted", lambda *_: [])
    return Place(tmp_path / "results", threads=1)


def test_every_look_is_logged_and_no_table_reads_it(place: Place) -> None:
    assert look(place) == "1 lines"
    (line,) = read_lines(place.results / "by-test.jsonl")
    assert list(line["scores"]) == ["2", "4"]
    assert len(read_lines(place.results / TEST_READS)) == 2
    assert read_all(place.results) == []


def test_nothing_is_looked_at_for_uncommitted_recipes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "find_uncommitted", lambda *_: ["recipes"])
    with pytest.raises(DGBError, match="commit first"):
        look(place)
