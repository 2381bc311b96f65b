"""Drop rates of Table 3: a grid, then its neighbours, on validation, never twice."""

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dgb.data.graph import Graph
from dgb.files.jsonl import read_lines
from dgb.measure import job as jobs_of
from dgb.measure.place import Place
from dgb.reproduce import plan as planning
from dgb.reproduce import rates as rating
from dgb.reproduce.published import PublishedRow
from dgb.reproduce.rates import Rates, choose_rates, find_rates, neighbours

PAIR = "nfd+adj|nd+diff"


def test_neighbours_move_one_view_by_a_tenth() -> None:
    assert neighbours((0.8, 0.2)) == [(0.7, 0.2), (0.9, 0.2), (0.8, 0.1), (0.8, 0.3)]


def test_the_best_of_grid_and_neighbours_is_chosen() -> None:
    asked: list[Rates] = []

    def score(rates: Rates) -> float:
        asked.append(rates)
        return -abs(rates[0] - 0.72) - abs(rates[1] - 0.5)

    assert choose_rates(PAIR, score) == (0.7, 0.6)
    assert {(0.2, 0.2), (0.4, 0.4), (0.6, 0.6), (0.8, 0.8)} <= set(asked)


@pytest.fixture
def place(tmp_path: Path, blocks: Graph, monkeypatch: pytest.MonkeyPatch) -> Place:
    fast = ("encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=1")
    monkeypatch.setitem(planning.CHEAPER, "cora", fast)
    monkeypatch.setattr(jobs_of, "_load", lambda *_: replace(blocks, name="cora"))
    monkeypatch.setattr(rating, "rows", lambda _: [PublishedRow(PAIR, "", "", {})])
    return Place(tmp_path / "results", threads=1)


def test_choice_is_written_and_resumed(place: Place) -> None:
    found = find_rates(("cora",), place)
    text = (place.results / "rates.toml").read_text("utf-8")
    assert tomllib.loads(text) == {"cora": {PAIR: list(found["cora"][PAIR])}}
    lines = read_lines(place.results / "rates.jsonl")
    assert len(lines) == 8  # four of the grid, four around the best of them
    assert not any("test" in key for line in lines for key in line)
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
    for name in ("rates.toml", "rates.jsonl"):
        assert (other.results / name).read_bytes() == (place.results / name).read_bytes()
