"""One measurement: train, choose on validation, then read the test labels once and say so."""

import time
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from dgb.baselines.methods import METHODS
from dgb.baselines.score import run_method, score_result
from dgb.data.graph import Graph
from dgb.data.load import read_graph
from dgb.data.typed.graph import HeteroGraph
from dgb.files.jsonl import append_line
from dgb.measure.measurement import Measurement
from dgb.measure.place import Place
from dgb.recipe import Data, Embed, Probe
from dgb.run.embedding import embed_graph
from dgb.run.machine import peak_mb, reset_peak, set_threads
from dgb.run.score import describe
from dgb.run.train import train

Line = dict[str, Any]
TEST_READS = "test_reads.jsonl"


def load(data: str | Data, place: Place) -> Graph:
    """Return a data set or a recipe's graph, kept for the next measurement in this process."""
    data = Data(graph=data) if isinstance(data, str) else data
    return _load(data, place.data_folder, place.offline)


@lru_cache(maxsize=3)
def _load(data: Data, data_folder: str | None, offline: bool) -> Graph:
    graph = read_graph(data, data_folder=data_folder, offline=offline)
    assert isinstance(graph, Graph), "the verbs refuse graphs of several types"
    return graph


def measure(jobs: Sequence[Measurement], place: Place) -> list[Line]:
    """Return the lines of measurements that share a training; it is done once."""
    first = jobs[0]
    graph = load(first.dataset, place)
    set_threads(place.threads)
    heads = [make_head(job, graph) for job in jobs]  # now: the code may change while it trains
    reset_peak()
    start = time.perf_counter()
    made = _make(first, graph)
    seconds = round(time.perf_counter() - start, 2)
    return [
        head | {"seconds": seconds} | _score(job, graph, made, head, place)
        for job, head in zip(jobs, heads, strict=True)
    ]


def training_of(job: Measurement) -> Hashable:
    """Return what two measurements have in common when one training serves both."""
    trained = replace(job.recipe, embed=Embed(), probe=Probe())
    return job.dataset, job.system, job.settings, trained


def _make(job: Measurement, graph: Graph) -> Any:
    """Return an encoder of DGB, which several rows may embed with, or what a system returns."""
    if job.system == "dgb":
        return train(graph, job.recipe).encoder
    return run_method(job.system, graph, job.settings or job.recipe, job.seed)


def make_head(job: Measurement, graph: Graph | HeteroGraph) -> Line:
    """Return what a line says of its measurement before there is a score."""
    line: Line = {"table": job.table, "method": job.method, "dataset": job.dataset}
    line |= {"system": job.system} | describe(graph, job.recipe) | {"recipe": job.hash}
    del line["graph"]
    return line


def _score(job: Measurement, graph: Graph, made: Any, head: Line, place: Place) -> Line:
    """Embed, log the read of the test labels, choose the probe on validation, read them."""
    result = embed_graph(made, graph, job.recipe) if job.system == "dgb" else made
    log_test_read(place.results, head)
    scores = score_result(METHODS[job.system], result, graph, job.seed, job.recipe.probe)
    return scores | {"peak_mb": peak_mb(), "threads": place.threads}


def log_test_read(results: Path, line: Line) -> None:
    """Append who reads the test labels, when, and with which committed recipe."""
    keys = ("table", "method", "dataset", "recipe", "seed", "git")
    entry = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    entry |= {key: line[key] for key in keys}
    append_line(results / TEST_READS, entry)
