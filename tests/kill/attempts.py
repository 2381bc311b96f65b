"""Commands of dgb in processes that are killed: by the clock, or before they touch a file."""

import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch

from dgb.cli import main
from tests.conftest import cut_short

# What a command imports late, and every process that is forked from this one need not.
for name in ("dgb.run.train", "dgb.report.page", "dgb.reproduce.results", "dgb.reproduce.render"):
    importlib.import_module(name)
for name in ("openTSNE", "pyarrow.parquet", "sklearn.cluster", "sklearn.manifold"):
    importlib.import_module(name)
LONGEST = 120  # seconds that no command of these tests takes
TOUCHES = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree")


@dataclass(frozen=True)
class Death:
    """When a process is killed: after some seconds, or before the n-th touch of its folder."""

    seconds: float = LONGEST
    touches: int | None = None
    is_cold: bool = False  # a new interpreter, which may be killed while it still imports


def draw_death(random: Random, seconds: float, touches: int, *, is_cold: bool) -> Death:
    """Draw a moment of a command that takes this long and touches this many files."""
    if is_cold:
        return Death(random.uniform(0, seconds + 4), is_cold=True)
    if random.random() < 0.5:
        return Death(random.uniform(0, seconds))
    return Death(touches=random.randrange(touches))


def attempt(words: list[str], folder: Path, death: Death | None = None) -> int:
    """Run a command until it ends or is killed; return its exit code, -9 for a kill."""
    start = _start_cold if death and death.is_cold else start_forked
    process = start(words, folder, death.touches if death else None)
    process.join(death.seconds if death else LONGEST)
    if process.exitcode is None:
        assert death is not None, f"dgb {' '.join(words)} hangs"
        process.kill()
        process.join(LONGEST)
    assert process.exitcode is not None
    _await_children(process.pid)
    return int(process.exitcode)


def _await_children(group: int) -> None:
    """Wait until all that a command has started has ended as well: nothing may outlive a kill."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("a killed command has left processes behind")


def count_touches(words: list[str], folder: Path) -> tuple[float, int]:
    """Run a command to its end; return its seconds and how often it touched its folder."""
    attempt(["data", "list"], folder)  # the first one waits for the server
    start = time.perf_counter()
    assert attempt(words, folder) == 0, _log(folder).read_text()
    seconds = time.perf_counter() - start
    return seconds, int(_log(folder).read_text().split()[-1])


def _log(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.log")


def start_forked(words: list[str], folder: Path, touches: int | None = None) -> Any:
    """Start a command of a server that has imported all: it takes as long as its own work."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    process = context.Process(target=_run, args=(words, folder, touches))
    process.start()
    return process


def _run(words: list[str], folder: Path, touches: int | None) -> None:
    os.setpgid(0, 0)
    torch.set_num_threads(1)
    cut_short()
    with _log(folder).open("w") as log:
        for stream in (1, 2):
            os.dup2(log.fileno(), stream)
    counted = [0]

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in TOUCHES or not str(arguments[0]).startswith(str(folder)):
            return
        if counted[0] == touches:
            os.kill(os.getpid(), signal.SIGKILL)
        counted[0] += 1

    sys.addaudithook(count)
    code = main(words)
    print(counted[0], flush=True)
    os._exit(code)


@dataclass
class _Cold:
    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def exitcode(self) -> int | None:
        return self.process.poll()

    def join(self, seconds: float) -> None:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return

    def kill(self) -> None:
        self.process.kill()


def _start_cold(words: list[str], folder: Path, _touches: int | None) -> _Cold:
    code = "import sys; from dgb.cli import main; from tests.conftest import cut_short"
    code += "; cut_short(); sys.exit(main())"
    with _log(folder).open("w") as log:
        command = [sys.executable, "-c", code, *words]
        return _Cold(subprocess.Popen(command, stdout=log, stderr=log, process_group=0))
