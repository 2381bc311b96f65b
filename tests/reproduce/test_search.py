"""The search of what the paper leaves open: the same settings for everybody, ranked on resplits."""

import json
from pathlib import Path

from dgb.reproduce.curves import STEPS
from dgb.reproduce.search import draw_settings, plan_search, rank_settings, write_search


def test_settings_are_drawn_once_and_keep_what_the_source_says() -> None:
    drawn = draw_settings(24)
    assert drawn[0] == () and len(set(drawn)) == 24
    assert draw_settings(8) == drawn[:8]
    jobs = plan_search(("cora", "pubmed"))
    assert sum(job.dataset == "cora" for job in jobs) == 24 * 3
    assert sum(job.dataset == "pubmed" for job in jobs) == 8 * 2
    for job in jobs:
        assert job.recipe.train.learning_rate == 1e-3 and job.recipe.encoder.layers == 1
        assert job.recipe.train.decay == {"cora": 0.82, "pubmed": 0.95}[job.dataset]
        assert job.recipe.data.normalise == "row"


def _line(number: int, seed: int, resplit: dict[int, float]) -> dict[str, object]:
    (job,) = [j for j in plan_search(("cora",), 1) if j.method == f"setting {number}"]
    scores = {
        str(steps): {"resplit": resplit.get(steps, 0.2), "dgi": 0.5, "solved": 0.5}
        for steps in STEPS
    }
    head = {"method": job.method, "dataset": "cora", "recipe": job.hash, "seed": seed}
    return head | {"scores": scores}


def test_a_setting_is_ranked_by_the_mean_of_its_best_length(tmp_path: Path) -> None:
    lines = [
        _line(0, 0, {300: 0.80}),
        _line(1, 0, {100: 0.90, 600: 0.70}),  # one lucky training
        _line(1, 1, {100: 0.60, 600: 0.74}),
        _line(2, 0, {0: 0.99}),  # nobody asks for an untrained encoder
    ]
    best, second, third = rank_settings(lines)
    assert (best.sets, best.steps, best.resplit) == ((), 300, [80.0])
    assert (second.sets, second.steps) == (draw_settings(2)[1], 100)
    assert third.resplit == [20.0]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "search.jsonl").write_text(text)
    assert "| as the recipe has it | 300 | 80.0 | 50.0 | 1 |" in write_search(tmp_path)
