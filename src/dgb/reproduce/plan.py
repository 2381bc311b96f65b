"""What each table asks for: a row is a recipe, a measurement is a recipe and a seed."""

from dataclasses import replace
from pathlib import Path

from dgb.baselines.methods import METHODS, settings_of
from dgb.cookbook import DEFAULT, load_recipe, with_seed
from dgb.errors import DGBError
from dgb.measure.job import Job
from dgb.recipe import Recipe
from dgb.reproduce.published import ABLATIONS, DATASETS, table3_recipes, table4_recipe
from dgb.settings import check_names, listed_names, split_list

TABLES = ("table2", "table3", "table4", "parts")
RUNS = {"table2": 20, "table3": 5, "table4": 5, "parts": 5}
# Of a row or a data set of a table that stands there for comparison, or takes longest.
FEWER_RUNS = {("table2", "dgb-shared"): 3, ("table2", "random"): 10}
FEWER_RUNS |= {(table, "pubmed"): 3 for table in ("table3", "table4")}

MOST_RUNS = 100  # trainings of a cell that are looked for among results

# What each part of the default brings. Rows that differ in blocks alone share a training.
PARTS: dict[str, tuple[str, ...]] = {
    "dgb-default": (),
    "links alone": ("train.bootstrap=0",),
    "bootstrapping alone": ("links.weight=0", "train.bootstrap=1"),
    "hops 1": ("encoder.hops=[1]",),
    "hops 1, 2": ("encoder.hops=[1, 2]",),
    "hops 1, 2, 4": ("encoder.hops=[1, 2, 4]",),
    "two stacked layers": ("encoder.hops=[]", "encoder.norm=none", "encoder.layers=2"),
    "learnt block alone": ("embed.blocks=learnt",),
    "without the diffused block": ("embed.blocks=learnt,structure",),
    "without the structure block": ("embed.blocks=learnt,diffused",),
    "no like nodes joined": ("embed.diffused_nearest=0",),
    "blocks not centred": ("embed.centre=false",),
    "not trained": ("train.epochs=0",),
}


def plan(
    table: str, datasets: tuple[str, ...], runs: int | None = None, methods: tuple[str, ...] = ()
) -> list[Job]:
    """Return all measurements of a table, or of some rows, a seed of every cell before the next."""
    cells = [cell for dataset in datasets for cell in _cells(table, dataset)]
    check_names("row of the table", methods, (cell.method for cell in cells))
    cells = [cell for cell in cells if not methods or cell.method in methods]
    return with_seeds(cells, [(runs or _runs(cell)) if cell.is_random else 1 for cell in cells])


def by_dgi_too(jobs: list[Job]) -> list[Job]:
    """Return the jobs, and the paper's once more with DGI's probe, by the same trainings.

    The paper follows DGI's evaluation by its own word.
    """
    again = [
        replace(job, recipe=load_recipe(job.recipe, ("probe.kind=dgi",)))
        for job in jobs
        if job.table in ("table3", "table4") or job.method == "dgb"
    ]
    return jobs + again


def with_seeds(cells: list[Job], counts: list[int]) -> list[Job]:
    """Return as many measurements of each cell as are counted, seed 0 of all of them first."""
    return [
        replace(cell, recipe=with_seed(cell.recipe, seed))
        for seed in range(max(counts, default=0))
        for cell, count in zip(cells, counts, strict=True)
        if seed < count
    ]


def _runs(cell: Job) -> int:
    if cell.settings is not None:
        return baseline_runs(cell)
    names = ((cell.table, cell.method), (cell.table, cell.dataset))
    return min(FEWER_RUNS.get(name, RUNS[cell.table]) for name in names)


def check_datasets(names: str, table: str = "") -> tuple[str, ...]:
    """Return the data sets of a list such as cora,pubmed; parts are of files of graphs too."""
    listed = dict.fromkeys(listed_names(names))
    files = [name for name in listed if table == "parts" and _is_file(name)]
    known = split_list(",".join(name for name in listed if name not in files))
    check_names("data set of the paper", known, DATASETS)
    chosen = (*known, *files)  # one named twice is measured once
    if not chosen:
        raise DGBError(f"--datasets takes one or more of {', '.join(DATASETS)}, joined by commas")
    return chosen


def _cells(table: str, dataset: str) -> list[Job]:
    """Return the rows of a table for one data set, with seed 0."""
    if table == "table2":
        return table2_cells(dataset)
    if table == "table3":
        recipes = table3_recipes(dataset)
    elif table == "table4":
        recipes = {row: table4_recipe(dataset, row) for row in ABLATIONS}
    else:
        file = (f"data.graph={dataset}",) if _is_file(dataset) else ()
        recipes = {row: load_recipe(DEFAULT, (*sets, *file)) for row, sets in PARTS.items()}
        dataset = Path(dataset).stem
    return [Job(table, row, dataset, "dgb", recipe) for row, recipe in recipes.items()]


def _is_file(dataset: str) -> bool:
    """Tell whether a data set is a graph of a user's own; a folder called cora is not Cora."""
    return dataset.lower() not in DATASETS and Path(dataset).exists()


# Trainings of a cell: ten, and three where one took longer than a minute on one thread.
BASELINE_RUNS, SLOW_RUNS = 10, 3
SLOW_ON_PUBMED = ("gat", "gmnn", "grace", "cca-ssg", "graphmae")
SLOW = {(system, "pubmed") for system in SLOW_ON_PUBMED}
# DGB's own rows: the paper's recipe, one for all data sets, and the default beyond the paper.
DGB_RECIPES = {"dgb": "paper-{}", "dgb-shared": "paper", "dgb-default": DEFAULT}


def table2_cells(dataset: str) -> list[Job]:
    """Return the rows of Table 2 for one data set, with seed 0."""
    recipe = load_recipe(f"paper-{dataset}")
    own = [
        Job("table2", row, dataset, "dgb", load_recipe(name.format(dataset)))
        for row, name in DGB_RECIPES.items()
    ]
    others = [key for key in METHODS if key != "dgb" and "one" in METHODS[key].graphs]
    return own + [_baseline(key, dataset, recipe) for key in others]


def baseline_runs(cell: Job) -> int:
    """Return how often a system other than DGB is trained for a cell."""
    return SLOW_RUNS if (cell.system, cell.dataset) in SLOW else BASELINE_RUNS


def _baseline(key: str, dataset: str, recipe: Recipe) -> Job:
    settings = settings_of(key, dataset, recipe)
    other = None if settings is recipe else settings
    return Job("table2", key, dataset, key, recipe, other)
