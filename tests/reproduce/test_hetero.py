"""The heterogeneous table: lines that are kept, reads that are logged, and published figures."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dgb.baselines import own
from dgb.cli import main
from dgb.commands.reproduce import Asked, make
from dgb.cookbook import load_recipe
from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.evaluate import heads as f1
from dgb.evaluate import heads as linear_heads
from dgb.evaluate import heco as heco_probe
from dgb.files.atomic import read_lines, rewrite_lines
from dgb.measure import measure as measuring
from dgb.measure.job import Job, Place
from dgb.measure.measure import TEST_READS, measure
from dgb.recipe import Recipe
from dgb.reproduce import results
from dgb.reproduce import typed_plan as hetero_plan
from dgb.reproduce.results import verdict_line, verify
from dgb.reproduce.typed_plan import NAMED, ROWS, hetero_cells, load_set, plan_hetero, sets_at_hand
from dgb.reproduce.typed_table import published_rows, write_hetero_table
from dgb.run.train import train
from tests.hetero import make_library

FAST = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=2"]
KEYS = {"table", "method", "dataset", "recipe", "graph_hash", "seed", "git", "versions", "machine"}
KEYS |= {"seconds", "splits", "nmi", "ari", "threads"}
SPLIT_KEYS = {"validation", "macro_f1", "micro_f1", "auc", "learning_rate", "std_over_heads"}


def write_acm(folder: Path, *, seed: int = 0) -> None:
    """Write a small library as HeCo writes its ACM, with its three splits."""
    folder.mkdir(parents=True)
    graph = make_library(60, seed=seed)
    matrices = {relation.name: relation.matrix for relation in graph.relations}
    # Fewer authors than papers: the target is the type with as many nodes as labels.
    files = {"pa": matrices["written"][:, :50], "ps": sparse.csr_array(matrices["prints"].T)}
    for name, matrix in files.items():
        np.savetxt(folder / f"{name}.txt", np.array(matrix.nonzero()).T, fmt="%d", delimiter="\t")
    sparse.save_npz(folder / "p_feat.npz", sparse.csr_matrix(graph.nodes["paper"].x))
    assert graph.labels is not None
    np.save(folder / "labels.npy", graph.labels)
    (split,) = graph.splits
    for name, count in (("20", 8), ("40", 12), ("60", 20)):
        parts = {"train": split.train[:count], "val": split.validation, "test": split.test}
        for part, nodes in parts.items():
            np.save(folder / f"{part}_{name}.npy", nodes)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    def fast(name: str, sets: Iterable[str] = ()) -> Recipe:
        return load_recipe(name, [*FAST, *sets])

    monkeypatch.setattr(hetero_plan, "load_recipe", fast)
    monkeypatch.setattr(heco_probe, "STEPS", 5)
    for file in (heco_probe, linear_heads, f1):
        monkeypatch.setattr(file, "HEADS", 4)
    monkeypatch.setattr(measuring, "set_threads", lambda _: None)
    monkeypatch.setattr(results, "find_uncommitted", lambda *_: [])
    monkeypatch.setenv("DGB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DGB_DATA", raising=False)
    write_acm(tmp_path / "data" / "hetero" / "acm")
    return Place(tmp_path / "results", str(tmp_path / "data"), threads=1, offline=True)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows by the encoder's name with every training."""
    calls: list[str] = []

    def counting(graph: HeteroGraph, recipe: Recipe) -> Any:
        calls.append(recipe.hetero.encoder)
        return train(graph, recipe)

    monkeypatch.setattr(own, "train", counting)
    return calls


def make_hetero(place: Place, *asked: Any) -> str:
    return make("hetero", place, Asked(*asked))


def lines_of(place: Place) -> list[dict[str, Any]]:
    return read_lines(place.results / "hetero.jsonl")


def test_finished_lines_are_kept_and_not_measured_again(place: Place, trained: list[str]) -> None:
    make_hetero(place, ("acm",), 1)
    first = lines_of(place)
    assert [(m["method"], m["seed"]) for m in first] == [(row, 0) for row in ROWS]
    assert trained == [
        *("metapaths", "metapaths", "union"),
        *("metapaths", "union"),
        *("relations", "metapaths"),
    ]
    with (place.results / "hetero.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"half": ')  # as a kill leaves it
    make_hetero(place, ("acm",), 2, ("dgb", "random", "raw"))
    added = [(m["method"], m["seed"]) for m in lines_of(place)[len(first) :]]
    assert lines_of(place)[: len(first)] == first and added == [("dgb", 1), ("random", 1)]
    make_hetero(place, ("acm",), 2, ("dgb", "random", "raw"))
    # Features alone are scored without a training, once for all seeds.
    assert len(trained) == len(ROWS) - 1 + 2
    assert len(read_lines(place.results / TEST_READS)) == len(ROWS) + 2


def test_a_line_carries_what_it_takes_to_measure_it_again(place: Place) -> None:
    make_hetero(place, ("acm",), 1, ("dgb", "union"))
    dgb, union = lines_of(place)
    assert set(dgb) >= KEYS and dgb["table"] == "hetero"
    assert list(dgb["splits"]) == ["20", "40", "60"]
    assert all(set(split) >= SPLIT_KEYS for split in dgb["splits"].values())
    assert dgb["recipe"] != union["recipe"] and dgb["splits"] != union["splits"]
    assert sum(dgb["attention"].values()) == pytest.approx(1) and union["attention"] == {}


def test_test_labels_are_logged_before_they_are_read(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any) -> None:
        raise RuntimeError("stopped while scoring")

    monkeypatch.setattr(measuring, "score_embeddings", failing)
    with pytest.raises(DGBError, match="dgb on acm: stopped while scoring"):
        make_hetero(place, ("acm",), 1, ("dgb",))
    (read,) = read_lines(place.results / TEST_READS)
    assert (read["table"], read["method"], read["dataset"], read["seed"]) == (
        *("hetero", "dgb", "acm"),
        0,
    )
    assert lines_of(place) == []


def test_no_test_label_is_read_for_an_uncommitted_recipe(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def uncommitted(*names: str) -> list[str]:
        asked.extend(names)
        return ["recipes"]

    monkeypatch.setattr(results, "find_uncommitted", uncommitted)
    with pytest.raises(DGBError, match="commit first"):
        make_hetero(place, ("acm",), 1)
    assert not place.results.exists() and "reproduce/typed_plan.py" in asked


def test_test_labels_change_no_choice(place: Place) -> None:
    place.results.mkdir()
    (job, *_) = hetero_cells("acm")
    graph = load_set("acm", place)
    (line,) = measure([job], graph, place)
    labels = np.array(graph.labels)
    test = graph.splits[0].test
    labels[test] = np.roll(labels[test], 1)
    (other,) = measure([job], replace(graph, labels=labels), place)
    for name, split in line["splits"].items():
        for key in ("validation", "validation_macro_f1", "learning_rate"):
            assert other["splits"][name][key] == split[key]
        assert other["splits"][name]["macro_f1"] != split["macro_f1"]


def test_the_random_row_is_the_encoder_of_dgb_before_its_first_step(place: Place) -> None:
    graph = load_set("acm", place)
    cells = {cell.method: cell.recipe for cell in hetero_cells("acm")}
    before = train(graph, cells["dgb"]).first_embeddings()
    assert np.array_equal(train(graph, cells["random"]).embeddings(), before)


def test_rows_that_a_graph_cannot_have_are_left_out() -> None:
    graph = make_library()
    named = {job.method for job in plan_hetero({"library": graph})}
    assert named == set(ROWS) - {"dgb-named"}
    nodes = dict(graph.nodes) | {"paper": replace(graph.nodes["paper"], x=None)}
    without = replace(graph, nodes=nodes)
    assert "raw" not in {job.method for job in plan_hetero({"acm": without})}
    with pytest.raises(DGBError, match="library has no row dgb-named"):
        plan_hetero({"library": graph}, 1, ("dgb-named",))
    with pytest.raises(DGBError, match="did you mean 'union'"):
        plan_hetero({"library": graph}, 1, ("unoin",))


@pytest.mark.parametrize(("splits", "count"), [(1, 1), (0, 4)])
def test_features_are_scored_once_a_split(splits: int, count: int) -> None:
    graph = make_library()
    graph = replace(graph, splits=graph.splits[:splits], split_names=graph.split_names[:splits])
    jobs = plan_hetero({"library": graph}, 4, ("raw", "dgb"))
    assert [job.method for job in jobs].count("raw") == count
    assert [job.method for job in jobs].count("dgb") == 4


def test_what_training_takes_makes_no_features_line_old(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {cell.method: cell.hash for cell in hetero_cells("acm")}

    def slower(name: str, sets: Iterable[str] = ()) -> Recipe:
        other = [] if name == "paper" else ["train.learning_rate=0.1"]  # of these recipes alone
        return load_recipe(name, [*other, *sets])

    monkeypatch.setattr(hetero_plan, "load_recipe", slower)
    after = {cell.method: cell.hash for cell in hetero_cells("acm")}
    assert [row for row in ROWS if before[row] == after[row]] == ["raw"]
    assert set(NAMED) == set(hetero_plan.DATASETS) - {"imdb"}


def test_published_figures_stand_beside_ours(place: Place) -> None:
    text = make_hetero(place, ("acm",), 2, ("dgb",))
    assert "| HeCo | (88.56) | (87.61) | (89.04) | – |" in text
    assert "## DBLP (not measured)" in text
    assert "| DiffGraph | (93.03) | (92.81) | (93.16) | – |" in text
    assert "| HGMAE (a user's rerun) | (91.14) | (91.62) | (92.03) | – |" in text
    assert "| HAN (supervised) | (89.31) | (88.87) | (89.20) | – |" in text
    assert "Wang et al., KDD 2021" in text
    assert (place.results / "hetero.md").read_text("utf-8") == text
    page = (place.results / "hetero.html").read_text("utf-8")
    assert page.startswith("<!doctype html>") and "<td>(88.56)</td>" in page
    assert "<th>Macro-F1, 20</th>" in page


def test_every_published_row_tells_its_source_and_three_splits() -> None:
    for row in published_rows():
        assert row.title and row.source and row.url.startswith("https://")
        for figures in row.figures.values():
            assert all(list(by_split) == ["20", "40", "60"] for by_split in figures.values())


def make_pairs(*macro: float) -> list[tuple[Job, dict[str, Any]]]:
    """Return trainings whose heads are further apart than they are."""
    job = next(cell for cell in hetero_cells("acm") if cell.method == "dgb")
    told = {"micro_f1": 0.5, "auc": 0.75, "std_over_heads": {"macro_f1": 0.2}}
    splits = [{"20": told | {"macro_f1": value}} for value in macro]
    return [(job, {"splits": split, "nmi": 0.25, "ari": 0.125}) for split in splits]


def test_the_deviation_is_over_trainings_not_over_heads(tmp_path: Path) -> None:
    text = write_hetero_table(make_pairs(0.88, 0.89, 0.90), tmp_path)
    row = "| DGB | 89.00 ± 1.00 | 50.00 ± 0.00 | 75.00 ± 0.00 | 25.00 ± 0.00 | 12.50 ± 0.00 | 3 |"
    assert row in text


def test_one_training_has_no_deviation(tmp_path: Path) -> None:
    text = write_hetero_table(make_pairs(0.88), tmp_path)
    assert "| DGB | 88.00 | 50.00 | 75.00 | 25.00 | 12.50 | 1 |" in text


def test_lines_of_another_graph_of_that_name_are_not_averaged_in(
    place: Place, tmp_path: Path
) -> None:
    assert "| 2 |" in make_hetero(place, ("acm",), 2, ("dgb",))
    write_acm(tmp_path / "other" / "acm", seed=1)
    text = make_hetero(replace(place, data_folder=str(tmp_path / "other")), ("acm",), 1, ("dgb",))
    assert len(lines_of(place)) == 3
    (row,) = [line for line in text.splitlines() if line.startswith("| DGB |")]
    assert row.endswith("| 1 |") and "±" not in row


def test_a_data_set_lies_in_the_data_folder_or_below_it(place: Place, tmp_path: Path) -> None:
    below = load_set("acm", place)
    right_there = load_set("acm", replace(place, data_folder=str(tmp_path / "data" / "hetero")))
    assert below.num_edges == right_there.num_edges and below.split_names == ("20", "40", "60")


def test_a_missing_data_set_is_an_error_that_says_what_to_do(place: Place) -> None:
    with pytest.raises(
        DGBError, match=r"no heterogeneous data set dblp.*data holds.*--data-folder"
    ):
        make_hetero(place, ("acm", "dblp"), 1)
    with pytest.raises(DGBError, match="no data folder is given"):
        make_hetero(replace(place, data_folder=None), ("dblp",), 1)
    with pytest.raises(DGBError, match="cora has nodes of one type"):
        make_hetero(place, ("cora",), 1)
    assert not place.results.exists()


def test_by_default_all_that_is_there_is_measured_and_the_rest_named(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sets_at_hand(place) == ("acm",)
    told = capsys.readouterr().err
    assert "not there: dblp, aminer, freebase, imdb; `dgb data fetch imdb` gets it" in told
    with pytest.raises(DGBError, match="no heterogeneous data set is there"):
        make_hetero(replace(place, data_folder=None))


def test_graphs_without_labels_are_refused_before_training(
    place: Place, trained: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = replace(make_library(), labels=None, splits=(), split_names=())
    monkeypatch.setattr(hetero_plan, "load_set", lambda *_: bare)
    with pytest.raises(DGBError, match="nothing to measure library by: library has no labels"):
        make_hetero(place, ("library",), 1)
    assert trained == []


def test_the_command_line_measures_some_rows(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "hetero", "--datasets", "ACM", "--methods", "raw", "--offline"]
    folders = ["--data-folder", str(place.data_folder), "--results", str(place.results)]
    assert main([*words, *folders]) == 0
    assert "| raw features |" in capsys.readouterr().out
    assert [line["method"] for line in lines_of(place)] == ["raw"]
    assert main(["reproduce", "hetero", "--datasets", "dblp", *folders]) == 2
    assert "no heterogeneous data set dblp" in capsys.readouterr().err


def test_verify_measures_lines_of_this_table_again(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_hetero(place, ("acm",), 1, ("dgb", "union", "raw"))
    verdicts = verify(place, 9)
    assert [verdict["same"] for verdict in verdicts] == [True] * 3
    assert {verdict["method"] for verdict in verdicts} == {"dgb", "union", "raw"}
    lines = lines_of(place)
    lines[0]["splits"]["40"]["macro_f1"] += 0.01
    rewrite_lines(place.results / "hetero.jsonl", lines)
    words = [verdict_line(verdict)[:5] for verdict in verify(place, 9)]
    assert sorted(words) == ["OTHER", "same ", "same "]
    write_acm(tmp_path / "other" / "acm", seed=1)
    for folder in (None, str(tmp_path / "other")):  # not at hand, or another graph of that name
        with pytest.raises(DGBError, match="no line of a recipe of today"):
            verify(replace(place, data_folder=folder), 9)
    assert "not there: acm" in capsys.readouterr().err
