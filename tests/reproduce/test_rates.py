"""Drop rates at one length: a grid for the rows that matter, and the nearest one's for all else."""

import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.evaluate import heads
from dgb.evaluate.labels import draw_resplits
from dgb.files.atomic import read_lines
from dgb.measure import job as jobs_of
from dgb.measure.job import Place
from dgb.recipe import Recipe
from dgb.reproduce import curves
from dgb.reproduce import rates as rating
from dgb.reproduce.published import BEST, SWAPPED
from dgb.reproduce.rates import GRID, NODE, RATED, Rates, find_rates, rated_recipe, spread_rates


def test_every_row_has_its_own_rates_or_those_of_the_nearest() -> None:
    scores = {(row, rates): 0.0 for row in RATED for rates in GRID}
    low, high = GRID
    scores |= {(NODE, low): 1.0, (BEST, high): 1.0, (SWAPPED, low): 1.0, ("p=1", low): 1.0}
    chosen = spread_rates(scores)
    assert chosen["in+adj|nd+adj"] == [low.nd] and chosen["nfd+adj|nfd+adj"] == [low.nfd, low.nfd]
    assert chosen["nd+adj|nd+diff"] == [high.nd, high.nd]
    assert chosen["nfd+adj|in+diff"] == [high.nfd]
    assert chosen[SWAPPED] == [low.nd, low.nfd] and chosen[BEST] == [high.nfd, high.nd]
    assert chosen["without-bn"] == [high.nfd, high.nd] and chosen["p=1"] == [low.nfd, low.nd]
    assert "in+diff|in+adj" not in chosen  # drops nothing


def test_rates_go_to_the_views_that_drop() -> None:
    swapped = rated_recipe("cora", SWAPPED, Rates(nfd=0.8, nd=0.3))
    assert (swapped.view1.nd_drop_rate, swapped.view2.nfd_drop_rate) == (0.3, 0.8)
    frozen = rated_recipe("cora", "p=1", Rates(nfd=0.8, nd=0.3))
    assert (frozen.view1.nfd_drop_rate, frozen.view2.nd_drop_rate) == (0.8, 0.3)
    assert frozen.train.decay == 1


@pytest.fixture
def place(tmp_path: Path, blocks: Graph, monkeypatch: pytest.MonkeyPatch) -> Place:
    fast = ("encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=2")

    def small(dataset: str, row: str, rates: Rates) -> Recipe:
        return load_recipe(rated_recipe(dataset, row, rates), fast)

    monkeypatch.setattr(rating, "rated_recipe", small)
    monkeypatch.setattr(rating, "RATED", RATED[:2])
    monkeypatch.setattr(rating, "spread_rates", _best)
    monkeypatch.setattr(curves, "STEPS", (0, 2))
    monkeypatch.setattr(heads, "STEPS", 10)
    monkeypatch.setattr(curves, "draw_resplits", partial(draw_resplits, count=2))
    monkeypatch.setattr(jobs_of, "_load", lambda *_: replace(blocks, name="cora"))
    return Place(tmp_path / "results", threads=1)


def _best(scores: dict[tuple[str, Rates], float]) -> dict[str, list[float]]:
    def best(row: str) -> Rates:
        return max(GRID, key=lambda rates: scores[row, rates])

    return {row: list(best(row)) for row in RATED[:2]}


def test_choice_is_written_and_resumed(place: Place) -> None:
    found = find_rates(("cora",), place)
    text = (place.results / "rates.toml").read_text("utf-8")
    assert tomllib.loads(text) == found
    lines = read_lines(place.results / "rates.jsonl")
    assert len(lines) == 2 * len(GRID) and not any("test" in key for m in lines for key in m)
    assert find_rates(("cora",), place) == found
    assert read_lines(place.results / "rates.jsonl") == lines


def test_test_labels_change_nothing_that_is_written(
    place: Place, blocks: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_rates(("cora",), place)
    labels = np.array(blocks.labels)
    test = blocks.splits[0].test
    labels[test] = np.roll(labels[test], 3)
    monkeypatch.setattr(jobs_of, "_load", lambda *_: replace(blocks, name="cora", labels=labels))
    other = replace(place, results=place.results.parent / "other")
    find_rates(("cora",), other)
    one, two = (read_lines(p.results / "rates.jsonl") for p in (place, other))
    assert [line["scores"] for line in one] == [line["scores"] for line in two]
    written = [(p.results / "rates.toml").read_bytes() for p in (place, other)]
    assert written[0] == written[1]
