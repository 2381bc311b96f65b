"""Measure some committed lines again: same machine kind, same figure."""

import random
from dataclasses import replace

from dgb.errors import DGBError
from dgb.measure.measure import Line, measure
from dgb.measure.measurement import Measurement
from dgb.measure.place import Place
from dgb.measure.runner import matched, refuse_uncommitted
from dgb.reproduce.plan import MOST_RUNS, TABLES, plan
from dgb.reproduce.published import DATASETS
from dgb.terminal import progress_bar

SCORES = ("val_accuracy", "test_accuracy")


def verify(place: Place, count: int, seed: int | None = None) -> list[Line]:
    """Return a verdict per re-measured line: the old and new scores and whether they are equal."""
    refuse_uncommitted()
    jobs = [job for table in TABLES for job in plan(table, DATASETS, MOST_RUNS)]
    pairs = matched(jobs, place.results)
    if not pairs:
        raise DGBError(
            f"{place.results} holds no line of a recipe of today; run `dgb reproduce table2` first"
        )
    chosen = random.Random(seed).sample(pairs, min(count, len(pairs)))
    bar = progress_bar(chosen, "verify", unit="run")
    return [_verdict(line, job, place) for job, line in bar]


def _verdict(line: Line, job: Measurement, place: Place) -> Line:
    names = ("table", "method", "dataset", "seed", *SCORES)
    verdict = {name: line[name] for name in names}
    # As many threads as then: sums split over other threads round otherwise.
    (again,) = measure([job], replace(place, threads=line["threads"]))
    same = all(line[name] == again[name] for name in SCORES)
    verdict |= {f"{name}_again": again[name] for name in SCORES} | {"same": same}
    others = [key for key in ("machine", "versions", "git") if line.get(key) != again[key]]
    if not same and others:
        verdict["why"] = f"other {' and '.join(others)} than then"
    return verdict


def verdict_line(verdict: Line) -> str:
    """Return a verdict as a line of text."""
    where = " ".join(str(verdict[name]) for name in ("table", "method", "dataset"))
    said = "same" if verdict["same"] else "OTHER"
    then, now = (100 * verdict[name] for name in ("test_accuracy", "test_accuracy_again"))
    why = f" ({verdict['why']})" if "why" in verdict else ""
    return f"{said:6}{where}, seed {verdict['seed']}: {then:.1f} then, {now:.1f} now{why}"
