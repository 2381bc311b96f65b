"""Run measurements: in parallel, line by line into a file, going on where a stopped one was."""

from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from dgb.data.fingerprint import fingerprint
from dgb.data.graph import Graph
from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.files.jsonl import append_line, read_lines, rewrite_lines
from dgb.files.lock import locked
from dgb.measure.measure import Line, load, measure, training_of
from dgb.measure.measurement import Measurement
from dgb.measure.place import FAILURES, Place, in_parallel
from dgb.run.machine import uncommitted
from dgb.terminal import log, progress_bar

# What makes up the recipes of a table, inside the package.
COMMITTED = (
    *("recipes", "recipe.py", "baselines"),
    *("reproduce/plan.py", "reproduce/table2.py", "reproduce/rates.toml"),
    "reproduce/hetero_plan.py",
)
SUPERSEDED = "superseded.jsonl"
KEY = ("dataset", "graph_hash", "system", "recipe", "seed")

Load = Callable[[str, Place], Graph | HeteroGraph]
Measure = Callable[[Sequence[Measurement], Place], list[Line]]


def run(
    jobs: list[Measurement],
    place: Place,
    load_graph: Load = load,
    measure_jobs: Measure = measure,
) -> list[Line]:
    """Return a line per measurement, in order; those measured before are not measured again."""
    refuse_uncommitted()
    with ExitStack() as stack:
        for table in sorted({job.table for job in jobs}):
            stack.enter_context(locked(place.results, _path(place.results, table).name))
        return _run(jobs, place, load_graph, measure_jobs)


def _run(
    jobs: list[Measurement], place: Place, load_graph: Load, measure_jobs: Measure
) -> list[Line]:
    hashes = {d: fingerprint(load_graph(d, place)) for d in {job.dataset for job in jobs}}
    done = _known(jobs, hashes, place)
    left = [job for job in jobs if job not in done]
    if done:
        log(f"{len(done)} of {len(jobs)} measurements were there already")
    bar = progress_bar(None, "measure", unit="run", initial=len(done), total=len(jobs))
    failed: list[str] = []
    measure_group = partial(_measure, measure_jobs)
    with bar:
        for group, lines in in_parallel(measure_group, _by_training(left), place):
            where = f"{group[0].method} on {group[0].dataset}"
            bar.set_postfix_str(where, refresh=False)
            bar.update(len(group))
            if isinstance(lines, str):
                failed.append(f"{where}: {lines}")
                continue
            for job, line in zip(group, lines, strict=True):
                append_line(_path(place.results, job.table), line)
                done[job] = line
    if failed:
        raise DGBError("some trainings failed, all others are kept: " + "; ".join(failed))
    return [done[job] for job in jobs]


def _measure(
    measure_jobs: Measure, group: tuple[Measurement, ...], place: Place
) -> list[Line] | str:
    """Measure, or return why it could not be done: one failure must not stop a table."""
    try:
        return measure_jobs(group, place)
    except FAILURES as error:
        return str(error) or type(error).__name__


def matched(jobs: list[Measurement], results: Path) -> list[tuple[Measurement, Line]]:
    """Return those measurements that the results hold, whoever measured them and when."""
    keys = ("dataset", "system", "recipe", "seed")
    lines = {tuple(line[key] for key in keys): line for line in read_all(results)}
    found = [(job, lines.get((job.dataset, job.system, job.hash, job.seed))) for job in jobs]
    return [(job, line) for job, line in found if line is not None]


def refuse_uncommitted() -> None:
    """Refuse to read test labels for recipes that could still be changed after the look."""
    if changed := uncommitted(*COMMITTED):
        raise DGBError(
            f"{' and '.join(changed)} differ from the last commit; test labels are read only for "
            "committed recipes: commit first"
        )


def read_all(results: Path) -> list[Line]:
    """Return the lines of every table in a results folder, but those that others replaced."""
    files = sorted(path for path in results.glob("*.jsonl") if path.name != SUPERSEDED)
    return [line for file in files for line in read_lines(file) if set(KEY) <= set(line)]


def _by_training(jobs: list[Measurement]) -> list[tuple[Measurement, ...]]:
    """Return the measurements in groups that one training serves, in the order of the first."""
    groups: dict[Hashable, list[Measurement]] = {}
    for job in jobs:
        groups.setdefault(training_of(job), []).append(job)
    return [tuple(group) for group in groups.values()]


def _known(
    jobs: list[Measurement], hashes: dict[str, str], place: Place
) -> dict[Measurement, Line]:
    """Return the lines that are there already, also those another table has measured.

    They are written to this table's file, without what a kill has left half-written in it.
    """
    lines = {_key(line): line for line in read_all(place.results)}
    done: dict[Measurement, Line] = {}
    for job in jobs:
        wanted = (job.dataset, hashes[job.dataset], job.system, job.hash, job.seed)
        if wanted in lines:
            done[job] = lines[wanted] | {"table": job.table, "method": job.method}
    for table in {job.table for job in jobs}:
        path = _path(place.results, table)
        own = read_lines(path)
        rewrite_lines(
            path, own + [m for m in done.values() if m["table"] == table and m not in own]
        )
    return done


def _key(line: Line) -> tuple[Any, ...]:
    return tuple(line[k] for k in KEY)


def _path(results: Path, table: str) -> Path:
    return results / f"{table}.jsonl"
