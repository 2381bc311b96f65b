"""Measure some committed lines again: same machine kind, same figure."""

import random
from dataclasses import replace
from typing import Any

from dgb.cookbook import recipe_hash
from dgb.errors import DGBError
from dgb.progress import progress_bar
from dgb.reproduce.measure import measure
from dgb.reproduce.place import Place
from dgb.reproduce.plan import TABLES, Measurement, plan
from dgb.reproduce.runner import read_all, refuse_uncommitted
from dgb.run.machine import versions

SCORES = ("val_accuracy", "test_accuracy")


def verify(place: Place, count: int, seed: int | None = None) -> list[dict[str, Any]]:
    """Return a verdict per re-measured line: the old and new scores and whether they are equal."""
    refuse_uncommitted()
    lines = [line for line in read_all(place.results) if line["table"] in TABLES]
    if not lines:
        raise DGBError(f"no measured lines in {place.results}; run `dgb reproduce table2` first")
    chosen = random.Random(seed).sample(lines, min(count, len(lines)))
    jobs = [_job(line) for line in chosen]
    bar = progress_bar(None, "verify", unit="run", total=len(jobs))
    verdicts = []
    with bar:
        for line, job in zip(chosen, jobs, strict=True):
            verdicts.append(_verdict(line, job, place))
            bar.update()
    return verdicts


def _verdict(line: dict[str, Any], job: Measurement | None, place: Place) -> dict[str, Any]:
    names = ("table", "method", "dataset", "seed", *SCORES)
    verdict: dict[str, Any] = {name: line[name] for name in names}
    if job is None:
        return verdict | {"same": None, "why": "its recipe has changed since: measure it again"}
    # As many threads as then: sums split over other threads round otherwise.
    (again,) = measure([job], replace(place, threads=line["threads"]))
    same = all(line[name] == again[name] for name in SCORES)
    verdict |= {f"{name}_again": again[name] for name in SCORES} | {"same": same}
    if not same and line["versions"] != versions():
        verdict["why"] = "other versions than then"
    return verdict


def _job(line: dict[str, Any]) -> Measurement | None:
    """Return the measurement of a line, None where the plan of today has another recipe."""
    for job in plan(line["table"], (line["dataset"],), line["seed"] + 1):
        if job.method == line["method"] and job.seed == line["seed"]:
            return job if recipe_hash(job.recipe) == line["recipe"] else None
    return None


def verdict_line(verdict: dict[str, Any]) -> str:
    """Return a verdict as a line of text."""
    where = " ".join(str(verdict[name]) for name in ("table", "method", "dataset"))
    said = {True: "same", False: "OTHER", None: "not measured"}[verdict["same"]]
    then, now = verdict["test_accuracy"], verdict.get("test_accuracy_again")
    figures = f"{100 * then:.1f}" + ("" if now is None else f" then, {100 * now:.1f} now")
    why = f" ({verdict['why']})" if "why" in verdict else ""
    return f"{said:13}{where}, seed {verdict['seed']}: {figures}{why}"
