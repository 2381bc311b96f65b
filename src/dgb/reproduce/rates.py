"""Drop rates of Table 3: chosen for every cell on validation, on a grid, then around its best."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dgb.data.fingerprint import fingerprint
from dgb.data.typed.graph import AnyGraph
from dgb.evaluate.scores import without_test_labels
from dgb.files.atomic import write_text
from dgb.measure.job import Job, Line, load
from dgb.measure.place import Place
from dgb.measure.runner import Work, require_lines, run
from dgb.reproduce.plan import rate_keys, table3_recipe
from dgb.reproduce.published import rows
from dgb.run.machine import set_threads
from dgb.run.train import train
from dgb.tune.candidate import validation_accuracy
from dgb.tune.space import own_value

TABLE = "rates"
KEY = ("graph_hash", "recipe", "seed")
GRID = (0.2, 0.4, 0.6, 0.8)
STEP = 0.1
Rates = tuple[float, ...]
Cell = tuple[str, str]  # data set and pair
Score = Callable[[Rates], float]


def choose_rates(pair: str, score: Score) -> Rates:
    """Return the best rates of a pair: one rate for both views from the grid, then steps of 0.1.

    A step moves one view's rate; the best of the neighbours is kept where it beats the grid's best.
    """
    best = max(_grid(pair), key=score)
    return max([best, *neighbours(best)], key=score)


def _grid(pair: str) -> list[Rates]:
    return [(rate,) * len(rate_keys(pair)) for rate in GRID]


def neighbours(rates: Rates) -> list[Rates]:
    """Return the rates one step away in one view."""
    moves = [(i, sign * STEP) for i in range(len(rates)) for sign in (-1, 1)]
    return [
        tuple(round(rate + step * (j == i), 1) for j, rate in enumerate(rates)) for i, step in moves
    ]


def find_rates(datasets: tuple[str, ...], place: Place) -> dict[str, dict[str, Rates]]:
    """Choose the rates of all cells of Table 3 and write them to rates.toml in the results.

    The grid of all cells is measured first, then what lies next to the best of each.
    """
    graphs = {dataset: _without_test(load(dataset, place)) for dataset in datasets}
    cells = [(d, row.key) for d in datasets for row in rows("table3") if rate_keys(row.key)]
    tried = {cell: _grid(cell[1]) for cell in cells}
    scores = _measure(tried, graphs, place)
    best = {cell: max(tried[cell], key=scores[cell].__getitem__) for cell in cells}
    more = _measure({cell: neighbours(best[cell]) for cell in cells}, graphs, place)
    found: dict[str, dict[str, Rates]] = {dataset: {} for dataset in datasets}
    for dataset, pair in cells:
        known = scores[dataset, pair] | more[dataset, pair]
        found[dataset][pair] = choose_rates(pair, known.__getitem__)
    path = place.results / "rates.toml"
    before = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    write_rates(before | found, path)
    return found


def _measure(
    tried: dict[Cell, list[Rates]], graphs: Mapping[str, AnyGraph], place: Place
) -> dict[Cell, dict[Rates, float]]:
    """Return the validation accuracy at all rates of all cells; known ones are not repeated."""
    jobs = {
        (cell, rates): Job(TABLE, cell[1], cell[0], "dgb", table3_recipe(*cell, rates))
        for cell, all_rates in tried.items()
        for rates in all_rates
    }
    outcome = run(list(jobs.values()), graphs, Work(measure_rates, KEY), place)
    lines = require_lines(list(jobs.values()), outcome)
    scores: dict[Cell, dict[Rates, float]] = {cell: {} for cell in tried}
    for (cell, rates), line in zip(jobs, lines, strict=True):
        scores[cell][rates] = line["val_accuracy"]
    return scores


def measure_rates(jobs: Sequence[Job], graph: AnyGraph, place: Place) -> list[Line]:
    """Return the line of a training, which never saw a test label."""
    set_threads(place.threads)
    graph = _without_test(graph)
    return [_line(job, graph) for job in jobs]


def _line(job: Job, graph: AnyGraph) -> Line:
    z = train(graph, job.recipe).embeddings()
    found = validation_accuracy(z, graph, job.recipe.probe)
    rates = [own_value(job.recipe, key) for key in rate_keys(job.method)]
    line = {"dataset": job.dataset, "pair": job.method, "rates": rates, "val_accuracy": found}
    return line | {"graph_hash": fingerprint(graph), "recipe": job.hash, "seed": job.seed}


def _without_test(graph: AnyGraph) -> AnyGraph:
    return without_test_labels(graph, seed=0)


def write_rates(found: dict[str, dict[str, Rates]], path: Path) -> None:
    """Write chosen rates as TOML, in the order of Table 3."""
    import tomli_w

    order = [row.key for row in rows("table3")]
    values = {
        dataset: {pair: list(cells[pair]) for pair in order if pair in cells}
        for dataset, cells in found.items()
    }
    head = "# Drop rates of Table 3, view by view, chosen on validation by `dgb reproduce rates`.\n"
    write_text(path, head + tomli_w.dumps(values, multiline_strings=False))
