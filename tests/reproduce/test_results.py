"""The committed results: every row of every table finds its lines, and is rendered from them."""

import shutil
from pathlib import Path

import pytest

from dgb.baselines.methods import METHODS, settings_hash, settings_of
from dgb.cookbook import load_recipe
from dgb.files.atomic import read_lines
from dgb.measure.compare import COMPARISON
from dgb.measure.comparison import read_comparison, write
from dgb.reproduce import results, typed_plan
from dgb.reproduce.by_test import tell
from dgb.reproduce.claims import write_claims
from dgb.reproduce.plan import TABLES, plan
from dgb.reproduce.published import DATASETS
from dgb.reproduce.render import write_table
from dgb.reproduce.results import COMMITTED, table_lines
from dgb.reproduce.search import write_search
from dgb.reproduce.table1 import write_lines
from dgb.reproduce.typed_table import write_hetero_table

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
COMPARISONS = ("compare-amazon-photo", "compare-coauthor-cs")
# Of graphs of files, which parts of the default are measured on too.
FILES = {"parts": ("squirrel_filtered", "amazon_photo", "coauthor_cs")}


@pytest.mark.parametrize("table", TABLES)
def test_every_row_of_a_committed_table_finds_its_lines(table: str) -> None:
    found = {(job.method, job.dataset) for job, _ in table_lines(table, RESULTS)}
    datasets = (*DATASETS, *FILES.get(table, ()))
    assert found == {(job.method, job.dataset) for job in plan(table, datasets, runs=1)}


def test_every_row_of_the_heterogeneous_table_finds_its_lines() -> None:
    lines = read_lines(RESULTS / "hetero.jsonl")
    found = {(job.method, job.dataset) for job, _ in table_lines("hetero", RESULTS)}
    assert found == {(line["method"], line["dataset"]) for line in lines}
    named = {method for method, dataset in found if dataset == "acm"}
    assert named == set(typed_plan.ROWS)


@pytest.mark.parametrize("name", COMPARISONS)
def test_every_system_of_a_committed_comparison_has_the_settings_of_today(name: str) -> None:
    lines = read_lines(RESULTS / name / COMPARISON)
    graph = lines[-1]["graph"]
    recipes = {line["recipe"] for line in lines}
    for key in {line["method"] for line in lines}:
        settings = settings_of(key, graph, load_recipe("paper"))
        wanted = settings_hash(key, settings, load_recipe("paper").probe)
        assert wanted in recipes, f"{METHODS[key].title} on {graph}"


@pytest.mark.parametrize("table", TABLES)
def test_a_committed_table_is_what_its_lines_give(table: str, tmp_path: Path) -> None:
    write_table(table, table_lines(table, RESULTS), tmp_path)
    _compare(tmp_path, f"{table}.md", f"{table}.html")


def test_other_committed_tables_are_what_their_lines_give(tmp_path: Path) -> None:
    write_hetero_table(table_lines("hetero", RESULTS), tmp_path)
    _compare(tmp_path, "hetero.md", "hetero.html")
    write_lines(read_lines(RESULTS / "table1.jsonl"), tmp_path)
    _compare(tmp_path, "table1.md", "table1.html")
    for name in COMPARISONS:
        write(read_comparison(RESULTS / name), tmp_path)
        made = (tmp_path / "compare.md").read_bytes()
        assert made == (RESULTS / name / "compare.md").read_bytes()


def test_committed_claims_are_what_the_lines_give(tmp_path: Path) -> None:
    for name in ("table2", "table3", "table4", "curves"):
        shutil.copy(RESULTS / f"{name}.jsonl", tmp_path)
    write_claims(DATASETS, tmp_path)
    _compare(tmp_path, "claims.md")


def test_committed_searches_are_what_their_lines_give(tmp_path: Path) -> None:
    shutil.copy(RESULTS / "search.jsonl", tmp_path)
    write_search(tmp_path)
    lines = read_lines(RESULTS / "by-test.jsonl")
    (tmp_path / "by-test.md").write_text(tell(lines, load_recipe("paper-cora").train.epochs))
    _compare(tmp_path, "search.md", "by-test.md")


def _compare(made: Path, *names: str) -> None:
    """Compare files, of a page its tables alone: its style may change."""
    for name in names:
        one, other = ((folder / name).read_text("utf-8") for folder in (made, RESULTS))
        if name.endswith(".html"):
            one, other = (t[t.index("<table>") : t.rindex("</table>")] for t in (one, other))
        assert one == other, name


def test_what_has_to_be_committed_exists() -> None:
    package = ROOT / "src" / "dgb"
    assert all((package / name).exists() for name in COMMITTED)
    assert results.SUPERSEDED in {path.name for path in RESULTS.iterdir()}
