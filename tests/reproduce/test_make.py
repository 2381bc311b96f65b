"""Everything that the command line offers can be made."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dgb.commands.reproduce import REPRODUCED
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.files.jsonl import read_lines
from dgb.measure import measure as measuring
from dgb.measure import runner
from dgb.measure.measure import TEST_READS
from dgb.measure.measurement import Measurement
from dgb.measure.place import Place
from dgb.reproduce import figures as drawing
from dgb.reproduce import make as making
from dgb.reproduce.plan import RUNS, TABLES
from dgb.reproduce.render import TITLES
from tests.reproduce.test_runner import make_jobs


@pytest.fixture
def place(tmp_path: Path, blocks: Graph, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(measuring, "_load", lambda *_: replace(blocks, name="cora"))
    monkeypatch.setattr(runner, "uncommitted", lambda *_: [])
    return Place(tmp_path / "results", threads=1)


def test_names_agree() -> None:
    others = {"hetero", "table1", "figure1", "figure2", "rates", "claims", "verify"}
    assert set(REPRODUCED) == set(TABLES) | others
    assert set(TABLES) == set(RUNS) == set(TITLES)


def test_a_table_is_written_and_grows(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def few(
        table: str, _: tuple[str, ...], runs: int | None = None, __: tuple[str, ...] = ()
    ) -> list[Measurement]:
        return make_jobs(table, min(runs or 1, 4))

    monkeypatch.setattr(making, "plan", few)
    assert "(1)" in making.make("table4", place, ("cora",))
    assert "(3)" in making.make("table4", place, ("cora",), runs=3)
    assert "(3)" in making.make("table4", place, ("cora",), runs=1)  # what is there is shown
    assert "published 83.4" in (place.results / "table4.html").read_text("utf-8")


def test_figure_2_is_drawn_and_its_look_at_labels_is_logged(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = make_jobs(seeds=1)[0].recipe
    monkeypatch.setattr(drawing, "variant_recipe", lambda _: recipe)
    monkeypatch.setattr(drawing, "tsne", lambda z, *_: z[:, :2])
    paths = making.make("figure2", place, ("cora",)).splitlines()
    assert [Path(path).suffix for path in paths] == [".png", ".svg"]
    facts = json.loads((place.results / "figure2.json").read_text("utf-8"))
    assert facts["p=0"]["graph_hash"] and -1 <= facts["dgb"]["embedding"] <= 1
    assert [read["method"] for read in read_lines(place.results / TEST_READS)] == list(
        drawing.PANELS
    )


def test_figure_2_is_not_drawn_for_uncommitted_recipes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "uncommitted", lambda *_: ["recipes"])
    with pytest.raises(DGBError, match="commit first"):
        making.make("figure2", place, ("cora",))
