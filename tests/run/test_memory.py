"""Memory: estimated before a run, kept on disk where it lacks, refused with the way out."""

import gc
import shutil
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from dgb.arrays import Array
from dgb.cookbook import load_recipe
from dgb.data.graph import Graph, make_graph
from dgb.errors import DGBError
from dgb.files import limits as room
from dgb.recipe import Recipe
from dgb.run import machine, memory
from dgb.run import train as training
from dgb.run.folder import make_folder
from dgb.run.memory import choose_scratch, estimate
from dgb.run.resolve import check_recipe
from dgb.run.score import score_own
from dgb.run.setup import Trained
from dgb.run.train import train_run
from dgb.run.vectors import read_embeddings
from tests.conftest import QUICK_PROBE

SMALL = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=2", *QUICK_PROBE]


def recipe_with(*sets: str) -> Recipe:
    return load_recipe("paper", [*SMALL, *sets])


@pytest.fixture
def dense() -> Graph:
    rng = np.random.default_rng(0)
    edges = sparse.random_array((400, 400), density=0.02, rng=rng, dtype=np.float32)
    labels = rng.integers(3, size=400)
    x = rng.standard_normal((400, 40), np.float32)
    return make_graph("dense", x, edges, labels=labels)


def total(graph: Graph, recipe: Recipe, *, is_on_disk: bool = False) -> float:
    return sum(estimate(graph, recipe, is_on_disk=is_on_disk).values())


def test_every_way_to_need_less_is_estimated_as_less(dense: Graph) -> None:
    whole = total(dense, recipe_with("encoder.width=512"))
    batched = recipe_with("encoder.width=512", "train.batch_size=20")
    assert total(dense, batched) < whole
    assert total(dense, batched, is_on_disk=True) < total(dense, batched)
    narrow = recipe_with("encoder.width=512", "train.batch_size=20", "train.columns=4")
    assert total(dense, narrow, is_on_disk=True) < total(dense, batched, is_on_disk=True)
    assert total(dense, recipe_with("encoder.width=8")) < whole


@pytest.mark.parametrize("order", ["auto", "transform"])
@pytest.mark.parametrize("batch_size", [0, 300])
def test_what_a_refusal_advises_is_accepted(
    dense: Graph, order: str, batch_size: int, tmp_path: Path
) -> None:
    smaller = recipe_with("encoder.width=64", "train.batch_size=200")
    limit = 1.05 * total(dense, smaller, is_on_disk=True)
    sets = ["encoder.width=64", f"train.memory_gb={limit}"]
    if not batch_size:
        sets.append(f"train.order={order}")
    recipe = recipe_with(*sets, f"train.batch_size={batch_size}")
    for folder in (tmp_path, None):
        with pytest.raises(DGBError, match=r"would take about .* GB next to the graph") as error:
            choose_scratch(dense, recipe, folder)
        told, _, advice = str(error.value).partition("train.memory_gb allows; ")
        if folder is None:
            assert "keep=disk" not in advice  # which needs a folder
            continue
        assert advice.startswith("set train."), told
        mended = load_recipe(recipe, advice.removeprefix("set ").split())
        check_recipe(mended)
        choose_scratch(dense, mended, folder)


def test_nobody_is_joined_to_more_nodes_than_there_are(dense: Graph) -> None:
    most, more = (
        load_recipe("default", [*SMALL, f"embed.diffused_nearest={count}"])
        for count in (400, 10_485_760_000)
    )
    assert total(dense, more) == total(dense, most)


def test_what_fits_nowhere_is_told_so(dense: Graph, tmp_path: Path) -> None:
    for sets in (["train.memory_gb=1e-9"], ["train.memory_gb=1e-4", "encoder.layers=2"]):
        with pytest.raises(DGBError, match=r"set a smaller encoder\.width"):
            choose_scratch(dense, recipe_with("encoder.width=64", *sets), tmp_path)


def test_sparse_features_are_not_counted_as_dense_ones() -> None:
    x = sparse.random_array((500, 20_000), density=1e-3, dtype=np.float32, rng=0)
    graph = make_graph("words", sparse.csr_array(x), sparse.eye_array(500, format="csr"))
    assert total(graph, recipe_with()) < 500 * 20_000 * 4 / 1e9
    assert total(graph, recipe_with("train.order=propagate")) > 500 * 20_000 * 4 / 1e9


def test_a_full_disk_is_told_before_the_run(
    dense: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_with("train.batch_size=20", "train.keep=disk")
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(DGBError, match=r"would write about .* choose another --out"):
        choose_scratch(dense, recipe, tmp_path)


def test_the_advice_is_the_least_change_that_fits(
    dense: Graph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "BATCH", 20)  # rows that a small graph has more of
    whole = recipe_with("encoder.width=64")
    batched = recipe_with("encoder.width=64", "train.batch_size=20")
    for needed, advice in (
        (total(dense, batched), "set train.batch_size=20"),
        (total(dense, batched, is_on_disk=True), "set train.batch_size=20 train.keep=disk"),
    ):
        monkeypatch.setattr(memory, "free_gb", lambda _, needed=needed: needed * 1.01)
        with pytest.raises(DGBError, match="are free; set") as error:
            choose_scratch(dense, whole, tmp_path)
        assert str(error.value).endswith(advice)


def test_what_does_not_fit_into_memory_goes_to_disk_by_itself(
    dense: Graph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    batched = recipe_with("train.batch_size=20")
    assert choose_scratch(dense, batched, tmp_path) is None
    on_disk = total(dense, batched, is_on_disk=True)
    monkeypatch.setattr(memory, "free_gb", lambda _: on_disk * 1.01)
    assert choose_scratch(dense, batched, tmp_path) == tmp_path / "scratch"
    with pytest.raises(DGBError, match="would take about"):
        choose_scratch(dense, recipe_with("train.batch_size=20", "train.keep=memory"), tmp_path)
    with pytest.raises(DGBError, match="would take about"):
        choose_scratch(dense, batched, None)  # nowhere to write


def test_a_run_kept_on_disk_is_the_run_in_memory(
    dense: Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors, scores = [], []
    for keep in ("memory", "disk"):
        recipe = recipe_with("train.batch_size=70", f"train.keep={keep}", "train.columns=7")
        folder = tmp_path / keep
        folder.mkdir()
        found = train_run(dense, recipe, folder)
        scores.append({system: found[system] for system in ("dgb", "random", "raw")})
        vectors.append(read_embeddings(folder / "embeddings.parquet")[1])
        assert not (folder / "scratch").exists()
    assert np.array_equal(vectors[0], vectors[1])
    assert scores[0] == scores[1]
    told = capsys.readouterr().err
    assert "6 row batches of 67 nodes an epoch: P X̃ kept in memory, 7 columns at a time" in told
    assert "P X̃ kept on disk" in told


def test_vectors_are_gone_before_there_are_those_of_references(
    dense: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, kept = [], []

    def remember(trained: Trained, z: Array, graph: Graph) -> Any:
        vectors.append(weakref.ref(z))
        return score_own(trained, z, graph)

    def look(_: Trained) -> Array:
        gc.collect()
        kept.append(vectors[0]())
        return np.zeros((400, 2), np.float32)

    monkeypatch.setattr(training, "score_own", remember)
    monkeypatch.setattr(Trained, "first_embeddings", look)
    make_folder(tmp_path / "run", recipe_with())
    scores = train_run(dense, recipe_with(), tmp_path / "run")
    assert kept == [None] and set(scores) >= {"dgb", "random", "raw", "peak_mb"}


def test_disk_needs_a_run_folder(dense: Graph) -> None:
    with pytest.raises(DGBError, match="needs a run folder"):
        choose_scratch(dense, recipe_with("train.batch_size=20", "train.keep=disk"), None)
    with pytest.raises(DGBError, match="below the 400 nodes"):
        choose_scratch(dense, recipe_with("train.keep=disk"), Path("run"))


def test_free_memory_is_known_here_and_within_a_container(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert 0 < (machine.free_gb(torch.device("cpu")) or 0) < 100_000
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.stat").write_text("anon 2000\nfile 7\n")
    monkeypatch.setattr(room, "GROUP", tmp_path)
    assert room.free_bytes() == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert (room.free_bytes() or 0) > 1e6
