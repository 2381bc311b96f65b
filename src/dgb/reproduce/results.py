"""Lines of the tables: measure those that are missing, find those of today, and verify some."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dgb.data.fingerprint import fingerprint
from dgb.errors import DGBError
from dgb.files.atomic import read_lines
from dgb.measure.job import Job, Line, Place, load
from dgb.measure.measure import measure
from dgb.measure.runner import Work, require_lines, run
from dgb.reproduce.plan import MOST_RUNS, TABLES, by_dgi_too, plan, with_seeds
from dgb.reproduce.published import DATASETS
from dgb.reproduce.typed_plan import TABLE as HETERO
from dgb.reproduce.typed_plan import hetero_cells, load_set, locate, sets_at_hand
from dgb.run.machine import find_uncommitted
from dgb.terminal import progress_bar

# What makes up the recipes of a table, inside the package.
COMMITTED = (
    *("recipes", "recipe.py", "baselines"),
    *(f"reproduce/{name}" for name in ("plan.py", "published.py", "typed_plan.py", "rates.toml")),
)
SUPERSEDED = "superseded.jsonl"
KEY = ("dataset", "graph_hash", "system", "recipe", "seed")
SCORES = ("val_accuracy", "test_accuracy", "splits", "nmi", "ari")
Pairs = list[tuple[Job, Line]]


def refuse_uncommitted() -> None:
    """Refuse to read test labels for recipes that could still be changed after the look."""
    if changed := find_uncommitted(*COMMITTED):
        raise DGBError(
            f"{' and '.join(changed)} differ from the last commit; test labels are read only for "
            "committed recipes: commit first"
        )


def measure_missing(jobs: Sequence[Job], place: Place) -> list[Line]:
    """Return a line per job, in order; those measured before, for any table, are not repeated."""
    refuse_uncommitted()
    graphs = {job.dataset: load(job.data, place) for job in jobs}
    outcome = run(jobs, graphs, Work(measure, KEY, read_all(place.results)), place)
    return require_lines(jobs, outcome)


def read_all(results: Path) -> list[Line]:
    """Return the lines of every table in a results folder, but those that others replaced."""
    files = sorted(path for path in results.glob("*.jsonl") if path.name != SUPERSEDED)
    return [line for file in files for line in read_lines(file) if set(KEY) <= set(line)]


def match_lines(jobs: Sequence[Job], results: Path) -> Pairs:
    """Return those jobs that the results hold, whoever measured them and when."""
    keys = ("dataset", "system", "seed", "recipe")
    lines = {tuple(line[key] for key in keys): line for line in read_all(results)}
    measured = {key[:3] for key in lines}  # most jobs are not, and a hash takes its time
    found = [
        (job, lines.get((*key, job.hash)))
        for job in jobs
        if (key := (job.dataset, job.system, job.seed)) in measured
    ]
    return [(job, line) for job, line in found if line is not None]


def table_lines(table: str, results: Path) -> Pairs:
    """Return all that the results hold of a table's recipes of today.

    Of a data set of several node types, which a user may have in another version, only the lines
    of the graph that was measured last.
    """
    if table != HETERO:
        lines = read_lines(results / "parts.jsonl") if table == "parts" else []
        datasets = dict.fromkeys((*DATASETS, *(line["dataset"] for line in lines)))
        return match_lines(by_dgi_too(plan(table, tuple(datasets), MOST_RUNS)), results)
    last = {m["dataset"]: m["graph_hash"] for m in read_lines(results / f"{HETERO}.jsonl")}
    cells = [cell for dataset in last for cell in hetero_cells(dataset)]
    pairs = match_lines(with_seeds(cells, [MOST_RUNS] * len(cells)), results)
    return [(job, line) for job, line in pairs if line["graph_hash"] == last[job.dataset]]


def of_probe(pairs: Pairs, *, is_dgi: bool) -> Pairs:
    """Return the lines that DGI's probe has measured, or all others."""
    return [pair for pair in pairs if (pair[0].recipe.probe.kind == "dgi") is is_dgi]


def verify(place: Place, count: int, seed: int | None = None) -> list[Line]:
    """Return a verdict per re-measured line: the old and new scores and whether they are equal."""
    refuse_uncommitted()
    pairs = [pair for table in TABLES for pair in table_lines(table, place.results)]
    pairs = [pair for pair in pairs if pair[0].dataset in DATASETS]  # not of files of graphs
    pairs += _typed_lines(place)
    if not pairs:
        raise DGBError(
            f"{place.results} holds no line of a recipe of today; run `dgb reproduce table2` first"
        )
    chosen = random.Random(seed).sample(pairs, min(count, len(pairs)))
    bar = progress_bar(chosen, "verify", unit="run")
    return [_verdict(line, job, place) for job, line in bar]


def _typed_lines(place: Place) -> Pairs:
    """Return the lines on graphs of several node types that are at hand as they were then."""
    pairs = table_lines(HETERO, place.results)
    last = {job.dataset: line["graph_hash"] for job, line in pairs}
    there = set(sets_at_hand(place, last)) if last else set()
    found = [(locate(job, place), line) for job, line in pairs if job.dataset in there]
    same = {name for name in there if fingerprint(load_set(name, place)) == last[name]}
    return [(job, line) for job, line in found if job.dataset in same]


def _verdict(line: Line, job: Job, place: Place) -> Line:
    names = [name for name in SCORES if name in line]
    # As many threads as then: sums split over other threads round otherwise.
    (again,) = measure([job], load(job.data, place), replace(place, threads=line["threads"]))
    same = all(line[name] == again[name] for name in names)
    verdict = {name: line[name] for name in ("table", "method", "dataset", "seed")}
    verdict |= {"same": same, "then": _shown_score(line), "now": _shown_score(again)}
    others = [key for key in ("machine", "versions", "git") if line.get(key) != again[key]]
    if not same and others:
        verdict["why"] = f"other {' and '.join(others)} than then"
    return verdict


def _shown_score(line: Line) -> float:
    """Return the accuracy on test in percent, Micro-F1 of the first split where there are more."""
    found = next(iter(line["splits"].values()))["micro_f1"] if "splits" in line else None
    return float(100 * (line["test_accuracy"] if found is None else found))


def verdict_line(verdict: Line) -> str:
    """Return a verdict as a line of text."""
    where = " ".join(str(verdict[name]) for name in ("table", "method", "dataset"))
    word = "same" if verdict["same"] else "OTHER"
    scores = f"{verdict['then']:.1f} then, {verdict['now']:.1f} now"
    why = f" ({verdict['why']})" if "why" in verdict else ""
    return f"{word:6}{where}, seed {verdict['seed']}: {scores}{why}"
