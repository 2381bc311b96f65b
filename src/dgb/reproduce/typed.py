"""The table of heterogeneous graphs: measure what is missing of it, and write it anew."""

import time
from collections.abc import Sequence
from typing import Any

from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.evaluate.scores import score_embeddings, why_not_scored
from dgb.files.jsonl import read_lines
from dgb.measure.measure import Line, log_test_read, make_head
from dgb.measure.measurement import Measurement
from dgb.measure.place import Place
from dgb.measure.runner import matched, run
from dgb.reproduce.plan import MOST_RUNS, with_seeds
from dgb.reproduce.typed_plan import TABLE, hetero_cells, load_set, plan_hetero, sets_at_hand
from dgb.reproduce.typed_table import write_hetero_table
from dgb.run.machine import peak_mb, reset_peak, set_threads
from dgb.run.train import train
from dgb.terminal import log
from dgb.views.inputs import normalised

MEASURES = ("validation", "validation_macro_f1", "macro_f1", "micro_f1", "auc")


def make_hetero(
    place: Place,
    datasets: tuple[str, ...] = (),
    runs: int | None = None,
    methods: tuple[str, ...] = (),
) -> str:
    """Measure what is missing on some data sets, or all at hand, and write the table anew."""
    graphs = {name: load_set(name, place) for name in datasets or sets_at_hand(place)}
    for name, graph in graphs.items():
        for note in graph.notes:
            log(f"note on {name}: {note}")
        if reason := why_not_scored(graph, 0):
            raise DGBError(f"nothing to measure {name} by: {reason}")
    try:
        run(plan_hetero(graphs, runs, methods), place, load_set, measure_hetero)
    finally:
        # All that the results hold is shown, also when a training has failed.
        pairs = _measured(place)
        text = write_hetero_table(pairs, place.results) if pairs else ""
    return text


def measure_hetero(jobs: Sequence[Measurement], place: Place) -> list[Line]:
    """Return a line for each measurement: train, embed, log the read of test labels, score."""
    return [_measure(job, place) for job in jobs]


def _measure(job: Measurement, place: Place) -> Line:
    graph = load_set(job.dataset, place)
    set_threads(place.threads)
    head = make_head(job, graph)  # now: the code may change while it trains
    reset_peak()
    start = time.perf_counter()
    rows, attention = _embed(job, graph)
    seconds = round(time.perf_counter() - start, 2)
    log_test_read(place.results, head)
    scores = score_embeddings(rows, graph, job.recipe.probe, job.seed)
    told: Line = {"seconds": seconds, "attention": attention}
    told["splits"] = {name: _split_line(split) for name, split in scores["splits"].items()}
    told |= {name: scores["cluster"][name] for name in ("nmi", "ari")}
    return head | told | {"peak_mb": peak_mb(), "threads": place.threads}


def _embed(job: Measurement, graph: HeteroGraph) -> tuple[Any, dict[str, float]]:
    """Return a row for each target node, and how much each meta-path weighs in it."""
    if job.system == "raw":
        return normalised(graph.nodes[graph.target].x, job.recipe.data), {}
    trained = train(graph, job.recipe)
    return trained.embeddings()[trained.setup.labelled], trained.attention()


def _split_line(told: dict[str, Any]) -> Line:
    return {name: told[name] for name in MEASURES if name in told} | dict(told["settings"])


def _measured(place: Place) -> list[tuple[Measurement, Line]]:
    """Return all that the results hold of recipes of today, of each data set as it was last."""
    own = read_lines(place.results / f"{TABLE}.jsonl")
    last = {line["dataset"]: line["graph_hash"] for line in own}
    cells = [cell for dataset in last for cell in hetero_cells(dataset)]
    if not cells:
        return []
    pairs = matched(with_seeds(cells, [MOST_RUNS] * len(cells)), place.results)
    return [(job, line) for job, line in pairs if line["graph_hash"] == last[job.dataset]]
