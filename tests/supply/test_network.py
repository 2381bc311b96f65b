"""Nothing is fetched unless a fetch is asked for: every verb runs where no socket can be made.

Exempt is `--engine ray`, whose processes talk through addresses of the machine; its import is not.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import QUICK_PROBE
from tests.supply import no_network

ROOT = Path(__file__).parents[2]
COMPANY = str(ROOT / "examples" / "company")
TINY = ["train.epochs=2", "encoder.width=8", "heads.hidden=8", "heads.width=8", *QUICK_PROBE]
SETS = [word for setting in TINY for word in ("--set", setting)]
COMMANDS = {
    "bundled": ["data", "check", "cora"],
    "train": ["train", COMPANY, "--label", "team", "--out", "run", *SETS],
    "embed": ["embed", "run", COMPANY, "--out", "z.parquet"],
    "neighbors": ["neighbors", "run", "jun.ito"],
    "cluster": ["cluster", "run", "--clusters", "7"],
    "report": ["report", "run"],
    "evaluate": ["evaluate", COMPANY, "--label", "team", "--runs", "1", "--out", "scores", *SETS],
    "list": ["data", "list"],
    "check": ["data", "check", COMPANY, "--label", "team"],
    "info": ["info"],
    "offline": ["data", "fetch", "citeseer", "--offline"],
    "fetch": ["data", "fetch", "citeseer"],
}
SESSION = """
import importlib, json, os, pkgutil, sys
import dgb
for module in pkgutil.walk_packages(dgb.__path__, "dgb."):
    importlib.import_module(module.name)
assert "ray" in sys.modules and "torch_geometric" in sys.modules
from dgb.cli import main
from dgb.evaluate import map as drawing
drawing.EARLY_STEPS = drawing.STEPS = 5  # a map takes longer than all the rest
log = os.environ["NO_NETWORK_LOG"]
def attempts():
    return open(log).read().splitlines() if os.path.exists(log) else []
done = {"import": [0, attempts()]}
for name, words in json.loads(sys.argv[1]).items():
    before = len(attempts())
    done[name] = [main(words), attempts()[before:]]
with open("done.json", "w") as file:
    json.dump(done, file)
"""


@dataclass(frozen=True)
class Session:
    """A process without a network: its folder, its verbs' exit codes and attempts."""

    folder: Path
    done: dict[str, tuple[int, list[str]]]


def start(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder of its own, where it and its children find no network."""
    shutil.copy(no_network.__file__, folder / "sitecustomize.py")
    pip = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "https://index.invalid"}
    pip |= {"PIP_RETRIES": "0", "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": ""}
    own = {"PYTHONPATH": str(folder), "DGB_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    own[no_network.LOG] = str(folder / "sockets.log")
    environment = {**os.environ, **pip, **own}
    environment.pop("DGB_DATA", None)
    python = [sys.executable, *command]
    return subprocess.run(python, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("alone")
    ended = start(folder, "-c", SESSION, json.dumps(COMMANDS))
    assert ended.returncode == 0, ended.stderr  # -31: native code has made a socket
    done = json.loads((folder / "done.json").read_text())
    return Session(folder, {name: (code, lines) for name, (code, lines) in done.items()})


def test_importing_every_module_uses_no_network(session: Session) -> None:
    _, attempts = session.done["import"]
    # urllib3, which PyG and Ray import, tries whether this machine has IPv6 by binding to itself.
    assert not [line for line in attempts if ":_has_ipv6" not in line]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("offline", "fetch")])
def test_a_verb_uses_no_network(session: Session, name: str) -> None:
    assert session.done[name] == (0, [])


def test_a_run_without_network_is_whole(session: Session) -> None:
    made = {path.name for path in (session.folder / "run").iterdir()}
    assert {"embeddings.parquet", "report.html", "scores.json", "clusters.csv"} <= made


def test_help_uses_no_network(tmp_path: Path) -> None:
    code = "import sys; from dgb.cli import main; sys.exit(main(['--help']))"
    ended = start(tmp_path, "-c", code)
    assert ended.returncode == 0 and "usage: dgb" in ended.stdout
    assert not (tmp_path / "sockets.log").exists()


def test_offline_refuses_before_it_asks(session: Session) -> None:
    assert session.done["offline"] == (2, [])


def test_a_fetch_that_is_asked_for_does_ask(session: Session) -> None:
    code, attempts = session.done["fetch"]
    assert code == 2  # here, where nobody answers
    looked_up = [line for line in attempts if line.startswith("socket.getaddrinfo")]
    assert any("urllib/request.py" in line for line in looked_up)
    assert any("pip/_vendor" in line for line in looked_up)  # in a process of its own


@pytest.mark.skipif(not no_network.can_stop_native_code(), reason="needs Linux's seccomp")
def test_native_code_has_no_network_either(tmp_path: Path) -> None:
    code = "import ctypes; ctypes.CDLL(None).socket({}, 1, 0); print('made')"
    assert "made" in start(tmp_path, "-c", code.format(1)).stdout  # AF_UNIX
    for family in (2, 10):
        assert start(tmp_path, "-c", code.format(family)).returncode == -signal.SIGSYS
