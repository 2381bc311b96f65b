"""Run folders and comparisons that somebody has sent: well-formed files with false content."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from dgb.cli import main
from dgb.cookbook import load_recipe, to_toml
from dgb.data.formats.npz import write_npz
from dgb.errors import DGBError
from dgb.files.atomic import read_lines, write_text
from dgb.ray.cluster import check_snapshots
from dgb.report.page import write_report
from dgb.run import machine
from dgb.run.folder import read_encoding, read_recipe
from dgb.run.model import load_encoder
from dgb.train.monitor import read_metrics
from tests.conftest import QUICK_PROBE, make_blocks

DEEP = "[" * 200_000
LONG = "9" * 5_000  # digits
RECIPE = to_toml(load_recipe("paper"))


def losses(*values: float) -> str:
    """Return metrics of as many epochs: four are drawn as a curve."""
    lines = ({"epoch": epoch, "loss": loss} for epoch, loss in enumerate(values, 1))
    return "\n".join(map(json.dumps, lines))


MEASURED = '{{"method": {}, "graph": 1, "graph_hash": 1, "recipe": {}, "seed": 1, {}}}'


@pytest.mark.parametrize(
    "text", [f"a = {DEEP}", f"a = {LONG}", f"[encoder]\nwidth = {LONG[:4000]}", "[encoder]\n\0"]
)
def test_a_recipe_of_nonsense_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "recipe.toml").write_text(text)
    with pytest.raises(DGBError, match="cannot read the recipe"):
        read_recipe(tmp_path)
    (tmp_path / "features.toml").write_text(text)
    with pytest.raises(DGBError, match=r"features\.toml"):
        read_encoding(tmp_path)


def test_lines_of_nonsense_are_left_out(tmp_path: Path) -> None:
    lines = [DEEP, LONG, '{"epoch": "x"}', '{"epoch": 1e999}', "[1]", '{"epoch": 3}', "\0"]
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines))
    assert len(read_lines(tmp_path / "metrics.jsonl")) == 3
    assert read_metrics(tmp_path) == [{"epoch": 3}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("scores.json", text) for text in (DEEP, LONG, "[]", '{"dgb": 3}', '{"seconds": 1e999}')),
        ("scores.json", '{"confusion": {"labels": ["a"], "counts": [["<script>"]]}}'),
        ("scores.json", '{"attention": {"a": "x"}}'),
        ("scores.json", '{"attention": [1]}'),
        ("metrics.jsonl", losses(1e308, -1e308, 1e308, -1e308)),
        ("metrics.jsonl", losses(*[5e-324] * 4)),
    ],
)
def test_a_report_of_nonsense_is_one_line(tmp_path: Path, name: str, text: str) -> None:
    write_text(tmp_path / "recipe.toml", RECIPE)
    (tmp_path / name).write_text(text)
    with pytest.raises(DGBError, match="train again") as caught:
        write_report(tmp_path)
    assert "\n" not in str(caught.value) and name in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        MEASURED.format('["dgb"]', 1, '"test_accuracy": 1'),
        MEASURED.format('"dgb"', 1, '"test_accuracy": "x"'),
        MEASURED.format('"dgb"', 1, '"test_accuracy": {}'),
        MEASURED.format('"dgb"', "[1]", '"test_accuracy": 1, "seconds": {}'),
    ],
)
def test_a_comparison_of_nonsense_is_one_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "compare.jsonl").write_text(line)
    with pytest.raises(DGBError, match=r"compare again|holds no comparison") as caught:
        write_report(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    write_npz(folder / "blocks.npz", make_blocks(90))
    small = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=1", *QUICK_PROBE]
    sets = [word for setting in small for word in ("--set", setting)]
    words = ["train", str(folder / "blocks.npz"), "--out", str(folder / "run")]
    assert main([*words, "--recipe", "paper", *sets]) == 0
    return folder / "run"


@pytest.mark.parametrize("place", ["../../letters", "/home/letters", "C:letters", "a\\..\\b", ".."])
def test_checkpoints_of_ray_that_lie_elsewhere_are_neither_read_nor_removed(
    trained: Path, tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ray")
    folder, letters = tmp_path / "run", tmp_path / "letters"
    shutil.copytree(trained, folder)
    (folder / "scores.json").unlink()
    letters.mkdir()
    snapshot = folder / "ray" / "train" / "checkpoint_manager_snapshot.json"
    snapshot.parent.mkdir(parents=True)
    own = [
        {"checkpoint_dir_name": name, "metrics": {"epoch": 1}} for name in ("checkpoint_1", place)
    ]
    snapshot.write_text(json.dumps({"ray_version": "2.60.0", "checkpoint_results": own}))
    assert main(["train", "--resume", str(folder), "--engine", "ray"]) == 2
    assert "names what is not in its folder" in capsys.readouterr().err
    assert letters.is_dir()
    snapshot.write_text(json.dumps({"ray_version": "2.60.0", "checkpoint_results": own[:1]}))
    check_snapshots(folder)
    snapshot.write_text(DEEP)
    with pytest.raises(DGBError, match="train again from the start"):
        check_snapshots(folder)


@pytest.mark.parametrize("lie", ["width = 1000000", "layers = 16"])
def test_weights_are_not_drawn_by_a_recipe_that_lies(
    trained: Path, tmp_path: Path, lie: str
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    recipe = read_recipe(folder)
    load_encoder(folder, recipe, torch.device("cpu"))
    key, value = lie.split(" = ")
    machine.reset_peak()
    before = machine.peak_mb() or 0
    with pytest.raises(DGBError, match="does not fit"):
        lying = load_recipe(recipe, [f"encoder.{key}={value}"])
        load_encoder(folder, lying, torch.device("cpu"))
    assert (machine.peak_mb() or 0) - before < 100
