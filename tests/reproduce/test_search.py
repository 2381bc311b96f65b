"""The search of what the paper leaves open: the same settings for everybody, ranked on resplits."""

import json
from pathlib import Path

import pytest

from dgb.reproduce import search
from dgb.reproduce.curves import STEPS
from dgb.reproduce.search import SINGLE, plan_search, rank_settings, write_search


def test_settings_keep_what_the_source_says() -> None:
    assert SINGLE[0] == () and len(set(SINGLE)) == 24
    jobs = plan_search(("cora", "citeseer", "pubmed"), runs=1)
    assert len({job.hash for job in jobs}) == len(jobs)
    for job in jobs:
        assert job.recipe.train.learning_rate == 1e-3 and job.recipe.encoder.layers == 1
        assert (
            job.recipe.train.decay == {"cora": 0.82, "citeseer": 0.88, "pubmed": 0.95}[job.dataset]
        )
        steps = job.recipe.train.epochs * (5 if job.dataset == "pubmed" else 1)
        assert steps in (
            search.STEPS[job.dataset],
            *(more for more, _ in search.TOGETHER[job.dataset]),
        )
        assert job.recipe.data.normalise == "row"


def test_what_is_worth_a_second_look_has_more_trainings(monkeypatch: pytest.MonkeyPatch) -> None:
    together = ((600, SINGLE[2]), (100, (*SINGLE[2], *SINGLE[4])))
    monkeypatch.setitem(search.TOGETHER, "cora", together)
    jobs = plan_search(("cora",))
    assert len(jobs) == 24 + 2 * 3
    others = {(n, ", ".join(sets)) for n, sets in together}
    own = [(job.recipe.train.epochs, job.method) for job in jobs]
    assert {job for job in own if job[0] != search.STEPS["cora"]} == others
    assert all(own.count(job) == 3 for job in others)


def _line(number: int, seed: int, resplit: dict[int, float]) -> dict[str, object]:
    job = plan_search(("cora",), 1)[number]
    scores = {
        str(steps): {"resplit": resplit.get(steps, 0.2), "dgi": 0.5, "solved": 0.5}
        for steps in STEPS
    }
    head = {"method": job.method, "dataset": "cora", "recipe": job.hash, "seed": seed}
    return head | {"scores": scores}


def test_a_setting_is_ranked_by_the_mean_of_its_best_length(tmp_path: Path) -> None:
    lines = [
        _line(0, 0, {300: 0.80}),
        _line(1, 0, {100: 0.90, 30: 0.70}),  # one lucky training
        _line(1, 1, {100: 0.60, 30: 0.74}),
        _line(2, 0, {0: 0.99}),  # nobody asks for an untrained encoder
    ]
    best, second, third = rank_settings(lines)
    assert (best.setting, best.steps, best.resplit) == ("as the curves have it", 300, [80.0])
    assert (second.setting, second.steps) == ("heads.hidden=128", 100)
    assert third.resplit == [20.0]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "search.jsonl").write_text(text)
    assert "| as the curves have it | 300 of 1000 steps | 80.0 | 50.0 | 1 |" in write_search(
        tmp_path
    )


def test_a_setting_of_two_lengths_has_both_in_the_table(tmp_path: Path) -> None:
    jobs = plan_search(("cora",), 1)
    strong = [n for n, job in enumerate(jobs) if job.method == search.STRONG]
    assert len(strong) == 2
    lines = [_line(n, 0, {300: 0.8 + n / 1000}) for n in strong]
    (tmp_path / "search.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = [row for row in write_search(tmp_path).splitlines() if search.STRONG in row]
    assert len(found) == 2
