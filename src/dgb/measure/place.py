"""Where results go and how many trainings run at once, each in a process of its own."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import TypeVar

from dgb.errors import DGBError

# What one training may fail with while others continue: a mistake in its settings, a loss that
# diverged, a matrix that no solver likes, or too little memory.
FAILURES = (DGBError, MemoryError, RuntimeError, ValueError, ArithmeticError)

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Place:
    """Where results go, where data comes from, and how many trainings run at once."""

    results: Path = Path("results")
    data_folder: str | None = None
    jobs: int = 1
    offline: bool = False
    threads: int = 0  # CPU threads of one training; 0: OMP_NUM_THREADS, else a share of the cores

    def __post_init__(self) -> None:
        """Share the cores, unless the user has said how many threads a process has."""
        chosen = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        shared = int(chosen) if chosen.isdecimal() else (cores or 1) // max(self.jobs, 1)
        object.__setattr__(self, "threads", self.threads or max(1, shared))


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
