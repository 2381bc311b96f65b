"""`dgb train --engine ray` from the command line, and what it refuses."""

import json
import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dgb.cli import main
from dgb.cookbook import load_recipe
from dgb.data.formats.npz import write_npz
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.files.tensors import read_tensors
from dgb.ray.cluster import Cluster, check_address
from dgb.run.model import MODEL
from dgb.run.vectors import read_embeddings, remove_parts, write_embeddings
from dgb.train.monitor import read_metrics
from tests.conftest import QUICK_PROBE

SMALL = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=4", *QUICK_PROBE]
SMALL = [word for setting in SMALL for word in ("--set", setting)]


@pytest.fixture
def graph_file(blocks: Graph, tmp_path: Path) -> str:
    path = tmp_path / "blocks.npz"
    write_npz(path, blocks)
    return str(path)


HOPS = ["encoder.hops=[0,1,2]", "encoder.norm=batch", "view2.augment=nd+adj"]
HOPS += ["embed.blocks=learnt,diffused,structure", "embed.normalise=rows"]
# One rank asks for all pairs that one process asks for.
LINKS = ["view1.augment=ed+nfd+adj", "links.weight=1", "train.bootstrap=0"]


@pytest.mark.usefixtures("machines")
@pytest.mark.parametrize(
    ("sets", "options"),
    [
        pytest.param([*HOPS, "train.batch_size=40"], [], id="hops"),
        pytest.param([*HOPS, *LINKS], ["--workers", "1"], id="links", marks=pytest.mark.slow),
    ],
)
def test_train_on_ray_writes_a_whole_run_folder(
    sets: list[str], options: list[str], graph_file: str, blocks: Graph, tmp_path: Path
) -> None:
    run, alone, again = tmp_path / "run", tmp_path / "alone", tmp_path / "again.parquet"
    sets = ["embed.npy=true", "heads.projector=none", *sets]
    words = [graph_file, "--recipe", "paper", *SMALL]
    words += [word for setting in sets for word in ("--set", setting)]
    assert main(["train", *words, "--out", str(alone)]) == 0
    assert main(["train", *words, "--out", str(run), "--engine", "ray", *options]) == 0
    assert {f.name for f in run.iterdir()} == {f.name for f in alone.iterdir()}
    assert len(list((run / "embeddings.parquet").iterdir())) > 1
    ids, z = read_embeddings(run / "embeddings.parquet")
    assert list(ids) == list(blocks.node_ids)
    np.testing.assert_array_equal(np.load(run / "embeddings.npy"), z)
    assert main(["embed", str(run), "--out", str(again)]) == 0
    np.testing.assert_allclose(read_embeddings(again)[1], z, atol=1e-6)
    ours, expected = ([m["loss"] for m in read_metrics(f)] for f in (run, alone))
    assert ours == pytest.approx(expected, abs=1e-4)
    weights, alike = (read_tensors(f / MODEL)[0] for f in (run, alone))
    assert weights.keys() == alike.keys()
    assert all((weights[key] - alike[key]).abs().mean() < 1e-4 for key in alike)  # steps of 1e-3
    assert "dgb" in json.loads((run / "scores.json").read_text())
    assert main(["neighbors", str(run), "paper-3"]) == 0
    assert main(["embed", str(run)]) == 0  # by one process: one file
    assert (run / "embeddings.parquet").is_file()
    np.testing.assert_allclose(read_embeddings(run / "embeddings.parquet")[1], z, atol=1e-6)


def test_parts_of_embeddings_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    z = np.arange(60, dtype=np.float32).reshape(30, 2)
    ids = np.array([f"n{i}" for i in range(30)])
    for part in (2, 0, 1):  # in whichever order they were written
        rows = slice(part * 10, part * 10 + 10)
        write_embeddings(tmp_path / f"part-{part:05}.parquet", ids[rows], z[rows])
    found, read = read_embeddings(tmp_path)
    assert list(found) == list(ids)
    np.testing.assert_array_equal(read, z)
    (tmp_path / "notes.txt").write_text("not ours")
    with pytest.raises(DGBError, match="holds other files"):
        remove_parts(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DGBError, match="is not there"):
        read_embeddings(tmp_path / "empty")


def test_without_ray_the_command_says_how_to_install_it(
    graph_file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    words = ["train", graph_file, "--engine", "ray", "--out", str(tmp_path / "run")]
    assert main(words) == 2
    assert "pip install 'deep-graph-bootstrapping[ray]'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--workers", "2"], "go with --engine ray"),
        (["--address", "10.0.0.1:6379"], "go with --engine ray"),
        (["--engine", "ray", "--workers", "0"], "--workers must be at least 1"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    words: list[str], message: str, graph_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", graph_file, *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sets", "ranks", "message"),
    [
        (["encoder.layers=2"], 2, r"encoder\.layers=1"),
        (["train.keep=disk"], 2, "keeps blocks in Ray's own store"),
        (["links.held_out=0.1"], 2, r"set links\.held_out=0 and train\.stop_on=loss"),
        (["train.batch_size=3"], 4, "from 1 to 3, the rows of the smallest batch"),
    ],
)
def test_what_ranks_cannot_share_is_refused(sets: list[str], ranks: int, message: str) -> None:
    pytest.importorskip("ray")
    from dgb.ray.training import check_ranks

    with pytest.raises(DGBError, match=message):
        check_ranks(load_recipe("paper", sets), 90, ranks)


def test_what_to_resume_with_names_the_same_cluster() -> None:
    assert Cluster().words == " --engine ray"
    assert Cluster("10.0.0.1:6379", 3).words == " --engine ray --address 10.0.0.1:6379 --workers 3"


@pytest.mark.parametrize("address", ["ray://10.0.0.1:10001", "10.0.0.1", "10.0.0.1:"])
def test_what_is_no_address_of_a_cluster_is_refused(address: str) -> None:
    with pytest.raises(DGBError, match="start dgb on one of its machines"):
        check_address(address)


def test_an_address_where_nobody_answers_is_refused_before_anything_is_written(
    graph_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"  # bound, but nobody listens
        words = ["--engine", "ray", "--address", address, "--out", str(tmp_path / "run")]
        assert main(["train", graph_file, *words]) == 2
    assert f"no Ray cluster answers at {address}" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_run_begun_on_ray_is_not_gone_on_with_alone(
    graph_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    run = tmp_path / "run"

    def interrupted(*_: Any, **__: Any) -> None:
        (run / "ray").mkdir()
        raise KeyboardInterrupt

    pytest.importorskip("ray")
    monkeypatch.setattr("dgb.run.train.connect_engine", interrupted)
    main(["train", graph_file, *SMALL, "--out", str(run), "--engine", "ray"])
    assert f"dgb train --resume {run} --engine ray" in capsys.readouterr().err
    assert main(["train", "--resume", str(run)]) == 2
    assert "was begun on Ray" in capsys.readouterr().err
