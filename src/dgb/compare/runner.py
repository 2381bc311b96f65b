"""Run a comparison: in parallel, a line a training, going on where a stopped one was."""

import time
from typing import Any

import numpy as np
import torch

from dgb.baselines.methods import METHODS
from dgb.baselines.score import run_method, score_result
from dgb.compare.tasks import Task
from dgb.data.fingerprint import fingerprint
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.evaluate.scores import why_not_scored
from dgb.progress import progress_bar, say
from dgb.reproduce.measure import load
from dgb.reproduce.place import Place, in_parallel
from dgb.run.machine import peak_mb, reset_peak, set_threads
from dgb.run.training import describe
from dgb.train.journal import append_line, read_lines, rewrite_lines
from dgb.train.monitor import effective_rank

FILE = "compare.jsonl"
KEY = ("graph_hash", "method", "recipe", "seed", "split")
Line = dict[str, Any]


def compare(tasks: list[Task], place: Place) -> tuple[list[Line], dict[str, str]]:
    """Return a line per finished task, and why methods failed; finished ones are kept."""
    place.results.mkdir(parents=True, exist_ok=True)
    path = place.results / FILE
    kept = read_lines(path)
    rewrite_lines(path, kept)  # without a half-written one, which the next line would join
    known = {tuple(line.get(key) for key in KEY): line for line in kept}
    graph_hash = fingerprint(load(tasks[0].graph, place))
    lines, left = [], []
    for task in tasks:
        of_training = (graph_hash, task.method, task.hash, task.seed)
        found = [known.get((*of_training, split)) for split in task.splits]
        lines += [line for line in found if line]
        left += [] if all(found) else [task]
    if done := len(tasks) - len(left):
        say(f"{done} of {len(tasks)} trainings taken from {path}")
    failed: dict[str, str] = {}
    with progress_bar(None, "compare", unit="run", initial=done, total=len(tasks)) as bar:
        for task, measured in in_parallel(_measure, left, place):
            bar.set_postfix_str(task.method, refresh=False)
            bar.update()
            if isinstance(measured, str):
                failed[task.method] = measured
                continue
            for line in measured:
                append_line(path, line)
            lines += measured
    return lines, failed


def _measure(task: Task, place: Place) -> list[Line] | str:
    """Measure, or return why it could not be done: one failure must not stop the others."""
    try:
        return measure(task, place)
    except DGBError as error:
        return str(error)


def measure(task: Task, place: Place) -> list[Line]:
    """Return a line per split: the scores, time and memory of a training, and what repeats it."""
    graph = load(task.graph, place)
    set_threads(place.threads)
    method = METHODS[task.method]
    head = describe(graph, task.recipe) | {"method": task.method, "recipe": task.hash}
    assert method.file.__name__  # imports what the method needs before the clock starts
    reset_peak()
    start = time.perf_counter()
    result = run_method(task.method, graph, task.settings, task.seed)
    cost = {"seconds": round(time.perf_counter() - start, 2), "peak_mb": peak_mb()}
    line = head | cost | {"threads": place.threads}
    return [line | {"split": split} | _score(task, result, graph, split) for split in task.splits]


def _score(task: Task, result: Any, graph: Graph, split: int) -> Line:
    if why_not_scored(graph, split):
        return {"effective_rank": _effective_rank(result)}
    return score_result(METHODS[task.method], result, graph, split, task.recipe.probe)


def _effective_rank(rows: Any) -> float:
    dense = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    return round(effective_rank(torch.from_numpy(dense)), 1)
