"""Run jobs: in processes of their own, a line each into a file, resuming where a call stopped."""

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import NamedTuple, TypeVar

from dgb.data.fingerprint import fingerprint
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.files.atomic import append_line, locked, read_lines, rewrite_lines
from dgb.measure.job import Job, Line, Place, load
from dgb.terminal import log, progress_bar

# What one training may fail with while others continue: a mistake in its settings, a loss that
# diverged, a matrix that no solver likes, or too little memory.
FAILURES = (DGBError, MemoryError, RuntimeError, ValueError, ArithmeticError)

Task = TypeVar("Task")
Result = TypeVar("Result")
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


# Not joblib: it brings objects back from files, which no module of the package may (the source is
# searched for that), and its workers outlive a parent that is killed.
def in_parallel(
    function: Callable[[Task, Place], Result], tasks: Sequence[Task], place: Place
) -> Iterator[tuple[Task, Result]]:
    """Yield each task with its result as it finishes; one at a time needs no other process."""
    if place.jobs == 1:
        yield from ((task, function(task, place)) for task in tasks)
        return
    left = iter(tasks)
    running: dict[Future[Result], Task] = {}
    processes = ProcessPoolExecutor(place.jobs, get_context("spawn"), _end_with_parent)
    with _quiet(place.threads), processes as pool:
        while True:
            # No more than run at once: a stop would have to wait for those handed out.
            for task in islice(left, place.jobs - len(running)):
                running[pool.submit(function, task, place)] = task
            if not running:
                return
            try:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
            except BrokenProcessPool as error:
                raise DGBError(
                    "a training was killed, most often for want of memory; the same command with "
                    "fewer --jobs resumes it"
                ) from error


def _end_with_parent() -> None:
    """Let this process end when the one that started it is killed, not wait for work for ever."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()


@contextmanager
def _quiet(threads: int) -> Iterator[None]:
    """Let processes started in here draw no bars and use their share of the cores."""
    wanted = {"TQDM_DISABLE": "1"}
    wanted |= {f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "OPENBLAS", "MKL")}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name in wanted:
            del os.environ[name]
        os.environ.update({name: value for name, value in before.items() if value is not None})
