"""One measurement: train, choose on validation, then read the test labels once and log it.

A system is run with the labels that it may see, and one evaluator scores what all of them return.
What is measured by length is one training of DGB, looked at after several numbers of epochs and
resumed where it stopped.
"""

import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from dgb.baselines.methods import METHODS, Method
from dgb.baselines.own import train_rows
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph, HeteroGraph
from dgb.errors import DGBError
from dgb.evaluate.labels import choose_split, without_labels, without_test_labels
from dgb.evaluate.probe import ProbeScores, accuracy, linear_probe
from dgb.evaluate.scores import score_embeddings
from dgb.files.atomic import append_line
from dgb.measure.job import Job, Line, Place
from dgb.recipe import Probe, Recipe
from dgb.run.machine import choose_device, peak_mb, reset_peak, set_threads
from dgb.run.model import embed_graph
from dgb.run.score import describe
from dgb.run.setup import Setup, draw_model
from dgb.train.checkpoint import load_state, save_state
from dgb.train.loop import make_state, train_epoch

TEST_READS = "test_reads.jsonl"
MEASURES = ("validation", "validation_macro_f1", "macro_f1", "micro_f1", "auc")
KEPT_EVERY = 100  # epochs: what a stop loses at most


def lacks(method: Method, graph: AnyGraph) -> str | None:
    """Return why a method cannot run on this graph, None where it can."""
    if isinstance(graph, HeteroGraph):
        if "several" not in method.graphs:
            return "it needs a graph of one node type"
        lacks_features = method.function == "raw" and graph.nodes[graph.target].x is None
    else:
        if "one" not in method.graphs:
            return "it needs a graph of several node types"
        if "labels" in method.needs and graph.labels is None:
            return "it learns from labels, and the graph has none to learn from"
        lacks_features = "features" in method.needs and graph.num_features == 0
    return "it learns from features, and the graph has none" if lacks_features else None


def run_method(key: str, graph: AnyGraph, settings: Any, seed: int) -> Any:
    """Return representations or classes; the method is shown no test label.

    A method that does not classify is shown no label at all.
    """
    method = METHODS[key]
    shown = without_test_labels(graph, seed)
    if reason := lacks(method, shown):
        raise DGBError(f"{key} cannot run on {graph.name}: {reason}")
    if not method.classifies:
        shown = without_labels(shown)
    return method.run(shown, settings, seed)


def measure(jobs: Sequence[Job], graph: AnyGraph, place: Place) -> list[Line]:
    """Return the lines of jobs that share a training; it is done once."""
    set_threads(place.threads)
    heads = [make_head(job, graph) for job in jobs]  # now: the code may change while it trains
    results, cost = train_jobs(jobs, graph)
    lines = []
    for job, head, result in zip(jobs, heads, results, strict=True):
        log_test_read(place.results, head)
        scores = score_line(job, result, graph)
        lines.append(head | cost | scores | {"peak_mb": peak_mb(), "threads": place.threads})
    return lines


def train_jobs(jobs: Sequence[Job], graph: AnyGraph) -> tuple[list[Any], Line]:
    """Train once; return what the system makes of the nodes for every job, and what it took."""
    first = jobs[0]
    cost: Line = {}
    reset_peak()
    start = time.perf_counter()
    if first.system == "dgb":
        trained, rows = train_rows(graph, first.recipe)
    else:
        rows = run_method(first.system, graph, first.settings or first.recipe, first.seed)
    cost["seconds"] = round(time.perf_counter() - start, 2)
    if not isinstance(graph, Graph):
        cost["attention"] = trained.attention() if first.system == "dgb" else {}
    made = {first.recipe.embed: rows}
    for job in jobs:
        if job.recipe.embed not in made:
            made[job.recipe.embed] = embed_graph(trained.encoder, graph, job.recipe, is_own=True)
    return [made[job.recipe.embed] for job in jobs], cost


def make_head(job: Job, graph: AnyGraph) -> Line:
    """Return what a line says of its job before there is a score."""
    line: Line = {"table": job.table, "method": job.method, "dataset": job.dataset}
    line |= {"system": job.system} | describe(graph, job.recipe) | {"recipe": job.hash}
    del line["graph"]
    return line


def score_line(job: Job, result: Any, graph: AnyGraph) -> Line:
    """Return the scores as a line of results holds them; of several node types, split by split."""
    if isinstance(graph, Graph):
        split = job.seed if job.split is None else job.split
        return as_line(score_result(METHODS[job.system], result, graph, split, job.recipe.probe))
    scores = score_embeddings(result, graph, job.recipe.probe, job.seed)
    splits = {
        name: {key: found[key] for key in MEASURES if key in found} | dict(found["settings"])
        for name, found in scores["splits"].items()
    }
    return {"splits": splits} | {name: scores["cluster"][name] for name in ("nmi", "ari")}


def score_result(method: Method, result: Any, graph: Graph, seed: int, probe: Probe) -> ProbeScores:
    """Return accuracy on validation and test, which reads the test labels once."""
    assert graph.labels is not None
    labels, split = graph.labels, choose_split(graph, seed)
    if not method.classifies:
        return linear_probe(result, labels, split, probe, seed)
    predicted = np.asarray(result)
    right = [accuracy(predicted[part], labels[part]) for part in (split.validation, split.test)]
    return ProbeScores(right[0], right[1], settings={})


def as_line(scores: ProbeScores) -> Line:
    """Return the scores of a probe, or of a classifier, by the keys that lines have for them."""
    line: Line = {"val_accuracy": scores.validation, "test_accuracy": scores.test} | scores.more
    return line | {"probe": scores.settings} if scores.settings else line


def log_test_read(results: Path, line: Line) -> None:
    """Append who reads the test labels, when, and with which committed recipe."""
    keys = ("table", "method", "dataset", "recipe", "seed", "git")
    entry = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    entry |= {key: line[key] for key in keys}
    append_line(results / TEST_READS, entry)


class Length(NamedTuple):
    """A training after some epochs."""

    epochs: int
    encoder: Any
    auc: float | None = None  # of links.held_out, the mean over epochs since the length before


def train_lengths(
    setup: Setup, recipe: Recipe, lengths: Collection[int], folder: Path | None = None
) -> Iterator[Length]:
    """Train with the recipe's seed; yield the encoder after each of some numbers of epochs.

    What is yielded after L epochs has the bits of a training whose `train.epochs` is L. With a
    folder, a training that stopped resumes after its last checkpoint, and does not yield again what
    was yielded before that.
    """
    model, loss, for_masks = draw_model(setup, recipe, choose_device(recipe.train.device))
    state = make_state(model, recipe.train, for_masks, loss)
    draw_epoch = setup.sampler(for_masks)
    is_resumed = folder is not None and load_state(state, folder)
    if 0 in lengths and not is_resumed:
        yield Length(0, model.encoder)
    rated: list[float] = []
    while state.epoch < max(lengths, default=0):
        line = train_epoch(state, draw_epoch, recipe.train, loss)
        rated += [line["auc"]] if "auc" in line else []
        if state.epoch in lengths:
            yield Length(state.epoch, model.encoder, fmean(rated) if rated else None)
            rated = []
        # After the yield: what a checkpoint holds has been looked at.
        if folder and (state.epoch in lengths or state.epoch % KEPT_EVERY == 0):
            save_state(state, folder)
