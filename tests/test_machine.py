"""What a result says about the machine and the code it was measured with."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from dgb.run import machine


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the package folder of a small checkout that the module believes it lives in."""
    package = tmp_path / "src" / "dgb"
    (package / "run").mkdir(parents=True)
    (package / "recipes").mkdir()
    for name in ("run/machine.py", "recipes/cora.toml"):
        (package / name).write_text("committed\n")
    (tmp_path / "results.jsonl").write_text("{}\n")
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    monkeypatch.setattr(machine, "__file__", str(package / "run" / "machine.py"))
    return package


def test_results_that_grow_do_not_mark_the_code_as_changed(checkout: Path) -> None:
    (checkout.parent.parent / "results.jsonl").write_text("{}\n{}\n")
    commit = machine.git_hash()
    assert commit is not None and not commit.endswith("-changed")
    (checkout / "run" / "machine.py").write_text("edited\n")
    assert machine.git_hash() == f"{commit}-changed"


@pytest.mark.parametrize("name", ["cora.toml", "new.toml"])
def test_edited_and_new_recipes_are_uncommitted(checkout: Path, name: str) -> None:
    assert machine.find_uncommitted("recipes", "reproduce/rates.toml") == []
    (checkout / "recipes" / name).write_text("edited\n")
    assert machine.find_uncommitted("recipes", "reproduce/rates.toml") == ["recipes"]


def test_an_installed_package_is_as_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "__file__", str(tmp_path / "machine.py"))
    assert machine.git_hash() is None
    assert machine.find_uncommitted("recipes") == []


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
def test_the_peak_can_start_anew() -> None:
    big = np.ones(30_000_000)  # 240 MB
    before = machine.peak_mb()
    del big
    machine.reset_peak()
    after = machine.peak_mb()
    assert before is not None and after is not None and after < before - 150
