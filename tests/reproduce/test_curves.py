"""Accuracy by length: what is trained, how often, and that no test label is read."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.evaluate import heads
from dgb.evaluate.labels import draw_resplits
from dgb.measure import job as jobs_of
from dgb.measure.job import Job, Place
from dgb.reproduce import curves
from dgb.reproduce.curve_figure import curves_of, write_curves
from dgb.reproduce.curves import MAIN, measure_curves, plan_curves

FAST = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=4"]


def test_all_rows_of_the_paper_are_trained_in_the_same_way() -> None:
    jobs = plan_curves(("cora", "citeseer", "pubmed"))
    counts = {name: sum(job.dataset == name for job in jobs) for name in ("cora", "pubmed")}
    assert counts == {"cora": 8 * 5 + 15 * 3, "pubmed": 8 * 3}
    seeds = [job.seed for job in jobs if job.dataset == "cora"]
    assert seeds == sorted(seeds)  # one of every row before the second of any
    assert [job.method for job in jobs[:8]] == list(MAIN)
    for job in jobs:
        recipe, per_epoch = job.recipe, 5 if job.dataset == "pubmed" else 1
        assert recipe.encoder.width == 512 and recipe.train.learning_rate == 1e-3
        assert recipe.train.epochs * per_epoch == 1000
        assert recipe.view1.nfd_drop_rate == recipe.view2.nfd_drop_rate == 0.7


@pytest.fixture
def place(tmp_path: Path, blocks: Graph, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(jobs_of, "_load", lambda *_: replace(blocks, name="cora"))
    monkeypatch.setattr(curves, "STEPS", (0, 2, 4))
    monkeypatch.setattr(heads, "STEPS", 10)
    monkeypatch.setattr(curves, "draw_resplits", partial(draw_resplits, count=2))
    return Place(tmp_path / "results", threads=1)


def _jobs() -> list[Job]:
    recipe = load_recipe("paper", FAST)
    own = Job("curves", "nfd+adj|nd+diff", "cora", "dgb", recipe)
    diff = replace(own, method="embed-diff", recipe=load_recipe(recipe, ["embed.operator=diff"]))
    return [own, diff]


def test_a_line_a_training_with_all_lengths(place: Place) -> None:
    first, second = measure_curves(_jobs(), place)
    assert list(first["scores"]) == ["0", "2", "4"]
    assert set(first["scores"]["4"]) == {"solved", "dgi", "resplit"}
    assert first["scores"] != second["scores"]  # one training, embedded over both operators
    assert measure_curves(_jobs(), place) == [first, second]
    assert not list((place.results / "unfinished").iterdir())


def test_a_training_that_stopped_in_its_middle_resumes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = measure_curves(_jobs(), place)
    (place.results / "curves.jsonl").unlink()
    real, calls = curves.score_validation, []

    def stop(z: np.ndarray, graph: Graph) -> dict[str, float]:
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return real(z, graph)

    monkeypatch.setattr(curves, "score_validation", stop)
    with pytest.raises(KeyboardInterrupt):
        measure_curves(_jobs(), place)
    again = measure_curves(_jobs(), place)
    assert len(calls) == 5 + 2  # what was scored before the stop is not scored again
    assert [line["scores"] for line in again] == [line["scores"] for line in whole]


def test_test_labels_change_nothing(
    place: Place, blocks: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = measure_curves(_jobs(), place)
    assert blocks.labels is not None
    labels, test = blocks.labels.copy(), blocks.splits[0].test
    labels[test] = labels[test][::-1]
    assert not np.array_equal(labels, blocks.labels)
    monkeypatch.setattr(jobs_of, "_load", lambda *_: replace(blocks, name="cora", labels=labels))
    (place.results / "curves.jsonl").unlink()
    after = measure_curves(_jobs(), place)
    assert [line["scores"] for line in after] == [line["scores"] for line in before]


def test_lines_are_drawn_and_put_in_a_table(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    scores = {str(s): {"solved": 0.7, "dgi": 0.6, "resplit": 0.5} for s in curves.STEPS}
    lines = [
        {"method": row, "dataset": "cora", "seed": seed, "scores": scores}
        for row in ("in+adj|in+adj", "p=1")
        for seed in (0, 1)
    ]
    assert curves_of(lines, "dgi")["p=1", "cora"][10] == [60.0, 60.0]
    text = write_curves(lines, tmp_path)
    assert "| p = 1 | " + "60.0 ± 0.0 | " * 7 + "2 |" in text
    assert {path.name for path in tmp_path.iterdir()} == {"curves.md", "curves.png", "curves.svg"}
