"""Run jobs: in parallel, a line each into a file, resuming where an earlier call stopped."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from dgb.data.fingerprint import fingerprint
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.files.jsonl import append_line, read_lines, rewrite_lines
from dgb.files.lock import locked
from dgb.measure.job import Job, Line, load
from dgb.measure.place import FAILURES, Place, in_parallel
from dgb.terminal import log, progress_bar

Jobs = Sequence[Job]
Lines = dict[Job, Line]
Group = tuple[Job, ...]  # jobs that one training serves
Graphs = Mapping[str, AnyGraph]  # by the names of their data sets
Measure = Callable[[Group, AnyGraph, Place], list[Line]]


@dataclass(frozen=True)
class Work:
    """What measures a group of jobs, and the keys by which a line is found again."""

    measure: Measure  # a function of a module, where several processes run it
    key: tuple[str, ...]
    others: Sequence[Line] = ()  # lines of other files that are as good


class Outcome(NamedTuple):
    """The lines of all jobs that succeeded, and why the others did not."""

    lines: Lines
    failed: dict[Group, str]


def run(jobs: Jobs, graphs: Graphs, work: Work, place: Place) -> Outcome:
    """Measure what is missing; known lines are kept."""
    with ExitStack() as stack:
        for path in sorted({path_of(job, place) for job in jobs}):
            stack.enter_context(locked(path.parent, path.name))
        done = _find_known(jobs, graphs, work, place)
        return _measure_rest(jobs, done, graphs, work, place)


def path_of(job: Job, place: Place) -> Path:
    """Return the file that a job's line is written to."""
    return place.results / f"{job.table}.jsonl"


def require_lines(jobs: Jobs, outcome: Outcome) -> list[Line]:
    """Return the lines of jobs in their order; a training that failed is an error."""
    if outcome.failed:
        reasons = [f"{g[0].method} on {g[0].dataset}: {why}" for g, why in outcome.failed.items()]
        raise DGBError("some trainings failed, all others are kept: " + "; ".join(reasons))
    return [outcome.lines[job] for job in jobs]


def _find_known(jobs: Jobs, graphs: Graphs, work: Work, place: Place) -> Lines:
    """Return the lines that are there already, and write those of other files to the job's own.

    Files are rewritten without what a kill has left half-written, which the next line would join.
    """
    hashes = {name: fingerprint(graph) for name, graph in graphs.items()}
    own = {path: read_lines(path) for path in {path_of(job, place) for job in jobs}}
    lines = {
        tuple(line[key] for key in work.key): line
        for part in (work.others, *own.values())
        for line in part
        if set(work.key) <= line.keys()
    }
    done: Lines = {}
    for job in jobs:
        facts = job.facts() | {"graph_hash": hashes[job.dataset]}
        if line := lines.get(tuple(facts[key] for key in work.key)):
            done[job] = line | {key: facts[key] for key in ("table", "method") if key in line}
    for path, part in own.items():
        added = [m for job, m in done.items() if path_of(job, place) == path and m not in part]
        rewrite_lines(path, part + added)
    return done


def _measure_rest(jobs: Jobs, done: Lines, graphs: Graphs, work: Work, place: Place) -> Outcome:
    outcome = Outcome(done, {})
    left = _by_training([job for job in jobs if job not in done])
    total = len(_by_training(jobs))
    if done:
        log(f"{total - len(left)} of {total} trainings taken from {place.results}")
    attempt = partial(_attempt, work.measure, graphs if place.jobs == 1 else {})
    initial = total - len(left)
    with progress_bar(None, "measure", unit="run", initial=initial, total=total) as bar:
        for group, lines in in_parallel(attempt, left, place):
            bar.set_postfix_str(f"{group[0].method} on {group[0].dataset}", refresh=False)
            bar.update()
            if isinstance(lines, str):
                outcome.failed[group] = lines
                continue
            for job, line in zip(group, lines, strict=True):
                append_line(path_of(job, place), line)
                done[job] = line
    return outcome


def _attempt(measure: Measure, graphs: Graphs, group: Group, place: Place) -> list[Line] | str:
    """Measure, or return in one line why it could not be done: others must continue.

    A process of its own reads the graph itself: to send it there would take longer.
    """
    try:
        graph = graphs.get(group[0].dataset)
        return measure(group, load(group[0].data, place) if graph is None else graph, place)
    except FAILURES as error:
        return " ".join(str(error).split()) or type(error).__name__


def _by_training(jobs: Jobs) -> list[Group]:
    """Return the jobs in groups that one training serves, in the order of the first."""
    groups: dict[Hashable, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.training, []).append(job)
    return [tuple(group) for group in groups.values()]
