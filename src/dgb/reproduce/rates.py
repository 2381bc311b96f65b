"""Drop rates of Tables 3 and 4 at one length: chosen on resplits for the rows that matter most."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from dgb.files.atomic import write_text
from dgb.measure.job import Job, Line, Place
from dgb.recipe import Recipe
from dgb.reproduce.curves import measure_curves
from dgb.reproduce.published import (
    ABLATIONS,
    BEST,
    SWAPPED,
    rate_keys,
    rows,
    table3_recipe,
    table4_recipe,
)

TABLE = "rates"
NODE = "nfd+adj|nd+adj"
RATED = (BEST, NODE, SWAPPED, "without-projection", "p=0", "p=1")


class Rates(NamedTuple):
    """How much is dropped where a view drops features, and where it drops nodes."""

    nfd: float
    nd: float


# What the search of the best pair leaves open: it is lower with fewer features dropped, and with
# other shares of nodes.
GRID = [Rates(nfd, 0.5) for nfd in (0.7, 0.8)]
Scores = Mapping[tuple[str, Rates], float]  # by row
Chosen = dict[str, list[float]]  # by row, view by view


def find_rates(datasets: tuple[str, ...], place: Place) -> dict[str, Chosen]:
    """Choose the rates of all rows and write them to rates.toml in the results."""
    found = {dataset: spread_rates(_score(dataset, place)) for dataset in datasets}
    path = place.results / "rates.toml"
    before = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    write_rates(before | found, path)
    return found


def _score(dataset: str, place: Place) -> dict[tuple[str, Rates], float]:
    """Return the accuracy on resplits of every row at all rates; known ones are not repeated."""
    cells = [(row, rates) for rates in GRID for row in RATED]
    jobs = [
        Job(TABLE, row, dataset, "dgb", rated_recipe(dataset, row, rates)) for row, rates in cells
    ]
    lines = measure_curves(jobs, place)
    return {cell: _last(line) for cell, line in zip(cells, lines, strict=True)}


def _last(line: Line) -> float:
    return float(line["scores"][max(line["scores"], key=int)]["resplit"])


def rated_recipe(dataset: str, row: str, rates: Rates) -> Recipe:
    """Return the recipe of a row of Table 3 or 4 at some rates."""
    if row in ABLATIONS:
        return table4_recipe(dataset, row, tuple(by_view(BEST, rates)))
    return table3_recipe(dataset, row, tuple(by_view(row, rates)))


def by_view(pair: str, rates: Rates) -> list[float]:
    """Return the rates in the order of the views that drop something."""
    return [rates.nfd if key.endswith("nfd_drop_rate") else rates.nd for key in rate_keys(pair)]


def spread_rates(scores: Scores) -> Chosen:
    """Return the best rates of the rated rows, and for all others those of the nearest one.

    That is NFD / ND for rows with node augmentation alone, and the best pair for the rest.
    """
    best = {row: max(GRID, key=lambda rates: scores[row, rates]) for row in RATED}
    nearest = {row.key: NODE if row.group == "node" else BEST for row in rows("table3")}
    pairs = {pair: best.get(pair, best[near]) for pair, near in nearest.items()}
    chosen = {pair: by_view(pair, rates) for pair, rates in pairs.items() if rate_keys(pair)}
    others = {row: best.get(row, best[BEST]) for row in ABLATIONS if row != "dgb"}
    return chosen | {row: by_view(BEST, rates) for row, rates in others.items()}


def write_rates(found: Mapping[str, Chosen], path: Path) -> None:
    """Write chosen rates as TOML."""
    import tomli_w

    head = "# Drop rates of Tables 3 and 4, view by view; `dgb reproduce rates` chooses them.\n"
    write_text(path, head + tomli_w.dumps(found, multiline_strings=False))
