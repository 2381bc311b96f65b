"""The rows of Table 2: every system on the same data, split, seeds and evaluator."""

from dgb.baselines.choices import settings_of
from dgb.baselines.methods import METHODS
from dgb.cookbook import load_recipe
from dgb.recipe import Recipe
from dgb.reproduce.measurement import Measurement

# Trainings of a cell: ten, and three where one took longer than a minute on one thread.
BASELINE_RUNS, SLOW_RUNS = 10, 3
SLOW_ON_PUBMED = ("gat", "gmnn", "grace", "cca-ssg", "graphmae")
SLOW = {(system, "pubmed") for system in SLOW_ON_PUBMED}
# DGB's own rows: the paper's recipe, one for all data sets, and what goes beyond the paper.
DGB_RECIPES = {"dgb": "{}", "dgb-shared": "default", "dgb-plus": "{}-plus"}


def table2_cells(dataset: str) -> list[Measurement]:
    """Return the rows of Table 2 for one data set, with seed 0."""
    recipe = load_recipe(dataset)
    own = [
        Measurement("table2", row, dataset, "dgb", load_recipe(name.format(dataset)))
        for row, name in DGB_RECIPES.items()
    ]
    return own + [_baseline(key, dataset, recipe) for key in METHODS if key != "dgb"]


def baseline_runs(cell: Measurement) -> int:
    """Return how often a system other than DGB is trained for a cell."""
    return SLOW_RUNS if (cell.system, cell.dataset) in SLOW else BASELINE_RUNS


def _baseline(key: str, dataset: str, recipe: Recipe) -> Measurement:
    settings = settings_of(key, dataset, recipe)
    other = None if settings is recipe else settings
    return Measurement("table2", key, dataset, key, recipe, other)
