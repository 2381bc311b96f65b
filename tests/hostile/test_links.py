"""Links in a folder that somebody has sent: what is written there must not change other files."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dgb import load_graph
from dgb.cli import main
from dgb.data.formats.npz import write_npz
from dgb.errors import DGBError
from dgb.files.atomic import append_line, locked, new_mapped, rewrite_lines, whole_file
from tests.conftest import QUICK_PROBE, make_blocks
from tests.kill.disk import told

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own")
SMALL = "encoder.width=8 heads.hidden=8 heads.width=8 train.epochs=2"
SETS = [word for pair in (*SMALL.split(), *QUICK_PROBE) for word in ("--set", pair)]
PRECIOUS = "somebody's letters\n"


@pytest.fixture
def precious(tmp_path: Path) -> Iterator[Path]:
    """Give a file outside of all run folders, and a folder of such; look at them afterwards."""
    folder = tmp_path / "home" / "letters"
    folder.mkdir(parents=True)
    names = ("part-0.parquet", "view1-0.npy", "data.txt")
    for path in (folder.parent / "letter.txt", *(folder / name for name in names)):
        path.write_text(PRECIOUS)
    yield folder.parent / "letter.txt"
    assert {path.name for path in folder.iterdir()} == set(names)
    for path in (folder.parent / "letter.txt", *folder.iterdir()):
        assert path.read_text() == PRECIOUS, f"{path.name} was changed"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    write_npz(folder / "blocks.npz", make_blocks(90))
    out = ["--out", str(folder / "run")]
    assert main(["train", str(folder / "blocks.npz"), *out, *SETS]) == 0
    return folder / "run"


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    shutil.copytree(trained, tmp_path / "run")
    return tmp_path / "run"


def test_what_is_left_of_a_write_is_replaced_and_not_followed(
    tmp_path: Path, precious: Path
) -> None:
    path = tmp_path / "scores.json"
    (tmp_path / "scores.json.part").symlink_to(precious)
    path.symlink_to(precious)
    with whole_file(path) as part:
        assert not part.is_symlink()
        part.write_text("new")
    assert path.read_text() == "new" and not path.is_symlink()


def test_lines_are_not_appended_through_a_link(tmp_path: Path, precious: Path) -> None:
    (tmp_path / "table2.jsonl").symlink_to(precious)
    with pytest.raises(DGBError, match=r"table2\.jsonl is a link, .*; remove the link"):
        append_line(tmp_path / "table2.jsonl", {})
    rewrite_lines(tmp_path / "table2.jsonl", [{}])  # which puts a file of its own there
    append_line(tmp_path / "table2.jsonl", {})
    assert (tmp_path / "table2.jsonl").read_text() == "{}\n{}\n"


@pytest.mark.parametrize("name", [".compare.jsonl.lock", "compare.jsonl"])
def test_results_behind_a_link_are_not_written(tmp_path: Path, precious: Path, name: str) -> None:
    results = tmp_path / "results"
    results.mkdir()
    (results / name).symlink_to(precious)
    with pytest.raises(DGBError, match="is a link"), locked(results, "compare.jsonl"):
        pass
    (results / name).unlink()
    (results / "mine").symlink_to(precious)  # of no matter to this file
    with locked(results, "compare.jsonl"):
        pass


@pytest.mark.parametrize(
    "name",
    [
        *(".lock", "metrics.jsonl", "metrics.jsonl.part", "scores.json", "scores.json.part"),
        *("checkpoint.safetensors", "checkpoint.safetensors.part", "embeddings.parquet"),
        *("report.html", "report.html.part", "map.parquet.part", "begun.toml", "recipe.toml"),
    ],
)
def test_a_run_folder_with_a_link_is_not_trained_in(run: Path, precious: Path, name: str) -> None:
    if name == "recipe.toml":
        shutil.copy(run / name, precious.parent / "recipe.toml")
        precious = precious.parent / "recipe.toml"
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(precious)
    line = told(["train", "--resume", str(run)])
    assert f"{run / name} is a link, and what is written there would change another file" in line
    if name != "recipe.toml":
        assert "is a link" in told(["embed", str(run)])


@pytest.mark.parametrize("name", ["scratch", "embeddings.parquet", "ray"])
def test_a_folder_behind_a_link_is_neither_filled_nor_emptied(
    run: Path, precious: Path, name: str
) -> None:
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(precious.parent / "letters", target_is_directory=True)
    assert f"{run / name} is a link" in told(["train", "--resume", str(run)])


def test_a_link_deep_in_a_run_folder_is_found(run: Path, precious: Path) -> None:
    (run / "scratch").mkdir()
    (run / "scratch" / "view1-0.npy").symlink_to(precious)
    assert "view1-0.npy is a link" in told(["train", "--resume", str(run)])


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (["report"], "report.html"),
        (["cluster"], "clusters.csv"),
        (["neighbors", "--all"], "neighbors.parquet"),
    ],
)
def test_what_needs_no_lock_replaces_links(
    run: Path, precious: Path, words: list[str], written: str
) -> None:
    for name in (written, f"{written}.part"):
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(precious)
    assert main([words[0], str(run), *words[1:]]) == 0
    assert (run / written).is_file() and not (run / written).is_symlink()


def test_a_mapped_array_is_a_file_of_its_own(tmp_path: Path, precious: Path) -> None:
    (tmp_path / "x.npy").symlink_to(precious)
    with pytest.raises(DGBError, match=r"x\.npy is a link"):
        new_mapped(tmp_path / "x.npy", "float32", (3, 2))


def test_links_that_lead_to_data_are_followed(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.npz").symlink_to(trained.parent / "blocks.npz")
    assert load_graph(tmp_path / "mine.npz").num_nodes == 90
    (tmp_path / "latest").symlink_to(trained, target_is_directory=True)
    assert main(["neighbors", str(tmp_path / "latest"), "paper-3"]) == 0
    assert main(["train", "--resume", str(tmp_path / "latest")]) == 0


def test_other_links_in_a_folder_are_of_no_matter(tmp_path: Path, precious: Path) -> None:
    """Let a run lie next to an environment, or a link to data that is large."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(precious)
    (tmp_path / "data").symlink_to(precious.parent, target_is_directory=True)
    with locked(tmp_path):
        assert (tmp_path / ".lock").exists()
