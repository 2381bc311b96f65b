"""Run a comparison: in parallel, a line a training, going on where a stopped one was."""

import time
from typing import Any

import numpy as np
import torch

from dgb.baselines.methods import METHODS
from dgb.baselines.score import run_method, score_result
from dgb.data.fingerprint import fingerprint
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.evaluate.scores import why_not_scored
from dgb.files.jsonl import append_line, read_lines, rewrite_lines
from dgb.files.lock import locked
from dgb.measure.measure import load
from dgb.measure.place import FAILURES, Place, in_parallel
from dgb.measure.tasks import Task
from dgb.run.machine import peak_mb, reset_peak, set_threads
from dgb.run.score import describe
from dgb.terminal import log, progress_bar
from dgb.train.monitor import SAMPLE, effective_rank

COMPARISON = "compare.jsonl"
KEY = ("graph_hash", "method", "recipe", "seed", "split")
Line = dict[str, Any]
Failures = dict[str, list[str]]  # what went wrong, by method


def compare(tasks: list[Task], place: Place) -> tuple[list[Line], Failures]:
    """Return a line per training and split, and what failed; finished trainings are kept."""
    with locked(place.results, COMPARISON):
        return _compare(tasks, place)


def _compare(tasks: list[Task], place: Place) -> tuple[list[Line], Failures]:
    path = place.results / COMPARISON
    lines, left = _known(tasks, place)
    if done := len(tasks) - len(left):
        log(f"{done} of {len(tasks)} trainings taken from {path}")
    failed: Failures = {}
    with progress_bar(None, "compare", unit="run", initial=done, total=len(tasks)) as bar:
        for task, measured in in_parallel(_measure, left, place):
            bar.set_postfix_str(task.method, refresh=False)
            bar.update()
            if isinstance(measured, str):
                failed.setdefault(task.method, []).append(measured)
                continue
            for line in measured:
                append_line(path, line)
            lines += measured
    return lines, failed


def _known(tasks: list[Task], place: Place) -> tuple[list[Line], list[Task]]:
    """Return the lines of trainings that are there already, and the tasks that are left.

    A training of which a kill or fewer splits have left a part is done again, without that part.
    """
    path = place.results / COMPARISON
    kept = {tuple(line.get(key) for key in KEY): line for line in read_lines(path)}
    graph_hash = fingerprint(load(tasks[0].recipe.data, place))
    lines, left = [], []
    for task in tasks:
        keys = [(graph_hash, task.method, task.hash, task.seed, split) for split in task.splits]
        if all(key in kept for key in keys):
            lines += [kept[key] for key in keys]
            continue
        left.append(task)
        for key in keys:
            kept.pop(key, None)
    rewrite_lines(path, list(kept.values()))
    return lines, left


def _measure(task: Task, place: Place) -> list[Line] | str:
    """Measure, or return why it could not be done: one failure must not stop the others."""
    try:
        return measure(task, place)
    except FAILURES as error:
        return " ".join(str(error).split()) or type(error).__name__  # a remark is one line


def measure(task: Task, place: Place) -> list[Line]:
    """Return a line per split: the scores, time and memory of a training, and what repeats it."""
    graph = load(task.recipe.data, place)
    set_threads(place.threads)
    head = describe(graph, task.recipe) | {"method": task.method, "recipe": task.hash}
    reset_peak()
    start = time.perf_counter()
    result = run_method(task.method, graph, task.settings, task.seed)
    cost = {"seconds": round(time.perf_counter() - start, 2), "peak_mb": peak_mb()}
    line = head | cost | {"threads": place.threads}
    return [line | {"split": split} | _score(task, result, graph, split) for split in task.splits]


def _score(task: Task, result: Any, graph: Graph, split: int) -> Line:
    method = METHODS[task.method]
    why = why_not_scored(graph, split)
    if why is None:
        return score_result(method, result, graph, split, task.recipe.probe)
    if method.task == "classify":
        raise DGBError(why)
    return {"effective_rank": _effective_rank(result)}


def _effective_rank(rows: Any) -> float:
    chosen = rows[:: max(1, rows.shape[0] // SAMPLE)]  # as many as it looks at, before it is dense
    dense = chosen.toarray() if hasattr(chosen, "toarray") else np.asarray(chosen)
    return round(effective_rank(torch.from_numpy(dense)), 1)
