"""The heterogeneous data sets: which there are, and where the user has them."""

from functools import lru_cache
from pathlib import Path

from dgb.data.hetero.graph import HeteroGraph
from dgb.data.hetero.load import is_hetero, load_hetero
from dgb.data.public.fetch import find_local, has_cached_files
from dgb.data.public.sources import dataset_name, known_sources, local_folders
from dgb.errors import DGBError
from dgb.progress import say
from dgb.reproduce.place import Place

# Those that figures are published on, then the one that may be fetched.
DATASETS = ("acm", "dblp", "aminer", "freebase", "imdb")


def load_set(name: str, place: Place) -> HeteroGraph:
    """Return a public data set, or the one in a folder of that name among the user's data."""
    return _load(name, place.data_folder, place.offline)


# As many as there are: a table takes a seed of every data set before the next.
@lru_cache(maxsize=len(DATASETS))
def _load(name: str, data_folder: str | None, offline: bool) -> HeteroGraph:
    public = dataset_name(name)
    if public and not known_sources()[public].is_hetero:
        raise DGBError(f"{public} has nodes of one type; --datasets of hetero names others")
    where = public or _find_folder(name, data_folder)
    if where is None:
        raise DGBError(
            f"no heterogeneous data set {name}: {_where(data_folder)} no folder of that name "
            "with nodes/ and edges/, or as HeCo publishes it in its repository; get it and give "
            "the folder above it as --data-folder or DGB_DATA"
        )
    return load_hetero(where, data_folder=data_folder, offline=offline)


def sets_at_hand(place: Place) -> tuple[str, ...]:
    """Return the data sets that need no download, and say which are not there."""
    found = tuple(name for name in DATASETS if _is_at_hand(name, place.data_folder))
    missing = [name for name in DATASETS if name not in found]
    if missing:
        say(f"not there: {', '.join(missing)}; {_how_to_get(missing)}")
    if not found:
        raise DGBError("no heterogeneous data set is there; name some with --datasets, as imdb")
    return found


def _how_to_get(missing: list[str]) -> str:
    public = [name for name in missing if dataset_name(name)]
    ways = [f"`dgb data fetch {name}` gets it" for name in public]
    if len(public) < len(missing):
        ways.append("folders as HeCo publishes them go into --data-folder or DGB_DATA")
    return ", ".join(ways)


def _is_at_hand(name: str, data_folder: str | None) -> bool:
    public = dataset_name(name)
    if public is None:
        return _find_folder(name, data_folder) is not None
    source = known_sources()[public]
    return bool(find_local(source, data_folder)) or has_cached_files(source)


def _find_folder(name: str, data_folder: str | None) -> Path | None:
    """Return the folder of a data set in the user's data folder, or one level below it."""
    for folder in local_folders(data_folder):
        for path in sorted(folder.iterdir()):
            if path.name.lower() == name and path.is_dir() and is_hetero(path.resolve()):
                return path.resolve()
    return None


def _where(data_folder: str | None) -> str:
    folder = next(local_folders(data_folder), None)
    return f"{folder} holds" if folder else "no data folder is given, so there is"
