"""From lines to cells and pages: means, intervals, differences, and the paper's figures."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dgb.cookbook import load_recipe
from dgb.measure.job import Job
from dgb.reproduce.published import Cell
from dgb.reproduce.render import BY_DGI, Measured, summarise, write_table


def make_cell(*values: float, paper: float | None = None) -> Measured:
    return Measured(values, values, None if paper is None else Cell(paper))


def test_interval_is_student_s() -> None:
    low, high = make_cell(81.0, 82.0, 83.0).interval or (0, 0)
    assert (low, high) == pytest.approx((82 - 2.4841, 82 + 2.4841), abs=1e-3)
    assert make_cell(82.0).interval is None


@pytest.mark.parametrize(("paper", "inside"), [(84.4, True), (84.6, False), (79.6, True)])
def test_the_paper_s_figure_inside_our_interval(paper: float, inside: bool) -> None:
    cell = make_cell(81.0, 82.0, 83.0, paper=paper)
    assert cell.is_inside is inside
    assert cell.difference == pytest.approx(82 - paper)


def test_no_figure_no_verdict() -> None:
    assert make_cell(1.0, 2.0).is_inside is None
    assert make_cell(1.0, paper=1.0).is_inside is None


def test_rows_are_the_paper_s_then_ours(tmp_path: Path) -> None:
    recipe = load_recipe("paper-cora")
    jobs = [Job("table2", m, "cora", "dgb", recipe) for m in ("dgb", "dgb", "dgb-default")]
    lines: list[dict[str, Any]] = [
        {"test_accuracy": a, "val_accuracy": a} for a in (0.83, 0.84, 0.85)
    ]
    pairs = list(zip(jobs, lines, strict=True))
    rows = summarise("table2", pairs)
    keys = [row.key for row in rows]
    assert keys[keys.index("dgb") + 1] == "dgb-default"
    assert "graphmae2" in keys and not rows[keys.index("graphmae2")].measured
    text = write_table("table2", pairs, tmp_path)
    assert "| DGB | 83.5 ± 0.7 (2); published 83.4, +0.1 = |" in text
    assert "| LP | (68.0) |" in text
    assert "| DGB, default recipe | 85.0 (1) |" in text
    assert (tmp_path / "table2.md").read_text("utf-8") == text
    page = (tmp_path / "table2.html").read_text("utf-8")
    assert page.startswith("<!doctype html>") and "published 83.4, +0.1 =" in page
    assert "://" not in page


@pytest.mark.parametrize(
    ("ours", "published", "short"),
    [
        (80.0, Cell(81.4), False),
        (80.0, Cell(81.6), True),
        (80.0, Cell(80.3, 0.2), False),
        (80.0, Cell(80.5, 0.2), True),
        (83.0, Cell(80.5, 0.2), False),
    ],
)
def test_short_is_two_deviations_or_a_point_and_a_half(
    ours: float, published: Cell, short: bool
) -> None:
    assert Measured((ours, ours), (ours, ours), published).is_short is short


def test_our_own_table_has_no_published_rows(tmp_path: Path) -> None:
    job = Job("parts", "links alone", "cora", "dgb", load_recipe("paper-cora"))
    pairs = [(job, {"test_accuracy": 0.5, "val_accuracy": 0.4})]
    assert "| links alone | 50.0 (1) |" in write_table("parts", pairs, tmp_path)


def test_what_dgi_s_probe_has_measured_is_a_table_of_its_own(tmp_path: Path) -> None:
    recipe = load_recipe("paper-cora")
    job = Job("table4", "p=1", "cora", "dgb", recipe)
    by_dgi = replace(job, recipe=load_recipe(recipe, ["probe.kind=dgi"]))
    lines = [{"test_accuracy": a, "val_accuracy": a} for a in (0.8, 0.7)]
    text = write_table("table4", list(zip((job, by_dgi), lines, strict=True)), tmp_path)
    first, second = text.split(BY_DGI)
    assert "| p = 1 | 80.0 (1); published 74.6, +5.4 |" in first and "70.0" not in first
    assert "| p = 1 | 70.0 (1); published 74.6, -4.6 ▼ |" in second and "p = 0" not in second
