"""Memory: estimated before a run, kept on disk where it lacks, refused with the way out."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph, make_graph
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.run import machine, memory
from dgb.run.folder import read_embeddings
from dgb.run.memory import choose_scratch, estimate
from dgb.run.training import train_run

SMALL = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=2"]


def recipe_with(*sets: str) -> Recipe:
    return load_recipe("default", [*SMALL, *sets])


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


@pytest.mark.parametrize("gb", [1e-9, 1e-4])
def test_a_run_that_does_not_fit_is_refused_with_the_setting_to_change(
    dense: Graph, gb: float, tmp_path: Path
) -> None:
    recipe = recipe_with("encoder.width=64", f"train.memory_gb={gb}")
    with pytest.raises(DGBError, match=r"would take about .* GB beside the graph") as error:
        choose_scratch(dense, recipe, tmp_path)
    assert "train.memory_gb allows; set" in str(error.value)


def test_the_advice_is_the_least_change_that_fits(
    dense: Graph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "BATCH", 20)
    whole = recipe_with("encoder.width=64")
    batched = recipe_with("encoder.width=64", "train.batch_size=20")
    for needed, advice in (
        (total(dense, batched), "set train.batch_size=20"),
        (total(dense, batched, is_on_disk=True), "set train.batch_size=20 train.keep=disk"),
    ):
        monkeypatch.setattr(memory, "free_gb", lambda needed=needed: needed * 1.01)
        with pytest.raises(DGBError, match="are free; set") as error:
            choose_scratch(dense, whole, tmp_path)
        assert str(error.value).endswith(advice)


def test_what_does_not_fit_into_memory_goes_to_disk_by_itself(
    dense: Graph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    batched = recipe_with("train.batch_size=20")
    assert choose_scratch(dense, batched, tmp_path) is None
    on_disk = total(dense, batched, is_on_disk=True)
    monkeypatch.setattr(memory, "free_gb", lambda: on_disk * 1.01)
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
        scores.append(train_run(dense, recipe, folder)["dgb"])
        vectors.append(read_embeddings(folder / "embeddings.parquet")[1])
        assert not (folder / "scratch").exists()
    assert np.array_equal(vectors[0], vectors[1])
    assert scores[0] == scores[1]
    told = capsys.readouterr().err
    assert "6 row batches of 67 nodes an epoch: (P X̃) W kept in memory, 7 columns at a time" in told
    assert "(P X̃) W kept on disk" in told


def test_disk_needs_a_run_folder(dense: Graph) -> None:
    with pytest.raises(DGBError, match="needs a run folder"):
        choose_scratch(dense, recipe_with("train.batch_size=20", "train.keep=disk"), None)


def test_free_memory_is_known_here_and_within_a_container(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not Path("/proc/meminfo").exists():
        pytest.skip("told by Linux")
    assert 0 < (machine.free_gb() or 0) < 100_000
    (tmp_path / "memory.max").write_text("5000000000\n")
    (tmp_path / "memory.stat").write_text("anon 2000000000\nfile 7\n")
    monkeypatch.setattr(machine, "GROUP", tmp_path)
    assert machine._left_in_group() == 3e9
    (tmp_path / "memory.max").write_text("max\n")
    assert machine._left_in_group() == float("inf")
