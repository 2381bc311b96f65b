"""Drop rates of Table 3: chosen for every cell on validation, on a grid, then beside it."""

import tomllib
from collections.abc import Callable
from pathlib import Path

from dgb.cookbook import recipe_hash
from dgb.data.fingerprint import fingerprint
from dgb.evaluate.scores import without_test_labels
from dgb.files.atomic import write_text
from dgb.files.jsonl import append_line, read_lines, rewrite_lines
from dgb.measure.measure import load
from dgb.measure.place import Place, in_parallel
from dgb.reproduce.plan import rate_keys, table3_recipe
from dgb.reproduce.published import rows
from dgb.run.machine import set_threads
from dgb.run.train import train
from dgb.terminal import progress_bar
from dgb.tune.candidate import validation_accuracy

FILE = "rates.jsonl"

GRID = (0.2, 0.4, 0.6, 0.8)
STEP = 0.1
Rates = tuple[float, ...]
Score = Callable[[Rates], float]


def choose_rates(pair: str, score: Score) -> Rates:
    """Return the best rates of a pair: one rate for both views from the grid, then steps of 0.1.

    A step moves one view's rate; the best of the neighbours is kept where it beats the grid's best.
    """
    count = len(rate_keys(pair))
    best = max(((rate,) * count for rate in GRID), key=score)
    return max([best, *neighbours(best)], key=score)


def neighbours(rates: Rates) -> list[Rates]:
    """Return the rates one step away in one view."""
    moves = [(i, sign * STEP) for i in range(len(rates)) for sign in (-1, 1)]
    return [
        tuple(round(rate + step * (j == i), 1) for j, rate in enumerate(rates)) for i, step in moves
    ]


def cell_rates(cell: tuple[str, str], place: Place) -> Rates:
    """Return the rates of one cell (data set, pair); finished trainings are read, not repeated."""
    dataset, pair = cell
    set_threads(place.threads)
    graph = without_test_labels(load(dataset, place), seed=0)
    path = place.results / FILE
    known = {(m["graph_hash"], m["recipe"]): m["val_accuracy"] for m in read_lines(path)}

    def score(rates: Rates) -> float:
        recipe = table3_recipe(dataset, pair, rates)
        key = (fingerprint(graph), recipe_hash(recipe))
        if key not in known:
            z = train(graph, recipe).embeddings()
            known[key] = validation_accuracy(z, graph, recipe.probe)
            line = {"dataset": dataset, "pair": pair, "rates": rates, "val_accuracy": known[key]}
            line |= {"graph_hash": key[0], "recipe": key[1], "seed": recipe.train.seed}
            append_line(path, line)
        return float(known[key])

    return choose_rates(pair, score)


def find_rates(datasets: tuple[str, ...], place: Place) -> dict[str, dict[str, Rates]]:
    """Choose the rates of all cells of Table 3 and write them to rates.toml in the results."""
    place.results.mkdir(parents=True, exist_ok=True)
    path = place.results / FILE
    rewrite_lines(path, read_lines(path))  # without what a kill has left half-written
    cells = [(d, row.key) for d in datasets for row in rows("table3") if rate_keys(row.key)]
    found: dict[str, dict[str, Rates]] = {dataset: {} for dataset in datasets}
    with progress_bar(None, "rates", unit="cell", total=len(cells)) as bar:
        for (dataset, pair), rates in in_parallel(cell_rates, cells, place):
            found[dataset][pair] = rates
            bar.update()
    path = place.results / "rates.toml"
    known = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    write_rates(known | found, path)
    return found


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
