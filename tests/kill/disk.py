"""A small disk of its own for a scenario: mounted where only the scenario's process sees it."""

import contextlib
import io
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from dgb.cli import main

ALONE = ("unshare", "--user", "--map-root-user", "--mount")


@cache
def can_mount() -> bool:
    """Tell whether this machine lets a process mount a disk for itself alone."""
    try:
        return subprocess.run([*ALONE, "true"], capture_output=True).returncode == 0
    except OSError:
        return False


needs_mount = pytest.mark.skipif(not can_mount(), reason="no disk can be mounted here")


def on_small_disk(scenario: Callable[..., None], folder: Path, kilobytes: int, *more: str) -> None:
    """Run a function of a test module, as `scenario(folder, *more)`, on a disk of that size."""
    folder.mkdir()
    disk = f"mount -t tmpfs -o size={kilobytes}k tmpfs {folder}"
    code = f"import sys; from {scenario.__module__} import {scenario.__name__} as scenario"
    code += "; from tests.conftest import cut_short; cut_short()"
    code += "; from pathlib import Path; scenario(Path(sys.argv[1]), *sys.argv[2:])"
    python = [sys.executable, "-c", code, str(folder), *more]
    command = [*ALONE, "sh", "-c", f'{disk} && exec "$@"', "sh", *python]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def make_read_only(folder: Path) -> None:
    """Let nobody write to the disk any more."""
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)


def told(words: list[str]) -> str:
    """Run a command that has to fail; return the one line that it tells."""
    line = told_if_failed(words)
    assert line is not None
    return line


def told_if_failed(words: list[str]) -> str | None:
    """Run a command; return the one line that it tells when it fails, None when it does not."""
    heard = io.StringIO()
    with contextlib.redirect_stderr(heard):
        code = main(words)
    if code == 0:
        return None
    lines = [line for line in heard.getvalue().splitlines() if line.startswith("dgb: ")]
    assert (code, len(lines)) == (2, 1), heard.getvalue()
    return lines[0]
