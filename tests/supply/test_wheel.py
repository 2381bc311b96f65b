"""The built package holds all of the source and nothing else, and trains where nothing else is."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.conftest import QUICK_PROBE

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "dgb"
LOCK = ROOT / "constraints.txt"
BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE")
ABOUT = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt", "licenses/LICENSE"}
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, sys.argv[1])('.'))"
TINY = "train.epochs=2 encoder.width=8 heads.hidden=8 heads.width=8"
TRAIN = ["train", "cora", "--out", "run"]
TRAIN += [word for setting in (*TINY.split(), *QUICK_PROBE) for word in ("--set", setting)]
UNPACKED = """
import sys
sys.path.insert(0, sys.argv[1])
import dgb.cli
assert dgb.__file__.startswith(sys.argv[1]), dgb.__file__
from dgb.evaluate import map as drawing
drawing.EARLY_STEPS = drawing.STEPS = 5  # a map takes longer than all the rest
code = dgb.cli.main(sys.argv[2:])
# torch's compiler, which nothing here uses, would be imported for longer than this trains.
assert "torch._dynamo" not in sys.modules and "sympy" not in sys.modules
sys.exit(code)
"""


def run(folder: Path, *command: str | Path) -> str:
    """Run a command in a folder that is not the checkout; return what it printed."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    ended = subprocess.run(command, cwd=folder, env=outside, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source archive, and the wheel of what is in that archive."""
    reason = "the build needs the setuptools of pyproject.toml, as torch brings it"
    pytest.importorskip("setuptools", minversion="77.0.3", reason=reason)
    folder = tmp_path_factory.mktemp("build")
    for name in BUILT_FROM:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(SOURCE, folder / "src" / "dgb", ignore=shutil.ignore_patterns("__pycache__"))
    archive = run(folder, sys.executable, "-c", BUILD, "build_sdist").split()[-1]
    with tarfile.open(folder / archive) as packed:
        packed.extractall(folder / "again", filter="data")
    unpacked = folder / "again" / archive.removesuffix(".tar.gz")
    return unpacked / run(unpacked, sys.executable, "-c", BUILD, "build_wheel").split()[-1]


def sources() -> dict[str, bytes]:
    files = [path for path in SOURCE.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {f"dgb/{path.relative_to(SOURCE).as_posix()}": path.read_bytes() for path in files}


def test_the_wheel_holds_every_file_of_the_source_and_nothing_else(wheel: Path) -> None:
    name = "-".join(wheel.name.split("-")[:2])
    with zipfile.ZipFile(wheel) as packed:
        held = {name: packed.read(name) for name in packed.namelist()}
    about = {path for path in held if path.startswith(f"{name}.dist-info/")}
    assert about == {f"{name}.dist-info/{file}" for file in ABOUT}
    code = {path: content for path, content in held.items() if path not in about}
    expected = sources()
    assert {"dgb/py.typed", "dgb/data/cora.npz", "dgb/recipes/paper-cora.toml"} <= expected.keys()
    assert code.keys() == expected.keys()
    assert code == expected
    assert held[f"{name}.dist-info/licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()


def test_the_unpacked_wheel_trains_far_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "package")
    run(tmp_path, sys.executable, "-I", "-c", UNPACKED, tmp_path / "package", *TRAIN)
    assert_trained(tmp_path / "run")


@pytest.mark.slow
def test_the_wheel_trains_in_an_environment_of_its_own(wheel: Path, tmp_path: Path) -> None:
    run(tmp_path, sys.executable, "-m", "venv", "clean")
    python = tmp_path / "clean" / "bin" / "python"
    skip_without_index(python, tmp_path)
    run(tmp_path, python, "-m", "pip", "install", "-q", "--constraint", LOCK, f"{wheel}[map]")
    where = run(tmp_path, python, "-c", "import dgb; print(dgb.__file__)").strip()
    assert Path(where).is_relative_to(tmp_path / "clean")
    assert "cora" in run(tmp_path, python.with_name("dgb"), "data", "list")
    run(tmp_path, python.with_name("dgb"), *TRAIN)
    assert_trained(tmp_path / "run")


def skip_without_index(python: Path, folder: Path) -> None:
    """Skip where pip cannot even get one small package."""
    command = [str(python), "-m", "pip", "download", "-q", "--no-deps", "tomli-w"]
    if subprocess.run(command, cwd=folder, capture_output=True).returncode:
        pytest.skip("pip reaches no package index to install the dependencies from")


def assert_trained(folder: Path) -> None:
    files = {path.name: path.stat().st_size for path in folder.iterdir()}
    for name in ("embeddings.parquet", "model.safetensors", "report.html", "scores.json"):
        assert files[name] > 0
