"""Everything that the command line offers can be made."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dgb.cli import main
from dgb.commands.reproduce import MADE, MEASURED, Asked, make
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.files.atomic import read_lines
from dgb.measure import job as jobs_of
from dgb.measure.job import Job, Place
from dgb.measure.measure import TEST_READS
from dgb.reproduce import figures as drawing
from dgb.reproduce import plan as planning
from dgb.reproduce import results
from dgb.reproduce.curves import TABLE as CURVES
from dgb.reproduce.plan import RUNS, TABLES
from dgb.reproduce.render import TITLES
from dgb.reproduce.typed_plan import TABLE as HETERO
from tests.reproduce.test_runner import make_jobs

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture
def place(tmp_path: Path, blocks: Graph, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(jobs_of, "_load", lambda *_: replace(blocks, name="cora"))
    monkeypatch.setattr(results, "find_uncommitted", lambda *_: [])
    return Place(tmp_path / "results", threads=1)


def test_the_command_line_offers_what_can_be_made(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["reproduce", "--help"])
    assert "|".join(MADE) in "".join(capsys.readouterr().out.split())
    assert set(MEASURED) == {*TABLES, HETERO, CURVES} and set(TABLES) == set(RUNS) == set(TITLES)


def test_every_committed_table_and_figure_can_be_made() -> None:
    committed = {path.stem for path in RESULTS.iterdir() if path.suffix in (".md", ".png")}
    assert committed <= set(MADE)
    with pytest.raises(DGBError, match="--methods picks rows of table2"):
        make("claims", Place(), Asked(methods=("dgb",)))


def test_a_table_is_written_and_grows(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def few(
        table: str, _: tuple[str, ...], runs: int | None = None, __: tuple[str, ...] = ()
    ) -> list[Job]:
        return make_jobs(table, min(runs or 1, 4))

    monkeypatch.setattr(planning, "plan", few)
    monkeypatch.setattr(results, "plan", few)
    assert "(1)" in make("table4", place, Asked(("cora",)))
    assert "(3)" in make("table4", place, Asked(("cora",), 3))
    assert "(3)" in make("table4", place, Asked(("cora",), 1))  # what is there is shown
    assert "published 83.4" in (place.results / "table4.html").read_text("utf-8")


def test_figure_2_is_drawn_and_its_look_at_labels_is_logged(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = make_jobs(seeds=1)[0].recipe
    monkeypatch.setattr(drawing, "variant_recipe", lambda _: recipe)
    monkeypatch.setattr(drawing, "tsne", lambda z, *_: z[:, :2])
    paths = make("figure2", place, Asked(("cora",))).splitlines()
    assert [Path(path).suffix for path in paths] == [".png", ".svg"]
    facts = json.loads((place.results / "figure2.json").read_text("utf-8"))
    assert facts["p=0"]["graph_hash"] and -1 <= facts["dgb"]["embedding"] <= 1
    assert [read["method"] for read in read_lines(place.results / TEST_READS)] == list(
        drawing.PANELS
    )


def test_figure_2_is_not_drawn_for_uncommitted_recipes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "find_uncommitted", lambda *_: ["recipes"])
    with pytest.raises(DGBError, match="commit first"):
        make("figure2", place, Asked(("cora",)))
