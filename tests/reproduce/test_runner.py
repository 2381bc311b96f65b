"""Jobs: one line each, kept, adopted by other tables, and never before a commit."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dgb.baselines.own import train_rows
from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.files.atomic import read_lines
from dgb.measure import job as jobs_of
from dgb.measure import measure as measuring
from dgb.measure.job import Job, Place
from dgb.measure.measure import TEST_READS, measure
from dgb.measure.runner import in_parallel
from dgb.recipe import Recipe
from dgb.reproduce import results
from dgb.reproduce.results import match_lines, measure_missing, verdict_line, verify

FAST = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=2"]
KEYS = {"table", "method", "dataset", "recipe", "seed", "val_accuracy", "test_accuracy"}
KEYS |= {"seconds", "peak_mb", "git", "versions", "graph_hash", "threads"}


def make_jobs(table: str = "table4", seeds: int = 2, *more: str) -> list[Job]:
    recipes = [load_recipe("paper", [*FAST, *more, f"train.seed={s}"]) for s in range(seeds)]
    return [Job(table, "dgb", "cora", "dgb", recipe) for recipe in recipes]


@pytest.fixture
def place(tmp_path: Path, blocks: Graph, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(jobs_of, "_load", lambda *_: replace(blocks, name="cora"))
    monkeypatch.setattr(results, "find_uncommitted", lambda *_: [])
    return Place(tmp_path / "results", threads=1)


def test_a_line_carries_what_it_takes_to_measure_it_again(place: Place) -> None:
    lines = measure_missing(make_jobs(), place)
    assert read_lines(place.results / "table4.jsonl") == lines
    assert set(lines[0]) >= KEYS
    assert [line["seed"] for line in lines] == [0, 1]
    assert lines[0] != lines[1] and all(line["val_accuracy"] > 1 / 3 for line in lines)


def test_every_read_of_test_labels_is_logged(place: Place) -> None:
    lines = measure_missing(make_jobs(), place)
    reads = read_lines(place.results / TEST_READS)
    assert [read["seed"] for read in reads] == [0, 1]
    assert {read["recipe"] for read in reads} == {lines[0]["recipe"]}
    assert all(read["time"].endswith("Z") and "git" in read for read in reads)


def test_finished_measurements_are_not_repeated(place: Place) -> None:
    first = measure_missing(make_jobs(), place)
    with (place.results / "table4.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"half": ')  # as a kill leaves it
    assert measure_missing(make_jobs(seeds=3), place)[:2] == first
    assert len(read_lines(place.results / TEST_READS)) == 3
    assert [m["seed"] for m in read_lines(place.results / "table4.jsonl")] == [0, 1, 2]


def test_a_changed_recipe_runs_again(place: Place) -> None:
    measure_missing(make_jobs(), place)
    measure_missing(make_jobs("table4", 2, "train.decay=0.5"), place)
    assert len(read_lines(place.results / TEST_READS)) == 4


def test_another_table_adopts_what_was_measured(place: Place) -> None:
    lines = measure_missing(make_jobs("table2"), place)
    adopted = measure_missing(make_jobs("table4"), place)
    assert adopted == [line | {"table": "table4"} for line in lines]
    assert read_lines(place.results / "table4.jsonl") == adopted
    assert len(read_lines(place.results / TEST_READS)) == 2


def test_a_replaced_line_is_not_adopted(place: Place) -> None:
    lines = measure_missing(make_jobs(), place)
    (place.results / "table4.jsonl").rename(place.results / results.SUPERSEDED)
    again = measure_missing(make_jobs(), place)
    assert [line["test_accuracy"] for line in again] == [line["test_accuracy"] for line in lines]
    assert len(read_lines(place.results / TEST_READS)) == 4


def test_no_test_label_is_read_for_an_uncommitted_recipe(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "find_uncommitted", lambda *_: ["recipes"])
    with pytest.raises(DGBError, match="recipes differ from the last commit"):
        measure_missing(make_jobs(), place)
    assert not place.results.exists()


def test_test_labels_change_no_choice(place: Place, blocks: Graph) -> None:
    (line,) = measure_missing(make_jobs(seeds=1), place)
    labels = np.array(blocks.labels)
    test = blocks.splits[0].test
    labels[test] = np.roll(labels[test], 3)
    swapped = replace(blocks, name="cora", labels=labels)
    (other,) = measure(make_jobs(seeds=1), swapped, place)
    for key in ("val_accuracy", "probe", "recipe"):
        assert other[key] == line[key]
    assert other["test_accuracy"] != line["test_accuracy"]


def test_untrained_encoder_and_features_need_no_training(place: Place) -> None:
    (job,) = make_jobs(seeds=1)
    lines = measure_missing(
        [replace(job, method=name, system=name) for name in ("raw", "random")], place
    )
    assert [line["system"] for line in lines] == ["raw", "random"]
    assert lines[0]["test_accuracy"] != lines[1]["test_accuracy"]


def test_one_training_serves_all_ways_to_embed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = measure_missing(make_jobs("parts", 1, "embed.smooth=0.2"), place)
    trained: list[Graph] = []

    def counting(graph: Graph, recipe: Recipe) -> Any:
        trained.append(graph)
        return train_rows(graph, recipe)

    monkeypatch.setattr(measuring, "train_rows", counting)
    ways = [[], ["embed.smooth=0.2"], ["embed.operator=diff"], ["embed.features=true"]]
    jobs = [job for way in ways for job in make_jobs("table2", 1, *way)]
    elsewhere = replace(place, results=place.results.parent / "other")
    lines = measure_missing(jobs, elsewhere)
    assert len(trained) == 1 and len({line["recipe"] for line in lines}) == 4
    assert lines[1]["test_accuracy"] == alone[0]["test_accuracy"]


def test_one_failure_stops_no_other_training(place: Place) -> None:
    wild = make_jobs("table4", 1, "train.learning_rate=1e30", "train.epochs=9")
    with pytest.raises(DGBError, match=r"others are kept: dgb on cora: the loss became"):
        measure_missing([*wild, *make_jobs()], place)
    assert [line["seed"] for line in read_lines(place.results / "table4.jsonl")] == [0, 1]


def test_a_table_shows_all_that_was_measured(place: Place) -> None:
    measure_missing(make_jobs(seeds=3), place)
    found = match_lines(make_jobs("parts", 5), place.results)
    assert [job.seed for job, _ in found] == [0, 1, 2]
    assert match_lines(make_jobs("parts", 5, "train.decay=0.1"), place.results) == []


def square(number: int, place: Place) -> tuple[int, int]:
    return number**2, place.threads


def test_several_at_once_give_the_same_results(tmp_path: Path) -> None:
    tasks = [1, 2, 3]
    together = dict(in_parallel(square, tasks, Place(tmp_path, jobs=2, threads=1)))
    assert together == dict(in_parallel(square, tasks, Place(tmp_path, threads=1)))
    assert together[3] == (9, 1)


def fake_plan(table: str, datasets: tuple[str, ...], runs: int) -> list[Job]:
    assert "cora" in datasets
    return make_jobs(table, min(runs, 5))


def test_verify_measures_lines_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "plan", fake_plan)
    with pytest.raises(DGBError, match="dgb reproduce table2"):
        verify(place, 1)
    lines = measure_missing(make_jobs(), place)
    monkeypatch.setattr(results, "TABLES", ("table4",))
    verdicts = verify(place, 5)
    assert [verdict["same"] for verdict in verdicts] == [True, True]
    assert verdict_line(verdicts[0]).startswith("same")
    _rewrite(place, lines[0] | {"test_accuracy": 0.123})
    (verdict,) = verify(place, 5)
    assert verdict["same"] is False and "OTHER" in verdict_line(verdict)
    _rewrite(place, lines[0] | {"recipe": "of another day"})
    with pytest.raises(DGBError, match="no line of a recipe of today"):
        verify(place, 5)


def _rewrite(place: Place, line: dict[str, Any]) -> None:
    (place.results / "table4.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
