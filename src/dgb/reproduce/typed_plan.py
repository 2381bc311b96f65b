"""The rows of the heterogeneous table, and the data sets that they are measured on."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from dgb.cookbook import load_recipe
from dgb.data.load import is_hetero
from dgb.data.public.sources import (
    dataset_name,
    find_local,
    has_cached_files,
    known_sources,
    local_folders,
)
from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.measure.job import Job, Place, load
from dgb.recipe import Data
from dgb.reproduce.plan import with_seeds
from dgb.settings import check_names
from dgb.terminal import log

TABLE = "hetero"
RUNS = 5  # trainings of a cell
ROWS = {
    "dgb": "DGB",
    "dgb-named": "DGB, meta-paths of HeCo",
    "union": "DGB on the union of meta-paths",
    "counts": "DGB, weights are path counts",
    "union-counts": "DGB on the union, weights are path counts",
    "relations": "DGB over relations",
    "random": "untrained encoder",
    "raw": "raw features",
}
# Features have no settings of training: these are as they were when raw features were measured.
RAW = ("encoder.width=512", "view1.nfd_drop_rate=0.7", "train.epochs=200")
# The meta-paths that HeCo gives its own method, by the letters of its files.
NAMED = {
    "acm": "p-a-p,p-s-p",
    "dblp": "a-p-a,a-p-c-p-a,a-p-t-p-a",
    "aminer": "p-a-p,p-r-p",
    "freebase": "m-a-m,m-d-m,m-w-m",
}


def plan_hetero(
    graphs: Mapping[str, HeteroGraph], runs: int | None = None, methods: tuple[str, ...] = ()
) -> list[Job]:
    """Return all measurements of some rows on graphs by their names, or of all rows."""
    check_names("row of the table", methods, ROWS)
    cells = [
        cell
        for dataset, graph in graphs.items()
        for cell in hetero_cells(dataset)
        if cell.method in (methods or ROWS)
        if cell.system != "raw" or graph.nodes[graph.target].x is not None
    ]
    if not cells:
        raise DGBError(
            f"nothing to measure: {', '.join(graphs)} has no row {', '.join(methods)}; raw needs "
            f"features of the target nodes, dgb-named one of {', '.join(NAMED)}"
        )
    # Where there is no split, each seed draws another one: features are scored on all of them.
    is_repeated = [cell.is_random or not graphs[cell.dataset].splits for cell in cells]
    return with_seeds(cells, [(runs or RUNS) if again else 1 for again in is_repeated])


def hetero_cells(dataset: str) -> list[Job]:
    """Return the rows for one data set, with seed 0."""
    recipe = load_recipe("hetero")
    recipes = {
        "dgb": recipe,
        "union": load_recipe("hetero", ["hetero.encoder=union"]),
        "counts": load_recipe("hetero", ["hetero.weights=counts"]),
        # As if papers had plain edges to papers: the graph that homogeneous DGB is given.
        "union-counts": load_recipe("hetero", ["hetero.encoder=union", "hetero.weights=counts"]),
        "relations": load_recipe("relations"),
        "random": load_recipe("hetero", ["train.epochs=0"]),
        "raw": replace(load_recipe("paper", RAW), data=recipe.data, probe=recipe.probe),
    }
    if dataset in NAMED:
        recipes["dgb-named"] = load_recipe("hetero", [f"hetero.metapaths={NAMED[dataset]}"])
    return [
        Job(TABLE, row, dataset, row if row in ("random", "raw") else "dgb", recipes[row])
        for row in ROWS
        if row in recipes
    ]


# Those that figures are published on, then the one that may be fetched.
DATASETS = ("acm", "dblp", "aminer", "freebase", "imdb")


def load_set(name: str, place: Place) -> HeteroGraph:
    """Return a public data set, or the one in a folder of that name among the user's data."""
    graph = load(Data(graph=_where(name, place)), place)
    assert isinstance(graph, HeteroGraph)
    return graph


def locate(job: Job, place: Place) -> Job:
    """Return a job whose recipe names the place of its data set, for other processes to read."""
    data = replace(job.recipe.data, graph=_where(job.dataset, place))
    return replace(job, recipe=replace(job.recipe, data=data))


def _where(name: str, place: Place) -> str:
    public = dataset_name(name)
    if public and not known_sources()[public].is_hetero:
        raise DGBError(f"{public} has nodes of one type; --datasets of hetero names others")
    where = public or _find_folder(name, place.data_folder)
    if where is None:
        folder = next(local_folders(place.data_folder), None)
        holds = f"{folder} holds" if folder else "no data folder is given, so there is"
        raise DGBError(
            f"no heterogeneous data set {name}: {holds} no folder of that name "
            "with nodes/ and edges/, or as HeCo publishes it in its repository; get it and give "
            "the folder above it as --data-folder or DGB_DATA"
        )
    return str(where)


def sets_at_hand(place: Place, names: Collection[str] = DATASETS) -> tuple[str, ...]:
    """Return the data sets that need no download, and log which are not there."""
    found = tuple(name for name in names if _is_at_hand(name, place.data_folder))
    if missing := [name for name in names if name not in found]:
        ways = [f"`dgb data fetch {name}` gets it" for name in missing if dataset_name(name)]
        if len(ways) < len(missing):
            ways.append("folders as HeCo publishes them go into --data-folder or DGB_DATA")
        log(f"not there: {', '.join(missing)}; {', '.join(ways)}")
    return found


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
