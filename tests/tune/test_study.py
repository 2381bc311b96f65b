"""The search: no test label reaches it, it goes on where it stopped, and no candidate ends it."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph, Split
from dgb.errors import DGBError
from dgb.evaluate import probe
from dgb.evaluate.labels import without_test_labels
from dgb.measure import measure
from dgb.recipe import Recipe
from dgb.run.train import train
from dgb.train.loop import train_epoch
from dgb.tune import study
from dgb.tune.criteria import CRITERIA, DEFAULT_CRITERION, NO_AUC, rank_agreement
from dgb.tune.folder import FILE, RECIPE, TRIALS, Found, import_optuna
from dgb.tune.space import parse_space
from dgb.tune.study import Plan, score, tune
from tests.conftest import make_blocks

SPECS = ["train.decay=0.5:0.99", "encoder.width=4,8", "train.learning_rate=1e-4:1e-1:log"]


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    small = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=2"]
    return load_recipe("paper", [*small, "probe.weight_decays=[0.01]", "probe.normalise=l2"])


@pytest.fixture(scope="module")
def searched(recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Found]:
    """Return a finished search of three trials on the graph `blocks`: folder and result."""
    folder = tmp_path_factory.mktemp("searched")
    return folder, search(make_blocks(90), recipe, folder)


def search(graph: Graph, recipe: Recipe, folder: Path, **plan: Any) -> Found:
    return tune(graph, recipe, parse_space(SPECS, recipe), folder, Plan(**{"trials": 3} | plan))


def written(folder: Path) -> tuple[str, list[dict[str, Any]]]:
    lines = [json.loads(text) for text in (folder / TRIALS).read_text("utf-8").splitlines()]
    for line in lines:
        line.pop("seconds")
    return (folder / RECIPE).read_text("utf-8"), lines


def in_the_study(folder: Path) -> list[Any]:
    """Return what the database holds of every trial, but for times and running numbers."""
    storage = f"sqlite:///{folder / FILE}"
    trials = import_optuna().load_study(study_name="dgb", storage=storage).get_trials()
    return [(t.state, t.params, t.value, t.intermediate_values) for t in trials]


def permute_test_labels(graph: Graph, seed: int = 5) -> Graph:
    assert graph.labels is not None
    labels, test = graph.labels.copy(), graph.splits[0].test
    labels[test] = np.random.default_rng(seed).permutation(labels[test])
    assert (labels != graph.labels).any()
    return replace(graph, labels=labels)


def test_test_labels_change_nothing_that_is_written(
    searched: tuple[Path, Found], blocks: Graph, recipe: Recipe, tmp_path: Path
) -> None:
    search(permute_test_labels(blocks), recipe, tmp_path)
    assert written(tmp_path) == written(searched[0])
    assert in_the_study(tmp_path) == in_the_study(searched[0])


def test_a_label_free_search_writes_the_same_for_any_test_labels(
    blocks: Graph, recipe: Recipe, tmp_path: Path
) -> None:
    graphs = {"a": blocks, "b": permute_test_labels(blocks)}
    for name, graph in graphs.items():
        search(graph, recipe, tmp_path / name, criterion="edge_auc", trials=2)
    assert written(tmp_path / "a") == written(tmp_path / "b")


def test_edges_held_out_are_a_criterion_next_to_the_others(
    blocks: Graph, recipe: Recipe, tmp_path: Path
) -> None:
    with pytest.raises(DGBError, match=r"--set links\.held_out=0\.05"):
        search(blocks, recipe, tmp_path, criterion="auc")
    held = load_recipe(recipe, ["links.held_out=0.2", "train.epochs=4"])
    space = parse_space(["links.held_out=0,0.2", "train.decay=0.5:0.99"], held)
    found = tune(blocks, held, space, tmp_path, Plan(trials=4, criterion="auc", every=2))
    complete = [line for line in found.lines if line["state"] == "complete"]
    assert complete and all(line["score"] == line["history"][-1]["auc"] for line in complete)
    assert found.score == max(line["score"] for line in complete)
    reasons = {line.get("reason") for line in found.lines} - {None}
    assert reasons == {NO_AUC}  # of trials that hold out nothing
    n = len(complete)
    assert rank_agreement(found.lines).keys() == {*CRITERIA, "auc"}
    assert rank_agreement(found.lines)["auc"][1] == n
    others = [{**line, "history": [{"effective_rank": 1.0}]} for line in complete]
    assert "auc" not in rank_agreement(others)


def test_validation_labels_do_change_what_is_written(
    searched: tuple[Path, Found], blocks: Graph, recipe: Recipe, tmp_path: Path
) -> None:
    assert blocks.labels is not None
    labels, nodes = blocks.labels.copy(), blocks.splits[0].validation
    labels[nodes] = (labels[nodes] + 1) % 3
    search(replace(blocks, labels=labels), recipe, tmp_path, trials=1)
    assert written(tmp_path)[1][0] != written(searched[0])[1][0]


def test_no_probe_is_given_a_test_label(
    blocks: Graph, recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, seen = probe._classifier, []

    def watching(rows: Any, labels: Any, split: Split, *rest: Any) -> Any:
        seen.append((set(np.flatnonzero(labels >= 0)), len(split.test)))
        return real(rows, labels, split, *rest)

    monkeypatch.setattr(probe, "_classifier", watching)
    search(blocks, recipe, tmp_path, trials=1)
    known = set(blocks.splits[0].train) | set(blocks.splits[0].validation)
    assert seen and all(one == (known, 0) for one in seen)


def test_random_splits_hide_their_test_labels_too() -> None:
    graph = replace(make_blocks(200), splits=())
    hidden = without_test_labels(graph, 3)
    assert hidden.labels is not None and graph.labels is not None
    assert (hidden.labels >= 0).sum() == 40 and len(hidden.splits[0].test) == 0
    known = hidden.labels >= 0
    np.testing.assert_array_equal(hidden.labels[known], graph.labels[known])


def test_labels_of_one_class_or_of_few_nodes_are_no_labels(blocks: Graph) -> None:
    assert blocks.labels is not None
    assert without_test_labels(replace(blocks, labels=blocks.labels * 0), 0).labels is None
    few = np.where(np.arange(90) < 5, blocks.labels, -1)
    assert without_test_labels(replace(blocks, labels=few, splits=()), 0).labels is None


def test_the_recipe_that_is_written_trains_to_its_score(
    searched: tuple[Path, Found], blocks: Graph
) -> None:
    folder, found = searched
    loaded = load_recipe(folder / RECIPE)
    assert loaded == found.recipe
    z = train(blocks, loaded).embeddings()
    scores = score(z, without_test_labels(blocks, 0), loaded)
    best = max(found.lines, key=lambda line: line["score"])
    assert scores == best["scores"]
    assert (found.score, loaded.train.epochs) == (scores["validation"], best["epoch"])
    assert set(scores) == {"validation", *CRITERIA}


def test_the_file_says_how_it_was_found(blocks: Graph, recipe: Recipe, tmp_path: Path) -> None:
    recipe = load_recipe(recipe, ["data.graph=/some/where.npz", "train.patience=2"])
    search(blocks, recipe, tmp_path, seeds=2, trials=1)
    text = (tmp_path / RECIPE).read_text("utf-8")
    for part in ("on blocks", "accuracy on validation: 0.", "2 seed(s)", "Best of 1 trials"):
        assert part in text
    assert "where.npz" not in text and "patience" not in text
    assert "train.learning_rate=0.0001:0.1:log" in text


def test_the_first_trial_is_the_recipe_itself(searched: tuple[Path, Found], recipe: Recipe) -> None:
    assert load_recipe(recipe, searched[1].lines[0]["overrides"]) == recipe


def test_a_score_is_the_mean_over_seeds(blocks: Graph, recipe: Recipe) -> None:
    recipe = load_recipe(recipe, ["train.epochs=3"])
    both = list(study.mean_scores(blocks, recipe, range(2), 2))
    single = [list(study.mean_scores(blocks, recipe, range(s, s + 1), 2)) for s in (0, 1)]
    assert [epoch for epoch, _ in both] == [2, 3]
    for step, (_, scores) in enumerate(both):
        for name in scores:
            mean = (single[0][step][1][name] + single[1][step][1][name]) / 2
            assert scores[name] == pytest.approx(mean)


def test_a_search_that_was_interrupted_goes_on_as_if_never_stopped(
    searched: tuple[Path, Found],
    blocks: Graph,
    recipe: Recipe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, calls = train_epoch, []

    def pressing(*arguments: Any) -> dict[str, Any]:
        calls.append(1)
        if len(calls) in (2, 6):  # within the first trial, later within the second
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(measure, "train_epoch", pressing)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            search(blocks, recipe, tmp_path)
    assert len(written(tmp_path)[1]) == 1
    search(blocks, recipe, tmp_path, trials=2)
    assert len(written(tmp_path)[1]) == 2
    search(blocks, recipe, tmp_path, trials=3)
    assert written(tmp_path) == written(searched[0])


def test_a_finished_search_trains_no_more(
    searched: tuple[Path, Found], blocks: Graph, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "train_epoch", None)
    before = written(searched[0])
    # Not even when it was begun with other test labels: it cannot tell.
    again = search(permute_test_labels(blocks), recipe, searched[0], trials=2)
    assert again.recipe == searched[1].recipe and written(searched[0]) == before


def test_another_search_is_refused(
    searched: tuple[Path, Found], blocks: Graph, recipe: Recipe
) -> None:
    with pytest.raises(DGBError, match=r"another graph; .*--out"):
        search(make_blocks(90, seed=1), recipe, searched[0])
    other, space = load_recipe(recipe, ["heads.width=4"]), parse_space(["train.decay=0:1"], recipe)
    with pytest.raises(DGBError, match="another recipe, space, criterion, choice of seeds;"):
        tune(blocks, other, space, searched[0], Plan(criterion="spread", seeds=2))


def test_a_broken_study_is_named(blocks: Graph, recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("no database at all, but longer than a header of SQLite is\n" * 9)
    with pytest.raises(DGBError, match="cannot open"):
        search(blocks, recipe, tmp_path)


def test_nan_ends_a_trial_and_not_the_search(blocks: Graph, recipe: Recipe, tmp_path: Path) -> None:
    space = parse_space(["train.learning_rate=1e-3,1e30"], recipe)
    found = tune(blocks, recipe, space, tmp_path, Plan(trials=4))
    states = {line["overrides"][0]: line["state"] for line in found.lines}
    assert states["train.learning_rate=1e+30"] == "failed"
    assert found.recipe.train.learning_rate == 1e-3
    assert "learning_rate" in next(line for line in found.lines if "reason" in line)["reason"]
    assert "NaN" not in (tmp_path / TRIALS).read_text("utf-8")


def test_nothing_found_is_said_with_the_reason(
    blocks: Graph, recipe: Recipe, tmp_path: Path
) -> None:
    space = parse_space(["encoder.layers=2,3"], recipe)
    recipe = load_recipe(recipe, ["train.batch_size=20"])
    with pytest.raises(DGBError, match=r"no trial came to its end.*encoder\.layers=1"):
        tune(blocks, recipe, space, tmp_path, Plan(trials=2))
    assert not (tmp_path / RECIPE).exists()


def test_bad_trials_are_cut_short(
    blocks: Graph, recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def falling(_graph: Graph, _recipe: Recipe, _seeds: range, _every: int) -> Iterator[Any]:
        calls.append(1)
        for epoch in (1, 2):
            yield epoch, {"validation": epoch / 10 - len(calls)}

    monkeypatch.setattr(study, "mean_scores", falling)
    found = search(blocks, recipe, tmp_path, trials=6)
    assert [line["state"] for line in found.lines] == ["complete"] * 5 + ["pruned"]
    assert found.lines[-1]["epoch"] == 1 and found.lines[0]["epoch"] == 2
    assert found.score == pytest.approx(0.2 - 1)


def test_graphs_without_labels_are_searched_without_labels(
    blocks: Graph, recipe: Recipe, tmp_path: Path
) -> None:
    bare = replace(blocks, labels=None, label_names=(), splits=())
    found = search(bare, recipe, tmp_path / "bare", trials=2)
    assert found.criterion == DEFAULT_CRITERION
    assert all("validation" not in line["scores"] for line in found.lines)
    named = {"criterion": DEFAULT_CRITERION, "trials": 2}
    labelled = search(blocks, recipe, tmp_path / "labelled", **named)
    assert labelled.recipe == found.recipe and labelled.score == found.score
    assert written(tmp_path / "labelled")[0] == written(tmp_path / "bare")[0]
    with pytest.raises(DGBError, match="--criterion edge_auc"):
        search(bare, recipe, tmp_path / "other", criterion="validation")


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"trials": 0}, "--trials must be at least 1"),
        ({"seeds": 0}, "--seeds must be at least 1"),
        ({"every": 5}, "--every must be from 1 to train.epochs=2, not 5"),
        ({"criterion": "acuracy"}, "unknown criterion 'acuracy'"),
    ],
)
def test_impossible_plans_are_named(
    blocks: Graph, recipe: Recipe, tmp_path: Path, plan: dict[str, Any], message: str
) -> None:
    with pytest.raises(DGBError) as caught:
        search(blocks, recipe, tmp_path, **plan)
    assert message in str(caught.value)
    assert not (tmp_path / FILE).exists()


def test_no_epochs_are_no_search(blocks: Graph, recipe: Recipe, tmp_path: Path) -> None:
    with pytest.raises(DGBError, match=r"train\.epochs"):
        search(blocks, load_recipe(recipe, ["train.epochs=0"]), tmp_path)


def test_without_optuna_the_extra_is_named(
    blocks: Graph, recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(DGBError, match=r"deep-graph-bootstrapping\[tune\]"):
        search(blocks, recipe, tmp_path)
