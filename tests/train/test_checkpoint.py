"""Checkpoints: two are kept, a damaged one is noticed and the one before it is taken."""

import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.files.tensors import read_tensors, write_tensors
from dgb.train import loop
from dgb.train.checkpoint import FILE, PREVIOUS, State
from dgb.train.monitor import read_metrics
from tests.train.test_loop import recipe_with, same, train

SAVED = {FILE: 10, PREVIOUS: 5}  # the epochs after which these were written


@pytest.fixture
def stopped(blocks: Graph, tmp_path: Path) -> Path:
    """Return the folder of a run that was stopped after its tenth of twelve epochs."""
    recipe = recipe_with()
    train(blocks, replace(recipe, train=replace(recipe.train, epochs=10)), tmp_path)
    return tmp_path


def epoch_of(path: Path) -> int:
    return int(json.loads(read_tensors(path)[1]["numbers"])["epoch"])


def damage(path: Path, way: str) -> None:
    content = bytearray(path.read_bytes())
    (header,) = struct.unpack("<Q", content[:8])
    if way == "truncated":
        del content[len(content) // 2 :]
    elif way == "empty":
        content.clear()
    else:
        place = {"length": 2, "header": 8 + header // 2, "numbers": 8 + header + 40}[way]
        content[place] ^= 4
    path.write_bytes(content)


def test_the_newest_two_are_kept(stopped: Path) -> None:
    assert {name: epoch_of(stopped / name) for name in SAVED} == SAVED


@pytest.mark.parametrize("way", ["truncated", "empty", "length", "header", "numbers"])
def test_a_damaged_checkpoint_is_told_and_the_one_before_is_taken(
    blocks: Graph, stopped: Path, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(stopped / FILE, way)
    whole = train(blocks, recipe_with())
    assert same(train(blocks, recipe_with(), stopped), whole)
    told = capsys.readouterr().err
    assert f"{stopped / FILE}" in told and "resuming from the checkpoint before it" in told
    assert "resuming after epoch 5" in told
    assert [line["epoch"] for line in read_metrics(stopped)] == list(range(1, 13))


def test_a_kill_between_two_renames_loses_nothing(blocks: Graph, stopped: Path) -> None:
    (stopped / FILE).replace(stopped / PREVIOUS)
    assert same(train(blocks, recipe_with(), stopped), train(blocks, recipe_with()))


def test_two_damaged_checkpoints_are_one_clear_error(blocks: Graph, stopped: Path) -> None:
    for name in SAVED:
        damage(stopped / name, "numbers")
    with pytest.raises(DGBError, match="remove them to begin again with epoch 1") as raised:
        train(blocks, recipe_with(), stopped)
    assert str(stopped / FILE) in str(raised.value) and str(stopped / PREVIOUS) in str(raised.value)
    for name in SAVED:
        (stopped / name).unlink()
    assert same(train(blocks, recipe_with(), stopped), train(blocks, recipe_with()))


def test_every_flipped_bit_of_a_file_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    path, broken = tmp_path / "whole", tmp_path / "broken"
    tensors = {"a": torch.arange(4, dtype=torch.float32), "b": torch.tensor(7)}
    write_tensors(path, tensors, {"numbers": "1"})
    content = path.read_bytes()
    noticed = 0
    for place in range(8 * len(content)):
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        broken.write_bytes(changed)
        try:
            found, metadata = read_tensors(broken)
        except DGBError:
            noticed += 1
            continue
        assert metadata["numbers"] == "1" and found.keys() == tensors.keys()
        assert all(torch.equal(found[name], tensors[name]) for name in tensors)
    assert noticed > 0.9 * 8 * len(content)


def test_a_checkpoint_without_a_digest_is_not_trusted(blocks: Graph, stopped: Path) -> None:
    tensors = load_file(stopped / FILE)
    save_file(tensors, stopped / FILE, {"numbers": '{"epoch": 10, "best": null, "best_epoch": 0}'})
    train(blocks, recipe_with(), stopped)
    assert len(read_metrics(stopped)) == 12


def test_weights_that_overflow_stop_the_run_and_leave_the_last_good_checkpoint(
    blocks: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, epochs = loop.train_epoch, []

    def overflowing(state: State, *rest: object) -> dict[str, object]:
        line = real(state, *rest)  # type: ignore[arg-type]
        epochs.append(1)
        if len(epochs) == 8:  # the loss of this epoch was finite, what its step made is not
            next(state.model.parameters()).data[0, 0] = float("inf")
        return line

    monkeypatch.setattr(loop, "train_epoch", overflowing)
    with pytest.raises(DGBError, match=r"epoch [89]; the checkpoint of epoch 5 is kept; lower"):
        train(blocks, recipe_with(), tmp_path)
    assert epoch_of(tmp_path / FILE) == 5
    tensors, _ = read_tensors(tmp_path / FILE)
    assert all(torch.isfinite(value).all() for value in tensors.values())


def test_a_last_step_that_overflows_is_no_result(
    blocks: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = loop.train_epoch

    def overflowing(state: State, *rest: object) -> dict[str, object]:
        line = real(state, *rest)  # type: ignore[arg-type]
        if state.epoch == 12:
            next(state.model.parameters()).data[0, 0] = float("nan")
        return line

    monkeypatch.setattr(loop, "train_epoch", overflowing)
    with pytest.raises(DGBError, match="not finite after epoch 12"):
        train(blocks, recipe_with())


def test_a_learning_rate_that_diverges_names_epoch_and_checkpoint(
    blocks: Graph, tmp_path: Path
) -> None:
    wild = recipe_with("train.learning_rate=1e38", "heads.batch_norm=false")
    with pytest.raises(DGBError, match=r"epoch \d+; lower train\.learning_rate and train again"):
        train(blocks, wild, tmp_path)
    assert not (tmp_path / FILE).exists()
    assert np.isfinite([line["loss"] for line in read_metrics(tmp_path)]).all()


@pytest.mark.parametrize(
    "numbers",
    [
        {"epoch": "x", "best": None, "best_epoch": 0},
        {"epoch": -1, "best": None, "best_epoch": 0},
        {"epoch": 5, "best": "low", "best_epoch": 0},
        {"epoch": 5, "best": None, "best_epoch": 2.5},
        [],
    ],
)
def test_a_checkpoint_that_counts_nonsense_is_refused(
    blocks: Graph, stopped: Path, numbers: object
) -> None:
    tensors, _ = read_tensors(stopped / FILE)
    write_tensors(stopped / FILE, tensors, {"numbers": json.dumps(numbers)})
    with pytest.raises(DGBError, match="belongs to another recipe or graph"):
        train(blocks, recipe_with(), stopped)
