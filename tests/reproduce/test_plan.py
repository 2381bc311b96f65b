"""What the tables ask for: rows, recipes, seeds, and nothing that depends on the day."""

from dataclasses import replace
from pathlib import Path

import pytest

from dgb.baselines.methods import METHODS
from dgb.cookbook import load_recipe, recipe_hash
from dgb.errors import DGBError
from dgb.reproduce.plan import by_dgi_too, check_datasets, plan
from dgb.reproduce.published import (
    ABLATIONS,
    DATASETS,
    chosen_rates,
    rate_keys,
    rows,
    table3_recipe,
)
from dgb.reproduce.render import summarise
from dgb.run.resolve import check_recipe


@pytest.mark.parametrize("table", ["table2", "table3", "table4", "parts"])
def test_every_measurement_is_a_recipe_that_trains(table: str) -> None:
    jobs = plan(table, DATASETS, runs=2)
    for job in jobs:
        check_recipe(job.recipe)
    keys = {(job.method, job.dataset, job.seed) for job in jobs}
    assert len(keys) == len(jobs)


def test_table_2_trains_twenty_times_and_reads_features_once() -> None:
    jobs = plan("table2", DATASETS)
    for method, runs in {"dgb": 20, "dgb-default": 20, "dgb-shared": 3, "random": 10}.items():
        for dataset in DATASETS:
            seeds = [j.seed for j in jobs if (j.method, j.dataset) == (method, dataset)]
            assert seeds == list(range(runs))
    assert len([job for job in jobs if job.method == "raw"]) == 3
    for method, dataset, runs in (("dgi", "pubmed", 10), ("gat", "cora", 10), ("gat", "pubmed", 3)):
        assert len([j for j in jobs if (j.method, j.dataset) == (method, dataset)]) == runs


def test_table_2_has_every_row_of_the_paper_and_every_method() -> None:
    jobs = plan("table2", DATASETS, 1)
    keys = {job.method for job in jobs}
    for_one_type = {key for key, method in METHODS.items() if "one" in method.graphs}
    assert {row.key for row in rows("table2")} | for_one_type <= keys
    assert set(METHODS) - for_one_type == {"union"}
    pairs = [(job, {"test_accuracy": 0.5, "val_accuracy": 0.5}) for job in jobs]
    titles = [row.title for row in summarise("table2", pairs)]
    assert len(set(titles)) == len(titles)


def test_rows_can_be_picked() -> None:
    jobs = plan("table2", ("cora",), 2, ("dgi", "lp"))
    assert [(job.method, job.seed) for job in jobs] == [("lp", 0), ("dgi", 0), ("dgi", 1)]
    with pytest.raises(DGBError, match="did you mean 'dgi'"):
        plan("table2", ("cora",), 2, ("dgii",))


def test_the_shared_recipe_is_one() -> None:
    shared = [job for job in plan("table2", DATASETS, 1) if job.method == "dgb-shared"]
    assert len({recipe_hash(job.recipe) for job in shared}) == 1


@pytest.mark.parametrize("dataset", DATASETS)
def test_table_3_has_the_paper_s_pairs_and_changes_nothing_but_views_and_rates(
    dataset: str,
) -> None:
    jobs = [job for job in plan("table3", (dataset,), 1) if "|" in job.method]
    assert [job.method for job in jobs] == [row.key for row in rows("table3")]
    paper = load_recipe(f"paper-{dataset}")
    for job in jobs:
        assert f"{job.recipe.view1.augment}|{job.recipe.view2.augment}" == job.method
        same_views = replace(job.recipe, view1=paper.view1, view2=paper.view2)
        assert same_views == paper


def test_table_3_trains_five_times_and_three_times_on_pubmed() -> None:
    jobs = plan("table3", DATASETS)
    counts = {d: max(job.seed for job in jobs if job.dataset == d) + 1 for d in DATASETS}
    assert counts == {"cora": 5, "citeseer": 5, "pubmed": 3}


def test_rates_belong_to_the_views_that_drop() -> None:
    assert rate_keys("nfd+adj|nd+diff") == ["view1.nfd_drop_rate", "view2.nd_drop_rate"]
    assert rate_keys("in+adj|nd+diff") == ["view2.nd_drop_rate"]
    assert rate_keys("in+diff|in+adj") == []
    recipe = table3_recipe("cora", "nd+adj|nfd+diff", (0.3, 0.8))
    assert (recipe.view1.nd_drop_rate, recipe.view2.nfd_drop_rate) == (0.3, 0.8)


def test_every_pair_has_rates_for_every_data_set() -> None:
    for dataset in DATASETS:
        for row in rows("table3"):
            assert len(chosen_rates(dataset, row.key)) == len(rate_keys(row.key))
    with pytest.raises(DGBError, match="dgb reproduce rates"):
        chosen_rates("cora", "nfd+diff|nfd+diff")


def test_both_probes_score_the_same_training() -> None:
    jobs = by_dgi_too(plan("table4", DATASETS, 1))
    added = jobs[len(ABLATIONS) * len(DATASETS) :]
    assert {job.dataset for job in added} == set(DATASETS)
    for job in added:
        (own,) = [j for j in jobs if j.training == job.training and j not in added]
        assert (job.method, job.recipe.probe.kind) == (own.method, "dgi")
        assert job.hash != own.hash
    table2 = plan("table2", ("cora",), 1)
    assert [job.method for job in by_dgi_too(table2)[len(table2) :]] == ["dgb"]
    assert by_dgi_too(plan("parts", DATASETS, 1)) == plan("parts", DATASETS, 1)


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_recipe_is_the_best_row_of_both_tables(dataset: str) -> None:
    best = table3_recipe(dataset, "nfd+adj|nd+diff")
    assert best == load_recipe(f"paper-{dataset}")
    assert best in [job.recipe for job in plan("table4", (dataset,), 1)]


def test_table_4_removes_one_thing_at_a_time() -> None:
    paper = load_recipe("paper-citeseer")
    jobs = {job.method: job.recipe for job in plan("table4", ("citeseer",), 1)}
    assert set(jobs) == {row.key for row in rows("table4")} == set(ABLATIONS)
    assert jobs["dgb"] == paper
    assert jobs["without-projection"].heads.projector == "none"
    assert not jobs["without-bn"].heads.batch_norm
    assert (jobs["p=0"].train.decay, jobs["p=1"].train.decay) == (0, 1)


@pytest.mark.parametrize("dataset", DATASETS)
def test_parts_are_changes_of_the_default(dataset: str) -> None:
    jobs = {job.method: job.recipe for job in plan("parts", (dataset,), 1)}
    assert jobs.pop("dgb-default") == load_recipe()
    assert jobs["links alone"].train.bootstrap == 0
    assert jobs["bootstrapping alone"].links.weight == 0
    assert len({recipe_hash(recipe) for recipe in jobs.values()}) == len(jobs)


def test_parts_are_of_files_of_graphs_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("Mine.npz", "cora"):
        (tmp_path / name).write_bytes(b"")
    assert check_datasets("Mine.npz,CORA,Mine.npz", "parts") == ("cora", "Mine.npz")
    with pytest.raises(DGBError, match="data set of the paper"):
        check_datasets("Mine.npz", "table2")
    jobs = {job.dataset: job for job in plan("parts", ("cora", "Mine.npz"), 1)}
    assert {name: job.data.graph for name, job in jobs.items()} == {
        "cora": "cora",
        "Mine": "Mine.npz",
    }
    assert not jobs["cora"].recipe.data.graph  # the data set, not the file of its name
    assert jobs["cora"].hash == jobs["Mine"].hash


def test_seeds_come_before_cells_so_that_a_stopped_table_has_all_rows() -> None:
    jobs = plan("table4", DATASETS, runs=3)
    assert [job.seed for job in jobs] == sorted(job.seed for job in jobs)


def test_data_sets_by_name() -> None:
    assert check_datasets("Cora, pubmed,cora") == ("cora", "pubmed")
    with pytest.raises(DGBError, match="did you mean 'citeseer'"):
        check_datasets("citeser")
    with pytest.raises(DGBError, match="one or more of cora"):
        check_datasets(",")
