"""Full disks, read-only disks, and folders that somebody else is writing to."""

import errno
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from dgb.cli import main
from dgb.data.formats.npz import write_npz
from dgb.errors import DGBError
from dgb.files.atomic import locked, new_mapped
from dgb.run.folder import EMBEDDINGS, RECIPE
from dgb.run.vectors import read_embeddings
from tests.conftest import QUICK_PROBE, make_blocks
from tests.kill.attempts import start_forked
from tests.kill.disk import make_read_only, needs_mount, on_small_disk, told, told_if_failed

SMALL = "encoder.width=8 heads.hidden=8 heads.width=8 train.epochs=6 train.checkpoint_every=2"
SETS = [word for pair in (*SMALL.split(), *QUICK_PROBE) for word in ("--set", pair)]
FULL = "No space left on device"
FEWEST = 4  # sizes of a disk that are too small


@pytest.fixture
def graph_file(tmp_path: Path) -> Path:
    write_npz(tmp_path / "blocks.npz", make_blocks(90))
    return tmp_path / "blocks.npz"


def map_more_than_there_is(disk: Path) -> None:
    """Make an array that the disk has no room for, which a write would find out too late."""
    with pytest.raises(OSError, match=FULL):
        new_mapped(disk / "x.npy", "float32", (1_000_000,))
    (disk / "x.npy").unlink()


def train_with_little_room(disk: Path, graph: str, *left: str) -> None:
    """Train where so many kilobytes are left, then make room and go on."""
    map_more_than_there_is(disk)
    whole = Path(graph).parent / "whole"
    assert main(["train", graph, "--out", str(whole), *SETS]) == 0
    for number, kilobytes in enumerate(left):
        run, filler = disk / f"run{number}", disk / "filler"
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        filler.write_bytes(bytes(free - 1024 * int(kilobytes)))
        line = told_if_failed(["train", graph, "--out", str(run), *SETS])
        filler.unlink()
        if line is None:  # there is room for a whole run
            assert number >= FEWEST
            return
        assert FULL in line and str(run) in line
        if (run / RECIPE).exists():
            assert f"resume it with `dgb train --resume {run}`" in line
            assert main(["train", "--resume", str(run)]) == 0
        else:
            assert "choose another folder" in line
            assert main(["train", graph, "--out", str(run), *SETS]) == 0
        assert (run / EMBEDDINGS).read_bytes() == (whole / EMBEDDINGS).read_bytes()
        for file in run.iterdir():
            file.unlink()


@needs_mount
def test_a_full_disk_is_told_and_the_run_goes_on_once_there_is_room(
    tmp_path: Path, graph_file: Path
) -> None:
    left = ("0", "16", "48", "80")
    on_small_disk(train_with_little_room, tmp_path / "disk", 1024, str(graph_file), *left)


@needs_mount
@pytest.mark.slow
def test_a_disk_may_fill_up_at_any_file(tmp_path: Path, graph_file: Path) -> None:
    left = map(str, range(0, 400, 4))
    on_small_disk(train_with_little_room, tmp_path / "disk", 1024, str(graph_file), *left)


def use_read_only(disk: Path, graph: str, elsewhere: str) -> None:
    """Train once, then find the disk read-only: what only reads still works."""
    done, begun = disk / "done", disk / "begun"
    for run in (done, begun):
        assert main(["train", graph, "--out", str(run), *SETS]) == 0
    (begun / "scores.json").unlink()  # as if stopped before the end
    make_read_only(disk)
    for words in (["train", "--resume", str(begun)], ["train", graph, "--out", str(disk / "new")]):
        line = told(words)
        assert "Read-only file system" in line and "choose another folder" in line
    assert "Read-only file system" in told(["report", str(done)])
    out = f"{elsewhere}/z.parquet"
    assert main(["embed", str(done), graph, "--out", out]) == 0
    assert (read_embeddings(Path(out))[1] == read_embeddings(done / EMBEDDINGS)[1]).all()
    assert main(["neighbors", str(done), "paper-3"]) == 0


@needs_mount
def test_a_read_only_run_can_be_used_and_not_trained(tmp_path: Path, graph_file: Path) -> None:
    on_small_disk(use_read_only, tmp_path / "disk", 4096, str(graph_file), str(tmp_path))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_the_second_process_in_a_folder_is_refused(tmp_path: Path, graph_file: Path) -> None:
    run = tmp_path / "run"
    train = ["train", str(graph_file), "--out", str(run), *SETS]
    first = start_forked([*train, "--set", "train.epochs=100000"], run)
    while not (run / "checkpoint.safetensors").exists():
        assert first.is_alive()
        time.sleep(0.05)
    for words in (train, ["train", "--resume", str(run)]):
        assert f"another process is working on {run}; wait until it is done" in told(words)
    os.kill(first.pid, signal.SIGKILL)
    first.join()
    assert "holds a run already" in told(train)  # the lock is gone, and the run is not


def test_a_folder_is_held_by_one_and_its_files_one_by_one(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(DGBError, match="another process"), locked(tmp_path):
        pass
    with (
        locked(tmp_path),
        locked(tmp_path, "a.jsonl"),
        locked(tmp_path, "b.jsonl"),
        pytest.raises(DGBError, match=r"a\.jsonl"),
        locked(tmp_path, "a.jsonl"),
    ):
        pass
    with locked(tmp_path / "new" / "folder"):
        assert (tmp_path / "new" / "folder").is_dir()


def test_a_run_does_not_go_on_with_another_graph(
    tmp_path: Path, graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("dgb.run.train.write_map", Mock(side_effect=OSError("x")))
        assert "resume it with" in told(["train", str(graph_file), "--out", str(run), *SETS])
    write_npz(graph_file, make_blocks(90, seed=1))
    line = told(["train", "--resume", str(run)])
    assert "the graph is not the one" in line and str(run) in line
    write_npz(graph_file, make_blocks(90))
    assert main(["train", "--resume", str(run)]) == 0


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_disk_without_locks_is_told_and_used(
    tmp_path: Path,
    number: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(_lock: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("filelock.FileLock._acquire", fails)
    with locked(tmp_path):
        pass
    assert "on a disk without locks; let no second process work there" in capsys.readouterr().err


def test_a_run_does_not_go_on_where_nodes_have_other_names(
    tmp_path: Path, graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, graph = tmp_path / "run", make_blocks(90)
    with monkeypatch.context() as patch:
        patch.setattr("dgb.run.train.write_map", Mock(side_effect=OSError("x")))
        assert "resume it with" in told(["train", str(graph_file), "--out", str(run), *SETS])
    write_npz(graph_file, replace(graph, node_ids=graph.node_ids[::-1].copy()))
    assert "the graph is not the one" in told(["train", "--resume", str(run)])


def test_what_a_killed_embedding_left_is_removed(tmp_path: Path, graph_file: Path) -> None:
    run = tmp_path / "run"
    assert main(["train", str(graph_file), "--out", str(run), *SETS]) == 0
    (run / f".{EMBEDDINGS}-x7").mkdir()
    (run / f".{EMBEDDINGS}-x7" / "view.npy").write_bytes(b"much")
    assert main(["train", "--resume", str(run)]) == 0
    assert not (run / f".{EMBEDDINGS}-x7").exists()
